import isEqual from "fast-deep-equal";
import type { CoverageMatrix, FaultRule, RuleDefinition } from "../../../../types/control-api.ts";
import { capitalize } from "../../../engine/contract/text.ts";
import { useRecords } from "../../api/queries.ts";
import type { Choice } from "../../components/form.tsx";

/** The initial inputs of the form for a new rule: ids of choices, and a description. */
export const BLANK_DRAFT = {
  operation: "*",
  description: "",
  principal: "",
  response: "status 503",
  delay: "",
  schedule: "times 1",
  phase: "before",
  lease: "",
};

export const SCHEDULES: readonly Choice[] = [
  { id: "times 1", title: "The first call" },
  { id: "times 2", title: "The first 2 calls" },
  { id: "times 3", title: "The first 3 calls" },
  { id: "times 5", title: "The first 5 calls" },
  { id: "", title: "Every call" },
  { id: "every 2", title: "Every second call" },
  { id: "every 3", title: "Every third call" },
  { id: "every 10", title: "Every tenth call" },
  { id: "probability 0.1", title: "10% of calls, at random" },
  { id: "probability 0.25", title: "25% of calls, at random" },
  { id: "probability 0.5", title: "50% of calls, at random" },
];

export const DELAYS: readonly Choice[] = [
  { id: "", title: "No delay" },
  { id: "200ms", title: "200 ms" },
  { id: "1s", title: "1 s" },
  { id: "5s", title: "5 s" },
  { id: "30s", title: "30 s" },
  { id: "300ms 2s", title: "300 ms (p99 2 s)" },
  { id: "hold", title: "Hold until released", detail: "at most 30 s" },
];

export const PHASES: readonly Choice[] = [
  { id: "before", title: "Before the operation runs" },
  { id: "after", title: "After the operation runs", detail: "the change is made" },
];

export const LEASES: readonly Choice[] = [
  { id: "", title: "Until disarmed" },
  { id: "ttl 1m", title: "1 minute, sandbox time" },
  { id: "ttl 10m", title: "10 minutes, sandbox time" },
  { id: "ttl 1h", title: "1 hour, sandbox time" },
  { id: "hits 10", title: "10 hits" },
  { id: "hits 100", title: "100 hits" },
];

const WIRE_WORDS = {
  reset: "connection reset",
  hang: "no response",
  empty: "connection closed without a response",
  truncate: "response cut off",
  garbage: "invalid HTTP",
  drip: "response in small pieces",
} as const;

const GENERAL_RESPONSES: readonly Choice[] = [
  ...[500, 502, 503, 504].map((status) => ({
    id: `status ${status}`,
    title: `${status}`,
    detail: "as if from a proxy",
  })),
  ...Object.entries(WIRE_WORDS).map(([wire, words]) => ({
    id: `wire ${wire}`,
    title: capitalize(words),
    detail: wire,
  })),
  { id: "", title: "Real response", detail: "delay only" },
];

/** A rule's patterns of operations: all, each resource, each operation. */
export function listPatternChoices(coverage: CoverageMatrix): Choice[] {
  // An operation of a user's document may have no group.
  const grouped = coverage.operations.filter(({ operation }) => operation.includes("."));
  const groups = new Set(grouped.map(({ operation }) => operation.split(".")[0]!));
  return [
    { id: "*", title: "Every operation" },
    ...[...groups].map((group) => ({ id: `${group}.*`, title: `${group}.*`, detail: "all operations" })),
    ...listOperationChoices(coverage),
  ];
}

export function listOperationChoices({ operations }: CoverageMatrix): Choice[] {
  return operations.map(({ operation, method, path }) => ({
    id: operation,
    title: operation,
    detail: `${method} ${path}`,
  }));
}

const MAX_USERS = 500;

export function useCallerChoices(first: Choice): Choice[] {
  const { data } = useRecords("users", { limit: MAX_USERS });
  return [first, ...(data?.items ?? []).map(({ id, email }) => ({ id, title: id, detail: email }))];
}

/** Documented errors of the matching operations. */
export function listDocumentedErrors(coverage: CoverageMatrix | undefined, pattern: string): Choice[] {
  const errors = new Map<string, Choice>();
  for (const { operation, outcomes } of coverage?.operations ?? []) {
    if (!matchesPattern(pattern, operation)) continue;
    for (const { code, status } of outcomes)
      if (code) errors.set(code, { id: `error ${code}`, title: `${status} ${code}`, detail: "documented" });
  }
  return [...errors.values()];
}

function matchesPattern(pattern: string, operation: string): boolean {
  return pattern.endsWith("*") ? operation.startsWith(pattern.slice(0, -1)) : operation === pattern;
}

/** Documented errors of the matching operations, then responses that any operation can have. */
export function listResponseChoices(coverage: CoverageMatrix | undefined, pattern: string): Choice[] {
  const errors = listDocumentedErrors(coverage, pattern);
  return [...errors.sort((a, b) => (a.title < b.title ? -1 : 1)), ...GENERAL_RESPONSES];
}

