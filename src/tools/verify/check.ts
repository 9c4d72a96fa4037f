import type { Check as AnyCheck } from "../checks/frame.ts";
import type { Contract } from "./contract.ts";
import type { Binding, KnownObjects } from "./known-objects.ts";
import type { Family, Outcome } from "./report.ts";
import type { Exchange, Target } from "./target.ts";

/** The assumption that a judgement rests on; undefined where the reference itself says it. */
export type Basis = string | undefined;

/** Collects the findings of one check. Only departures from the reference fail; departures from assumptions differ. */
export class Verdict {
  readonly failures: string[] = [];
  readonly differences: { assumption: string; detail: string }[] = [];
  /** Why the check's subject could not be observed; then other findings do not make it pass. */
  readonly notObserved: string[] = [];
  readonly notes: string[] = [];
  /** Assumptions that were judged and fitted, with how often. */
  readonly confirmed = new Map<string, number>();
  private judged = 0;

  /** Judges one thing; `gap` names the assumption it rests on. */
  expect(fits: boolean, problem: string, gap?: Basis): boolean {
    this.judged += 1;
    if (fits) {
      if (gap !== undefined) this.confirmed.set(gap, (this.confirmed.get(gap) ?? 0) + 1);
    } else if (gap === undefined) this.failures.push(problem);
    else this.differences.push({ assumption: gap, detail: problem });
    return fits;
  }

  notObservable(reason: string): void {
    this.notObserved.push(reason);
  }

  note(text: string): void {
    this.notes.push(text);
  }

  /** Where nothing was judged, nothing is proven. */
  get outcome(): Outcome {
    if (this.failures.length > 0) return "failed";
    if (this.differences.length > 0) return "differs";
    return this.judged === 0 || this.notObserved.length > 0 ? "not-observable" : "passed";
  }
}

/** A change made with `--write`, for the report. */
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
  /** Each reading operation's first success, with the ids in its path. */
  answered: Map<string, { params: Binding; exchange: Exchange }>;
}

/** A judgement of single answers, live and in a recording alike. */
export interface Observation {
  /** Whose answers; absent: every operation's. */
  operation?: string;
  /** Reads only the bodies of successes. */
  successes?: true;
  /** A judge for one run, which may remember earlier answers. */
  begin: () => (verdict: Verdict, exchange: Exchange) => void;
}

/** One thing that a service has to get right, such as `usage.retrieve_limits/month`. */
export interface Check extends AnyCheck<Context, void> {
  family: Family;
  /** Of the reference, or the assumption that fills its gap. */
  section: string;
  /** Absent where the check needs requests of its own. */
  observe?: Observation;
}

/** Observes the successes of one operation. */
export function seenIn(operation: string, judge: ReturnType<Observation["begin"]>): Observation {
  return { operation, successes: true, begin: () => judge };
}

/** A check without requests of its own: live it judges the operation's first success. */
export function looksAt(
  operation: string,
  about: Pick<Check, "id" | "section" | "title">,
  judge: ReturnType<Observation["begin"]>,
): Check {
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
