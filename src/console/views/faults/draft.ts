import type { CoverageMatrix, RuleDefinition } from "../../api/types.ts";
import type { Choice } from "../../parts/form.tsx";
import { WIRE_WORDS } from "./rule-words.ts";

/** What the choices of the form say; each is the id of a choice, of which the first means nothing special. */
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
  { id: "probability 0.1", title: "One call in ten, drawn" },
  { id: "probability 0.25", title: "One call in four, drawn" },
  { id: "probability 0.5", title: "One call in two, drawn" },
];

export const DELAYS: readonly Choice[] = [
  { id: "", title: "At once" },
  { id: "200ms", title: "200 ms late" },
  { id: "1s", title: "1 s late" },
  { id: "5s", title: "5 s late" },
  { id: "30s", title: "30 s late" },
  { id: "300ms 2s", title: "300 ms late, some 2 s" },
];

export const PHASES: readonly Choice[] = [
  { id: "before", title: "Instead of the change", detail: "nothing is changed" },
  { id: "after", title: "After the change", detail: "it is made, only the answer is lost" },
];

export const LEASES: readonly Choice[] = [
  { id: "", title: "Until it is disarmed" },
  { id: "ttl 1m", title: "For 1 minute of the sandbox's clock" },
  { id: "ttl 10m", title: "For 10 minutes of the sandbox's clock" },
  { id: "ttl 1h", title: "For 1 hour of the sandbox's clock" },
  { id: "hits 10", title: "For 10 hits" },
  { id: "hits 100", title: "For 100 hits" },
];

const ANYWHERE: readonly Choice[] = [
  ...[500, 502, 503, 504].map((status) => ({
    id: `status ${status}`,
    title: `${status}`,
    detail: "on the way",
  })),
  ...Object.entries(WIRE_WORDS).map(([wire, words]) => ({
    id: `wire ${wire}`,
    title: capital(words),
    detail: wire,
  })),
  { id: "", title: "The real answer", detail: "only late" },
];

/** Everything, each resource, each operation. */
export function operationChoices({ operations }: CoverageMatrix): Choice[] {
  const groups = new Set(operations.map(({ operation }) => operation.split(".")[0]!));
  return [
    { id: "*", title: "Every operation" },
    ...[...groups].map((group) => ({ id: `${group}.*`, title: `${group}.*`, detail: "all of them" })),
    ...operations.map(({ operation, method, path }) => ({
      id: operation,
      title: operation,
      detail: `${method} ${path}`,
    })),
  ];
}

/** The refusals that the chosen operations document, then what can happen to any call. */
export function outcomeChoices(coverage: CoverageMatrix | undefined, pattern: string): Choice[] {
  const documented = new Map<string, Choice>();
  for (const { operation, outcomes } of coverage?.operations ?? []) {
    if (!isOf(pattern, operation)) continue;
    for (const { code, status } of outcomes)
      if (code)
        documented.set(code, { id: `error ${code}`, title: `${status} ${code}`, detail: "documented" });
  }
  const byTitle = (a: Choice, b: Choice) => (a.title < b.title ? -1 : 1);
  return [...[...documented.values()].sort(byTitle), ...ANYWHERE];
}

function isOf(pattern: string, operation: string): boolean {
  return pattern.endsWith("*") ? operation.startsWith(pattern.slice(0, -1)) : operation === pattern;
}

/** As the control API takes it. */
export function ruleOf({
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
