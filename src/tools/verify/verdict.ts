import type { VerifyOutcome } from "./report.ts";
import type { Exchange } from "./target.ts";

/** Collects the findings of one check: departures from the reference are failures, departures from assumptions differences. */
export class Verdict {
  readonly failures: string[] = [];
  readonly differences: { assumption: string; detail: string }[] = [];
  /** Reasons why something could not be observed; then the check does not pass. */
  readonly notObserved: string[] = [];
  readonly notes: string[] = [];
  /** How often each assumption was confirmed. */
  readonly confirmed = new Map<string, number>();
  private checked = 0;

  /** Records and returns whether one thing fits; `assumption` is the one it rests on, undefined if the reference states it. */
  expect(fits: boolean, problem: string, assumption?: string | undefined): boolean {
    this.checked += 1;
    if (fits) {
      if (assumption !== undefined) this.confirmed.set(assumption, (this.confirmed.get(assumption) ?? 0) + 1);
    } else if (assumption === undefined) this.failures.push(problem);
    else this.differences.push({ assumption, detail: problem });
    return fits;
  }

  confirm(assumption: string | undefined): void {
    this.expect(true, "", assumption);
  }

  notObservable(reason: string): void {
    this.notObserved.push(reason);
  }

  note(text: string): void {
    this.notes.push(text);
  }

  /** A check that checked nothing does not pass. */
  get outcome(): VerifyOutcome {
    if (this.failures.length > 0) return "failed";
    if (this.differences.length > 0) return "differs";
    return this.checked === 0 || this.notObserved.length > 0 ? "not-observable" : "passed";
  }
}

/** Maximum number of kinds of problems that one check lists; others are only counted. */
const MAX_KINDS = 20;

/**
 * A verdict about any number of exchanges. Problems that differ only in the request's path and in numbers
 * are one kind, of which it lists the first, and counts all.
 */
export class RecordingVerdict extends Verdict {
  private readonly kinds = new Map<string, { detail: string; times: number }>();
  private readonly noted = new Set<string>();
  /** Problems so far, of all kinds, and those of kinds that are not listed. */
  problemCount = 0;
  unlistedCount = 0;
  /** The exchange that is being checked. */
  exchange: Exchange | undefined;

  override expect(fits: boolean, problem: string, assumption?: string | undefined): boolean {
    if (fits) return super.expect(fits, problem, assumption);
    this.problemCount += 1;
    const kind = `${assumption ?? ""} ${this.findKind(problem)}`;
    const entry = this.kinds.get(kind);
    if (entry !== undefined) entry.times += 1;
    else if (this.kinds.size < MAX_KINDS) {
      this.kinds.set(kind, { detail: problem, times: 1 });
      super.expect(false, problem, assumption);
    } else this.unlistedCount += 1;
    return false;
  }

  override note(text: string): void {
    if (this.noted.has(text) || this.noted.size === MAX_KINDS) return;
    this.noted.add(text);
    super.note(text);
  }

  /** Adds to a problem how often its kind occurred. */
  addCount(detail: string): string {
    const entry = [...this.kinds.values()].find((one) => one.detail === detail);
    return entry === undefined || entry.times === 1
      ? detail
      : `${detail} (and ${entry.times - 1} more like it)`;
  }

  private findKind(problem: string): string {
    const { path = "", operation } = this.exchange ?? {};
    const plain = path === "" ? problem : problem.replaceAll(path, operation?.path ?? "");
    return plain.replaceAll(/\d+/g, "#");
  }
}
