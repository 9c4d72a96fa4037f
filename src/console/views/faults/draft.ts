import type { CoverageMatrix, RuleDefinition } from "../../../../types/control-api.ts";
import type { Choice } from "../../components/form.tsx";
import { WIRE_WORDS } from "./rule-words.ts";

/** Ids of the selected choices. */
export interface Draft {
  operation: string;
  principal: string;
  outcome: string;
  delay: string;
  schedule: string;
  phase: string;
  lease: string;
}

export const BLANK: Draft = {
  operation: "*",
  principal: "",
  outcome: "status 503",
  delay: "",
  schedule: "times 1",
  phase: "before",
  lease: "",
};

export const SCHEDULES: readonly Choice[] = [
  { id: "times 1", title: "The next call" },
  { id: "times 2", title: "The next 2 calls" },
  { id: "times 3", title: "The next 3 calls" },
  { id: "times 5", title: "The next 5 calls" },
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
  { id: "300ms 2s", title: "300 ms, p99 2 s" },
];

export const PHASES: readonly Choice[] = [
  { id: "before", title: "Before it runs", detail: "changes nothing" },
  { id: "after", title: "After it runs", detail: "the change is made, only the response is lost" },
];

export const LEASES: readonly Choice[] = [
  { id: "", title: "Until disarmed" },
  { id: "ttl 1m", title: "1 minute, sandbox time" },
  { id: "ttl 10m", title: "10 minutes, sandbox time" },
  { id: "ttl 1h", title: "1 hour, sandbox time" },
  { id: "hits 10", title: "10 hits" },
  { id: "hits 100", title: "100 hits" },
];

const ANYWHERE: readonly Choice[] = [
  ...[500, 502, 503, 504].map((status) => ({
    id: `status ${status}`,
    title: `${status}`,
    detail: "from a proxy",
  })),
  ...Object.entries(WIRE_WORDS).map(([wire, words]) => ({
    id: `wire ${wire}`,
    title: capital(words),
    detail: wire,
  })),
  { id: "", title: "Real response", detail: "delay only" },
];

/** All operations, each resource, each operation. */
export function operationChoices({ operations }: CoverageMatrix): Choice[] {
  const groups = new Set(operations.map(({ operation }) => operation.split(".")[0]!));
  return [
    { id: "*", title: "Every operation" },
    ...[...groups].map((group) => ({ id: `${group}.*`, title: `${group}.*`, detail: "all operations" })),
    ...operations.map(({ operation, method, path }) => ({
      id: operation,
      title: operation,
      detail: `${method} ${path}`,
    })),
  ];
}

/** Documented errors of the matching operations, then failures of any operation. */
export function outcomeChoices(coverage: CoverageMatrix | undefined, pattern: string): Choice[] {
  const documented = new Map<string, Choice>();
  for (const { operation, outcomes } of coverage?.operations ?? []) {
    if (!matchesPattern(pattern, operation)) continue;
    for (const { code, status } of outcomes)
      if (code)
        documented.set(code, { id: `error ${code}`, title: `${status} ${code}`, detail: "documented" });
  }
  const byTitle = (a: Choice, b: Choice) => (a.title < b.title ? -1 : 1);
  return [...[...documented.values()].sort(byTitle), ...ANYWHERE];
}

function matchesPattern(pattern: string, operation: string): boolean {
  return pattern.endsWith("*") ? operation.startsWith(pattern.slice(0, -1)) : operation === pattern;
}

/** The rule for the control API. */
export function toRule({
  operation,
  principal,
  outcome,
  delay,
  schedule,
  phase,
  lease,
}: Draft): RuleDefinition {
  const [p50, p99] = delay.split(" ");
  const effect = {
    ...pair(outcome),
    ...(delay && { delay: p99 === undefined ? p50 : { p50, p99 } }),
  };
  return {
    match: { operation, ...(principal && { principal }) },
    ...pair(schedule),
    ...(phase === "after" && { phase }),
    effect,
    ...(lease && { lease: pair(lease) }),
  } as RuleDefinition;
}

/** "times 2" as `{ times: 2 }`. */
function pair(choice: string): Record<string, string | number> {
  const [key, value] = choice.split(" ");
  if (!key || value === undefined) return {};
  return { [key]: key === "error" || key === "wire" || key === "ttl" ? value : Number(value) };
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
