import type { Outcome } from "./report.ts";

/** What a judgement rests on: the reference, or the assumption that fills its gap. */
export type Basis = string | undefined;

/** Gathers what one check finds. Only what the reference says can fail; the rest differs. */
export class Verdict {
  readonly failures: string[] = [];
  readonly differences: { assumption: string; detail: string }[] = [];
  /** What the check is about could not be seen; whatever else was judged proves nothing of it. */
  readonly notObserved: string[] = [];
  readonly notes: string[] = [];
  /** Assumptions that were judged and fitted, as often as they were. */
  readonly confirmed = new Map<string, number>();
  private judged = 0;

  /** Judges one thing; `gap` names the assumption it rests on, absent where the reference says it. */
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

  /** Nothing judged is nothing proven. */
  get outcome(): Outcome {
    if (this.failures.length > 0) return "failed";
    if (this.differences.length > 0) return "differs";
    return this.judged === 0 || this.notObserved.length > 0 ? "not-observable" : "passed";
  }
}
