import type { FaultRule, RuleDefinition } from "../../../../types/control-api.ts";

type Rule = Pick<FaultRule | RuleDefinition, keyof FaultRule & keyof RuleDefinition>;

/** "The first 2 calls of models.list by usr_dan: RATE_LIMIT_EXCEEDED, after it runs". */
export function describeRule(rule: Rule): string {
  const effects = describeEffects(rule);
  const phase = rule.phase === "after" ? ["after it runs"] : [];
  return `${describeSchedule(rule)} ${describeTarget(rule)}: ${[...effects, ...phase].join(", ")}`;
}

const ordinal = new Intl.PluralRules("en", { type: "ordinal" });
const ORDINALS: Partial<Record<Intl.LDMLPluralRule, string>> = { one: "st", two: "nd", few: "rd" };

function describeSchedule({ times, every, probability }: Rule): string {
  if (times !== undefined) return times === 1 ? "The first" : `The first ${times}`;
  if (every !== undefined)
    return every === 1 ? "Every" : `Every ${every}${ORDINALS[ordinal.select(every)] ?? "th"}`;
  if (probability !== undefined) return `${Math.round(probability * 1000) / 10}% of`;
  return "All";
}

function describeTarget(rule: Rule): string {
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

function describeEffects({ effect = {}, sequence }: Rule): string[] {
  const { error, status, body, delay, wire } = effect;
  const words: string[] = [];
  if (sequence !== undefined) words.push(`sequence ${sequence.join(", ")}`);
  if (error !== undefined) words.push(error);
  if (status !== undefined) words.push(String(status));
  else if (body !== undefined) words.push("a custom body");
  if (wire !== undefined) words.push(WIRE_WORDS[wire]);
  if (delay !== undefined)
    words.push(`delayed by ${typeof delay === "object" ? `${delay.p50} (p99 ${delay.p99})` : delay}`);
  return words;
}

export const WIRE_WORDS = {
  reset: "connection reset",
  hang: "no response",
  empty: "connection closed without a response",
  truncate: "response cut off",
  garbage: "invalid HTTP",
  drip: "response in small pieces",
} as const;
