import type { Exchange } from "../target.ts";
import { type Basis, Verdict } from "../verdict.ts";

/** More kinds of problems of one check are counted, not told. */
const MAX_KINDS = 20;

/**
 * A verdict over any number of exchanges: problems that differ in ids and numbers only are one, told by its
 * first and how often it came.
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
    const kind = `${gap ?? ""} ${this.kindOf(problem)}`;
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

  /** How many problems so far, of whatever kind. */
  get found(): number {
    return this.problems;
  }

  /** How often a problem came, in words. */
  times(detail: string): string {
    const found = [...this.kinds.values()].find((one) => one.detail === detail);
    return found === undefined || found.times === 1
      ? detail
      : `${detail} (and ${found.times - 1} more like it)`;
  }

  /** Of kinds that are not told. */
  get untold(): number {
    return this.more;
  }

  private kindOf(problem: string): string {
    const { path = "", operation } = this.exchange ?? {};
    const plain = path === "" ? problem : problem.replaceAll(path, operation?.path ?? "");
    return plain.replaceAll(/\d+/g, "#");
  }
}
