import { type Basis, Verdict } from "../check.ts";
import type { Exchange } from "../target.ts";

/** Kinds of problems that one check lists; further ones are only counted. */
const MAX_KINDS = 20;

/**
 * A verdict over any number of exchanges: problems that differ only in ids and numbers are one kind, shown by the first
 * and the number of occurrences.
 */
export class RecordedVerdict extends Verdict {
  private readonly kinds = new Map<string, { detail: string; times: number }>();
  private readonly said = new Set<string>();
  private more = 0;
  private problems = 0;
  private exchange: Exchange | undefined;

  about(exchange: Exchange): void {
    this.exchange = exchange;
  }

  override expect(fits: boolean, problem: string, gap?: Basis): boolean {
    if (fits) return super.expect(fits, problem, gap);
    this.problems += 1;
    const kind = `${gap ?? ""} ${this.findKind(problem)}`;
    const known = this.kinds.get(kind);
    if (known !== undefined) known.times += 1;
    else if (this.kinds.size < MAX_KINDS) {
      this.kinds.set(kind, { detail: problem, times: 1 });
      super.expect(false, problem, gap);
    } else this.more += 1;
    return false;
  }

  override note(text: string): void {
    if (this.said.has(text) || this.said.size === MAX_KINDS) return;
    this.said.add(text);
    super.note(text);
  }

  /** How many problems so far, of all kinds. */
  get found(): number {
    return this.problems;
  }

  /** The problem, with how often its kind occurred. */
  withCount(detail: string): string {
    const found = [...this.kinds.values()].find((one) => one.detail === detail);
    return found === undefined || found.times === 1
      ? detail
      : `${detail} (and ${found.times - 1} more like it)`;
  }

  /** Problems of kinds that are not listed. */
  get uncounted(): number {
    return this.more;
  }

  private findKind(problem: string): string {
    const { path = "", operation } = this.exchange ?? {};
    const plain = path === "" ? problem : problem.replaceAll(path, operation?.path ?? "");
    return plain.replaceAll(/\d+/g, "#");
  }
}
