import type { CoverageMatrix, FaultRule, RuleDefinition } from "../../../../types/control-api.ts";
import { capitalize } from "../../../engine/contract/text.ts";
import { isEqual } from "../../../engine/maps.ts";
import { useRecords } from "../../api/queries.ts";
import type { Choice } from "../../components/form.tsx";
import { toDefinition, WIRE_WORDS } from "./rules.ts";

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
  { id: "after", title: "After the operation runs", detail: "the change is done" },
];

export const LEASES: readonly Choice[] = [
  { id: "", title: "When disarmed" },
  { id: "ttl 1m", title: "After 1 minute (sandbox time)" },
  { id: "ttl 10m", title: "After 10 minutes (sandbox time)" },
  { id: "ttl 1h", title: "After 1 hour (sandbox time)" },
  { id: "hits 10", title: "After 10 hits" },
  { id: "hits 100", title: "After 100 hits" },
];

const GENERAL_RESPONSES: readonly Choice[] = [
  ...[500, 502, 503, 504].map((status) => ({
    id: `status ${status}`,
    title: `${status}`,
    detail: "error of a proxy",
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
  const callers = data?.items.map(({ id, name, email }) => ({ id, title: `${name}, ${id}`, detail: email }));
  return [first, ...(callers ?? [])];
}

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
  // Documented errors are offered; `CODE!` may not be documented.
  const isDocumentedError = /^error [^!]+$/.test(draft.response);
  const isOffered =
    (isDocumentedError || isChoice(GENERAL_RESPONSES, draft.response)) &&
    isChoice(SCHEDULES, draft.schedule) &&
    isChoice(DELAYS, draft.delay) &&
    isChoice(LEASES, draft.lease);
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
  // The server checks the durations; these literals only satisfy their type.
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
