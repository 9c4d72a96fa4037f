import type { Contract } from "./contract.ts";
import type { Binding, KnownObjects } from "./known-objects.ts";
import type { Family } from "./report.ts";
import type { Exchange, Target } from "./target.ts";
import type { Verdict } from "./verdict.ts";

/** What was changed with `--write`, for the report. */
export interface Change {
  done: string;
  undone: boolean;
  detail: string;
}

export interface Context {
  contract: Contract;
  target: Target;
  known: KnownObjects;
  verdict: Verdict;
  changes: Change[];
  /** Each reading operation's first success, with the objects that it was asked for. */
  answered: Map<string, { params: Binding; exchange: Exchange }>;
}

/** What one answer says by itself, whoever asked: judged live and of a recording alike. */
export interface Observation {
  /** Whose answers; absent: every operation's. */
  operation?: string;
  /** Looks into the bodies of successes, and at nothing else. */
  successes?: true;
  /** A judge for one run, which may remember what it has seen. */
  begin: () => (verdict: Verdict, exchange: Exchange) => void;
}

export interface Check {
  /** Such as `usage.retrieve_limits/month`. */
  id: string;
  family: Family;
  /** Of the reference, or the assumption that stands in its place. */
  section: string;
  title: string;
  run: (context: Context) => Promise<void> | void;
  /** Absent where it takes requests of its own. */
  observe?: Observation;
}

/** What a success of one operation says by itself. */
export function seenIn(operation: string, judge: ReturnType<Observation["begin"]>): Observation {
  return { operation, successes: true, begin: () => judge };
}

type Observing = Omit<Check, "run" | "family" | "observe">;

/** A check that asks nothing of its own: live it looks at what the operation has answered. */
export function looksAt(operation: string, about: Observing, judge: ReturnType<Observation["begin"]>): Check {
  return {
    ...about,
    family: "answers",
    observe: seenIn(operation, judge),
    run({ verdict, answered }) {
      const first = answered.get(operation);
      if (first === undefined) return verdict.notObservable(`${operation} has not answered`);
      judge(verdict, first.exchange);
    },
  };
}