export function toRule(draft: typeof BLANK_DRAFT): RuleDefinition {
  const { operation, description, principal, response, delay, schedule, phase, lease } = draft;
  return {
    ...(description.trim() && { description: description.trim() }),
    match: { operation, ...(principal && { principal }) },
    ...parsePair(schedule),
    ...(phase === "after" && { phase }),
    effect: { ...parsePair(response), ...toDelayEffect(delay) },
    ...(lease && { lease: parsePair(lease) }),
  } as RuleDefinition;
}

/** The draft of a rule; undefined if the choices of the form cannot express it. */
export function toDraft(rule: FaultRule): typeof BLANK_DRAFT | undefined {
  const { id: _id, ...definition } = toDefinition(rule);
  const { match, description = "", effect = {}, lease = {}, times, every, probability, phase } = definition;
  const { delay, hold, ...response } = effect;
  const wait = typeof delay === "object" ? `${delay.p50} ${delay.p99}` : (delay ?? "");
  const draft = {
    operation: match?.operation ?? BLANK_DRAFT.operation,
    description,
    principal: match?.principal ?? "",
    response: toPair(response),
    delay: hold === undefined ? String(wait) : "hold",
    schedule: toPair({ times, every, probability }),
    phase: phase ?? BLANK_DRAFT.phase,
    lease: toPair(lease),
  };
  const isOffered =
    isChoice(SCHEDULES, draft.schedule) && isChoice(DELAYS, draft.delay) && isChoice(LEASES, draft.lease);
  return isOffered && isEqual(toRule(draft), definition) ? draft : undefined;
}

function isChoice(choices: readonly Choice[], id: string): boolean {
  return choices.some((one) => one.id === id);
}

/** `{ times: 2 }` as "times 2". */
function toPair(values: object): string {
  const [pair] = Object.entries(values).filter(([, value]) => value !== undefined);
  return pair ? pair.join(" ") : "";
}

function toDelayEffect(delay: string): RuleDefinition["effect"] {
  if (delay === "") return {};
  if (delay === "hold") return { hold: {} };
  // The server checks the durations; any two satisfy their type.
  const [p50, p99] = delay.split(" ") as ["300ms", "2s"?];
  return { delay: p99 === undefined ? p50 : { p50, p99 } };
}

const NUMBERS = new Set(["status", "times", "every", "probability", "hits"]);

/** "times 2" as `{ times: 2 }`. */
export function parsePair(choice: string): Record<string, string | number> {
  const [key, value] = choice.split(" ");
  if (!key || value === undefined) return {};
  return { [key]: NUMBERS.has(key) ? Number(value) : value };
}

/** A rule as it was armed, to arm it again: its hits count from zero, and its lease begins again. */
export function toDefinition({ hits: _hits, spent: _spent, lease, ...rule }: FaultRule): RuleDefinition {
  const { ttl, hits } = lease ?? {};
  return {
    ...rule,
    ...(lease && { lease: { ...(ttl && { ttl }), ...(hits && { hits }) } }),
  } as RuleDefinition;
}

type Rule = Pick<FaultRule | RuleDefinition, keyof FaultRule & keyof RuleDefinition>;

/** "The first 2 calls of models.list by usr_dan: RATE_LIMIT_EXCEEDED, after it runs". */
export function describeRule(rule: Rule): string {
  const effects = describeEffects(rule);
  const phase = rule.phase === "after" ? ["after it runs"] : [];
  return `${describeSchedule(rule)} ${describeTarget(rule)}: ${[...effects, ...phase].join(", ")}`;
}

/** Explains how an effect changes the response and the data. */
export function explainEffect({ phase, effect = {}, sequence, match = {} }: Rule): string {
  const { error, status, body, wire, delay, hold } = effect;
  const wait = hold !== undefined ? "once it is released, " : delay === undefined ? "" : "after the delay, ";
  if (match.event !== undefined || match.webhook !== undefined) return "Only deliveries are affected.";
  const isReplaced = [error, status, body, wire, sequence].some((one) => one !== undefined);
  if (!isReplaced && hold !== undefined)
    return "The call waits until you release it at the bottom of any view, a test releases it, or its timeout ends. Then it continues as usual.";
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

/** Connection faults as the client sees them; before the operation, those with a body carry an error. */
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

function toBothPhases(words: string) {
  return { before: words, after: words };
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
  const isSingular = times === 1 || every !== undefined;
  if (event !== undefined || webhook !== undefined)
    return [isSingular ? "delivery" : "deliveries", event && `of ${event}`, webhook && `to ${webhook}`]
      .filter(Boolean)
      .join(" ");
  const where = [operation, [method, path].filter(Boolean).join(" ")].filter(Boolean).join(", ");
  const more = Object.entries({ header, query, body }).filter(([, value]) => value !== undefined);
  return [
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
  if (sequence !== undefined) words.push(`sequence ${sequence.map(toStatusOrCode).join(", ")}`);
  if (error !== undefined) words.push(error);
  if (status !== undefined) words.push(String(status));
  else if (body !== undefined) words.push("a custom body");
  if (wire !== undefined) words.push(WIRE_WORDS[wire]);
  if (delay !== undefined)
    words.push(`delayed by ${typeof delay === "object" ? `${delay.p50} (p99 ${delay.p99})` : delay}`);
  return words;
}
