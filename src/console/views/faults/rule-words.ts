import type { FaultRule, RuleDefinition } from "../../api/types.ts";

type Rule = Pick<FaultRule | RuleDefinition, keyof FaultRule & keyof RuleDefinition>;

/** "The first 2 calls of models.list by usr_dan: RATE_LIMIT_EXCEEDED, after the change was made". */
export function ruleWords(rule: Rule): string {
  const effects = effectWords(rule);
  const phase = rule.phase === "after" ? ["after the change was made"] : [];
  return `${scheduleWords(rule)} ${targetWords(rule)}: ${[...effects, ...phase].join(", ")}`;
}

const ordinal = new Intl.PluralRules("en", { type: "ordinal" });
const ORDINALS: Partial<Record<Intl.LDMLPluralRule, string>> = { one: "st", two: "nd", few: "rd" };

function scheduleWords({ times, every, probability }: Rule): string {
  if (times !== undefined) return times === 1 ? "The first" : `The first ${times}`;
  if (every !== undefined)
    return every === 1 ? "Each" : `Every ${every}${ORDINALS[ordinal.select(every)] ?? "th"}`;
  if (probability !== undefined) return `${Math.round(probability * 1000) / 10} % of`;
  return "All";
}

function targetWords(rule: Rule): string {
  const { match = {}, times, every } = rule;
  const { operation, method, path, principal, api_key, organization, header, query, body, event, webhook } =
    match;
  const one = times === 1 || every !== undefined;
  if (event !== undefined || webhook !== undefined)
    return [one ? "delivery" : "deliveries", event && `of ${event}`, webhook && `to ${webhook}`]
      .filter(Boolean)
      .join(" ");
  const where = [operation, [method, path].filter(Boolean).join(" ")].filter(Boolean).join(", ");
  const more = Object.entries({ header, query, body }).filter(([, value]) => value !== undefined);
  return [
    one ? "call" : "calls",
    where && where !== "*" && `of ${where}`,
    principal && `by ${principal}`,
    api_key && `with ${api_key}`,
    organization && `in ${organization}`,
    more.length > 0 && `with ${more.map(([part, value]) => `${part} ${JSON.stringify(value)}`).join(", ")}`,
  ]
    .filter(Boolean)
    .join(" ");
}

function effectWords({ effect = {}, sequence }: Rule): string[] {
  const { error, status, body, delay, wire } = effect;
  const words: string[] = [];
  if (sequence !== undefined) words.push(`in turn ${sequence.join(", ")}`);
  if (error !== undefined) words.push(error);
  if (status !== undefined) words.push(String(status));
  else if (body !== undefined) words.push("a body of its own");
  if (wire !== undefined) words.push(WIRE_WORDS[wire]);
  if (delay !== undefined)
    words.push(typeof delay === "object" ? `${delay.p50} to ${delay.p99} late` : `${delay} late`);
  return words;
}

export const WIRE_WORDS = {
  reset: "connection reset",
  hang: "no answer at all",
  empty: "connection closed without a byte",
  truncate: "answer cut off half-way",
  garbage: "bytes that are no HTTP",
  drip: "answer in drips",
} as const;
