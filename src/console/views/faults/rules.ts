import type { FaultRule, RuleDefinition } from "../../../../types/control-api.ts";
import { toPrintableLines } from "../../../engine/contract/text.ts";

export const WIRE_WORDS = {
  reset: "connection reset",
  hang: "no response",
  empty: "connection closed without a response",
  truncate: "response cut off",
  garbage: "invalid HTTP",
  drip: "response in small pieces",
} as const;

/** A rule as it was armed, to arm it again under the same id: its hits count from zero, and its lease begins again. */
export function toDefinition({ hits: _hits, spent: _spent, lease, ...rule }: FaultRule): RuleDefinition {
  const { ttl, hits } = lease ?? {};
  return {
    ...rule,
    ...(lease && { lease: { ...(ttl && { ttl }), ...(hits && { hits }) } }),
  } as RuleDefinition;
}

type Rule = Pick<FaultRule | RuleDefinition, keyof FaultRule & keyof RuleDefinition>;

/**
 * "The first 2 calls of models.list by usr_dan, after the operation has run: RATE_LIMIT_EXCEEDED". `first`: the word for the first
 * calls; "next" for a rule that is about to be armed for calls like an earlier one.
 */
export function describeRule(rule: Rule, first: "first" | "next" = "first"): string {
  const calls = `${describeSchedule(rule, first)} ${describeTarget(rule)}`;
  const phase = rule.phase === "after" ? ", after the operation has run" : "";
  return toPrintableLines(`${calls}${phase}: ${describeEffects(rule).join(", ")}`);
}

export function explainEffect({ phase, effect = {}, sequence, match = {} }: Rule): string {
  const { error, status, body, wire, delay, hold } = effect;
  const wait = hold !== undefined ? "once it is released, " : delay === undefined ? "" : "after the delay, ";
  if (match.event !== undefined || match.webhook !== undefined) return "Only deliveries are affected.";
  const isReplaced = [error, status, body, wire, sequence].some((one) => one !== undefined);
  if (!isReplaced && hold !== undefined)
    return "The call waits until you press Continue, Answer or Drop at the bottom of any view, a test releases it, or its timeout ends. At the timeout it continues as usual.";
  if (!isReplaced)
    return delay === undefined
      ? "It has no effect."
      : "A delay is not a failure: the operation runs as usual, and its own response arrives later.";
  const data =
    phase === "after"
      ? "The operation runs and its change stays"
      : "The operation does not run, and nothing changes";
  return `${data}; ${wait}${wire === undefined ? "the client gets the failure in place of the response" : CONSEQUENCES[wire][phase ?? "before"]}.`;
}

const toBothPhases = (words: string) => ({ before: words, after: words });

/** How the client sees a connection fault. If the operation does not run, a cut or slow response is an error response. */
const CONSEQUENCES: Readonly<Record<keyof typeof WIRE_WORDS, Readonly<Record<"before" | "after", string>>>> =
  {
    reset: toBothPhases("the client’s connection is reset"),
    hang: toBothPhases("the client gets no answer until it gives up"),
    empty: toBothPhases("the connection closes without a response"),
    garbage: toBothPhases("the client gets bytes that are not HTTP"),
    truncate: { before: "an error response is cut off", after: "its response is cut off" },
    drip: {
      before: "an error response arrives in small pieces",
      after: "its response arrives in small pieces",
    },
  };

const ordinal = new Intl.PluralRules("en", { type: "ordinal" });
const ORDINALS: Partial<Record<Intl.LDMLPluralRule, string>> = { one: "st", two: "nd", few: "rd" };

/** A sequence has an entry for each call, and then ends. */
const getCallCount = ({ times, sequence }: Rule) => times ?? sequence?.length;

function describeSchedule(rule: Rule, first: string): string {
  const { every, probability } = rule;
  const times = getCallCount(rule);
  if (times !== undefined) return times === 1 ? `The ${first}` : `The ${first} ${times}`;
  if (every !== undefined)
    return every === 1 ? "Every" : `Every ${every}${ORDINALS[ordinal.select(every)] ?? "th"}`;
  if (probability !== undefined) return `${Number((probability * 100).toPrecision(3))}% of`;
  return "All";
}

function describeTarget(rule: Rule): string {
  const { match = {}, every } = rule;
  const { operation, method, path, principal, api_key, organization, header, query, body, event, webhook } =
    match;
  const isSingular = getCallCount(rule) === 1 || every !== undefined;
  if (event !== undefined || webhook !== undefined)
    return [isSingular ? "delivery" : "deliveries", event && `of ${event}`, webhook && `to ${webhook}`]
      .filter(Boolean)
      .join(" ");
  const where = [operation, path && [method, path].filter(Boolean).join(" ")].filter(Boolean).join(", ");
  const more = Object.entries({ header, query, body }).filter(([, value]) => value !== undefined);
  return [
    !path && method,
    isSingular ? "call" : "calls",
    where && where !== "*" && `of ${where}`,
    principal && `by ${principal}`,
    api_key && `with ${api_key}`,
    organization && `in ${organization}`,
    more.length > 0 && `with ${more.map(([part, value]) => `${part} ${JSON.stringify(value)}`).join(", ")}`,
  ]
    .filter(Boolean)
    .join(" ");
}

export function toStatusOrCode(entry: NonNullable<Rule["sequence"]>[number]): string | number {
  return typeof entry === "object" ? (entry.error ?? entry.status ?? 200) : entry;
}

function describeEffects({ effect = {}, sequence }: Rule): string[] {
  const { error, status, body, delay, hold, wire } = effect;
  const words: string[] = [];
  if (hold !== undefined) words.push("held until released");
  if (sequence !== undefined)
    words.push(
      sequence.map((one) => (one === "pass" ? "the real response" : toStatusOrCode(one))).join(", then "),
    );
  if (error !== undefined) words.push(error);
  if (status !== undefined) words.push(String(status));
  else if (body !== undefined) words.push("a custom body");
  if (wire !== undefined) words.push(WIRE_WORDS[wire]);
  if (typeof delay === "object") words.push(`delayed by ${addUnit(delay.p50)} (p99 ${addUnit(delay.p99)})`);
  else if (delay !== undefined) words.push(`delayed by ${addUnit(delay)}`);
  return words;
}

/** A duration without a unit is in milliseconds. */
export const addUnit = (duration: string | number) => String(duration).replace(/^\d+$/, "$& ms");
