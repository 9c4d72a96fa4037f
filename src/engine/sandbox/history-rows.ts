import { flatOf } from "../state/flat-writes.ts";
import { KeptRoot, type RootLine } from "../state/kept-root.ts";
import type { Root } from "../state/root.ts";
import { costOf, EntryStates } from "./entry-states.ts";
import { type LotRow, type RequestChange, type RequestMoment, ROWS_IN_LOT, RowLot } from "./row-lot.ts";

/** What an entry is made of. */
export interface Row extends Pick<LotRow, "request" | "subject" | "now" | "journal" | "journaled"> {
  readonly states: EntryStates;
}

/** Who writes more is given an entry at once. */
export const MAX_ROW_WRITES = 4;

/** What the state of a row costs: most write a record and its audit entry, and to look at an old row takes time. */
export const ROW_COST = costOf(2);

/**
 * The newest requests of a history that nobody has looked at yet, lot by lot. Each begins with the state that the one
 * before it led to. A thousand are kept, and a thousand more come before the first of them is asked for, if it ever is:
 * an entry for each, with the objects that it consists of, cost a request ten times as much.
 */
export class HistoryRows {
  /** Rows there are. */
  size = 0;
  /** The state that the newest leads to; undefined where there is no row. */
  newest: Root | undefined = undefined;
  private readonly line: RootLine;
  /** The oldest begins with it, unless an older one has gone. */
  private start: KeptRoot | undefined = undefined;
  /** The newest leads to it, where something else goes on from there. */
  private last: KeptRoot | undefined = undefined;
  /** Rows that have come since the start. */
  private come = 0;
  /** Oldest first; of the first, some rows may have gone. */
  private lots: RowLot[] = [];
  private latest: RowLot | undefined = undefined;
  /** One that nobody needs any more: a new one would be one more object, with its bytes, for the collector to find. */
  private spare: RowLot | undefined = undefined;

  constructor(line: RootLine) {
    this.line = line;
  }

  /** @param start what the first begins with; there are no rows now */
  begin(start: KeptRoot): void {
    this.start = start;
  }

  /**
   * @param change has no uploads and at most `MAX_ROW_WRITES`
   * @param moment begins with `newest`, or with the start
   * @param journal position of the newest entry of the journal
   */
  add(change: RequestChange, moment: RequestMoment, journal: number): void {
    if (this.endsLot) this.beginLot(moment.before);
    this.latest!.add(change, moment, journal);
    this.newest = moment.after;
    this.come += 1;
    this.size += 1;
  }

  /** Whether the next one begins a lot. */
  get endsLot(): boolean {
    return this.come % ROWS_IN_LOT === 0;
  }

  /** No more will come: the line goes on from the newest without them. There is at least one. */
  end(): void {
    // Until they are taken, nothing leads on from what the first began with.
    this.line.forget();
    this.last = this.line.keep(this.newest!);
  }

  /** The oldest goes. */
  shift(): void {
    // Nobody can ask for what the first began with, which nothing leads to any more.
    if (this.last === undefined) this.line.forget();
    this.start = undefined;
    this.size -= 1;
    if (this.size === 0) this.clear();
    else if (this.gone % ROWS_IN_LOT === 0) this.spare = this.lots.shift();
    else this.lots[0]!.letGoOfRoot();
  }

  /** @param index from the oldest, 0 */
  answered(index: number, journaled: number): void {
    const row = (this.gone % ROWS_IN_LOT) + index;
    this.lots[Math.floor(row / ROWS_IN_LOT)]!.answered(row % ROWS_IN_LOT, journaled);
  }

  /** All of them, one or more, oldest first; there are none then, and the line goes on from the newest, if it has not. */
  take(): Row[] {
    const taken = this.lots.flatMap((lot) => lot.rows()).slice(this.gone % ROWS_IN_LOT);
    const rows: Row[] = [];
    let from = this.start ?? new KeptRoot(taken[0]!, this.line);
    for (const [index, row] of taken.entries()) {
      const next = taken[index + 1];
      const isLast = next === undefined;
      const to = (isLast ? this.last : undefined) ?? new KeptRoot(next ?? this.newest!, this.line);
      rows.push(rowOf(row, from, to));
      from = to;
    }
    if (this.last === undefined) this.line.goOn(from, this.newest!);
    this.clear();
    return rows;
  }

  /** Holds nothing then. */
  clear(): void {
    this.size = 0;
    this.come = 0;
    this.start = undefined;
    this.last = undefined;
    this.newest = undefined;
    this.lots = [];
    this.latest = undefined;
    this.spare = undefined;
  }

  private beginLot(root: Root): void {
    const lot = this.spare ?? new RowLot();
    this.spare = undefined;
    this.latest = lot.begin(root);
    this.lots.push(lot);
  }

  private get gone(): number {
    return this.come - this.size;
  }
}

function rowOf(
  { root, written, frame, requests, windows, ...row }: LotRow,
  from: KeptRoot,
  to: KeptRoot,
): Row {
  const { request, subject, now, journal, journaled } = row;
  if (root !== undefined) from.hold(root);
  from.followedBy(to, flatOf(written));
  const after = { root: to, frame, now, requests, windows, counted: undefined };
  const states = new EntryStates(from, after, { cost: ROW_COST, request });
  return { request, subject, now, journal, journaled, states };
}
