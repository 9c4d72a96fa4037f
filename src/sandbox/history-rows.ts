import type { AnyCollection } from "../state/collection.ts";
import { type FlatWrites, KeptRoot, MAX_STEPS, type RootLine } from "../state/kept-root.ts";
import type { Root } from "../state/root.ts";
import type { WrittenRecord } from "../state/transaction.ts";
import { CountedWindows } from "./counted-windows.ts";
import { type ActingRequest, costOf, EntryStates, type KeptFrame } from "./entry-states.ts";
import { PackedLots } from "./packed-lots.ts";

/** A request that changed the world, and what there was to be seen when it did. */
export interface RequestChange {
  readonly request: ActingRequest;
  readonly subject: string | null;
  readonly before: Root;
  readonly after: Root;
  readonly written: readonly WrittenRecord[];
  readonly frame: KeptFrame;
  /** What the clock showed, in milliseconds since 1970. */
  readonly now: number;
  /** How many had come by then. */
  readonly requests: number;
  readonly windows: CountedWindows;
}

/** What an entry is made of. */
export interface Row extends Pick<RequestChange, "request" | "subject" | "now"> {
  /** Position of the newest entry of the journal when it came. */
  readonly journal: number;
  /** Position of its request in the journal; 0 until that was answered. */
  readonly journaled: number;
  readonly states: EntryStates;
}

/** Who writes more is given an entry at once. */
export const MAX_ROW_WRITES = 4;

/** What the state of a row costs: most write a record and its audit entry, and to look at an old row takes time. */
export const ROW_COST = costOf(2);

/** Tables of more rows are not kept for others to come. */
const MAX_EMPTY = 64;

/** Of a row, in their order; where two are named, of the window that was counted last. */
type Numbers = [
  ...[journaled: number, drawsBefore: number],
  ...[idSeed: number, number: number, minute: number, now: number, requests: number],
  ...[windowMinute: number, windowRequests: number, windowTokens: number, journal: number],
];
type References = [
  /** The root before it, in one row of some. */
  ...[root: Root | undefined, summary: string, principal: string | undefined, key_id: string | undefined],
  ...[subject: string | null, frame: KeptFrame],
  ...[windowKey: string | undefined, otherWindows: CountedWindows["others"]],
];
const NUMBERS = 11;
const OTHERS = 8;
/** What was written stands behind the others. */
const REFERENCES = OTHERS + 4 * MAX_ROW_WRITES;

/**
 * The newest requests of a history that nobody has looked at yet, as rows of two flat tables. Each begins with the
 * state that the one before it led to. A thousand are kept, and a thousand more come before the first of them is
 * asked for, if it ever is: an object for each, with those that it consists of, cost a request ten times as much.
 */
export class HistoryRows {
  /** Rows there are. */
  size = 0;
  /** The state that the newest leads to; undefined where there is no row. */
  newest: Root | undefined = undefined;
  private readonly line: RootLine;
  /** The oldest begins with it, unless an older one has gone. */
  private start: KeptRoot | undefined = undefined;
  /** Rows that have come since the start. */
  private come = 0;
  /** A power of two, so that a row's place follows from its number. */
  private capacity = 0;
  private numbers = new Float64Array(0);
  private references: unknown[] = [];
  /** How many of each row. */
  private writes = new Uint8Array(0);
  private readonly lots = new PackedLots();

  constructor(line: RootLine) {
    this.line = line;
  }

  /** @param start what the first begins with; there are no rows now */
  begin(start: KeptRoot): void {
    this.start = start;
  }

  /**
   * @param change begins with `newest` or with the start, and has no uploads and at most `MAX_ROW_WRITES`
   * @param journal position of the newest entry of the journal
   */
  add(change: RequestChange, journal: number): void {
    if (this.size === this.capacity) this.grow();
    const { request, before, written, windows } = change;
    const { counted } = request;
    const place = this.placeOf(this.size);
    const { numbers, references } = this;

    const n = place * NUMBERS;
    numbers[n] = 0;
    numbers[n + 1] = before.draws;
    numbers[n + 2] = request.idSeed;
    numbers[n + 3] = request.number;
    numbers[n + 4] = counted?.minute ?? 0;
    numbers[n + 5] = change.now;
    numbers[n + 6] = change.requests;
    numbers[n + 7] = windows.minute;
    numbers[n + 8] = windows.requests;
    numbers[n + 9] = windows.tokens;
    numbers[n + 10] = journal;

    const r = place * REFERENCES;
    references[r] = this.come % MAX_STEPS === 0 ? before : undefined;
    references[r + 1] = request.summary;
    references[r + 2] = request.principal;
    references[r + 3] = counted?.key_id;
    references[r + 4] = change.subject;
    references[r + 5] = change.frame;
    references[r + 6] = windows.key;
    references[r + 7] = windows.others;
    const end = this.lots.put(this.come, written, references, r + OTHERS);
    // What an older one wrote must not be held on to.
    const had = this.writes[place]!;
    if (had > written.length) references.fill(undefined, end, r + OTHERS + 4 * had);
    this.writes[place] = written.length;

    this.newest = change.after;
    this.come += 1;
    this.size += 1;
  }

  /** The oldest goes. */
  shift(): void {
    // Nobody can ask for what the first began with, which nothing leads to any more.
    this.line.forget();
    this.start = undefined;
    this.size -= 1;
    if (this.size === 0) this.clear();
  }

  /** @param index from the oldest, 0 */
  answered(index: number, journaled: number): void {
    this.numbers[this.placeOf(index) * NUMBERS] = journaled;
  }

  /** All of them, one or more, oldest first; there are none then, and the line goes on from the newest. */
  take(): Row[] {
    const oldest = this.come - this.size;
    const placesOf = (from: number, to: number) => this.writesOf(from - oldest, to - oldest);
    this.lots.unpack(oldest, this.come, { all: this.references, placesOf });
    this.shareHeld();
    const rows: Row[] = [];
    let from = this.start;
    for (let index = 0; index < this.size; index++) {
      from ??= new KeptRoot({ draws: this.drawsBefore(0) }, this.line);
      const to = new KeptRoot({ draws: this.drawsBefore(index + 1) }, this.line);
      rows.push(this.rowOf(index, from, to));
      from = to;
    }
    this.line.goOn(from!, this.newest!);
    this.clear();
    return rows;
  }

  /** Holds nothing then. */
  clear(): void {
    this.size = 0;
    this.come = 0;
    this.start = undefined;
    this.newest = undefined;
    this.lots.clear();
    if (this.capacity > MAX_EMPTY) {
      this.capacity = 0;
      this.numbers = new Float64Array(0);
      this.writes = new Uint8Array(0);
      this.references = [];
    } else this.references.fill(undefined);
  }

  /** What was first written to since a root that is held is the very record of that root: who compares them knows it by that. */
  private shareHeld(): void {
    const { references } = this;
    let held: Root | undefined;
    const written = new Set<string>();
    for (let index = 0; index < this.size; index++) {
      const root = references[this.placeOf(index) * REFERENCES] as Root | undefined;
      if (root !== undefined) {
        held = root;
        written.clear();
      }
      if (held === undefined) continue;
      for (const at of this.writesOf(index, index + 1)) {
        const { name } = references[at] as AnyCollection;
        const id = references[at + 1] as string;
        const key = `${name}\0${id}`;
        if (!written.has(key)) references[at + 2] = held.tables.get(name)!.get(id);
        written.add(key);
      }
    }
  }

  /** Where in `references` each write of these rows begins, oldest first. */
  private writesOf(from: number, to: number): number[] {
    const found: number[] = [];
    for (let index = from; index < to; index++) {
      const place = this.placeOf(index);
      const first = place * REFERENCES + OTHERS;
      for (let write = 0; write < this.writes[place]!; write++) found.push(first + 4 * write);
    }
    return found;
  }

  private rowOf(index: number, from: KeptRoot, to: KeptRoot): Row {
    const n = this.placeOf(index) * NUMBERS;
    const numbers = [...this.numbers.subarray(n, n + NUMBERS)] as Numbers;
    const [journaled, , idSeed, number, minute, now, requests, ...counts] = numbers;
    const [windowMinute, windowRequests, tokens, journal] = counts;

    const r = this.placeOf(index) * REFERENCES;
    const writes = this.writes[this.placeOf(index)]!;
    const references = this.references.slice(r, r + OTHERS) as References;
    const [root, summary, principal, key_id, subject, frame, key, others] = references;
    const written = this.references.slice(r + OTHERS, r + OTHERS + 4 * writes) as FlatWrites;
    if (root !== undefined) from.hold(root);
    from.followedBy(to, written);

    const counted = key_id === undefined ? undefined : { key_id, minute };
    const request = { idSeed, number, summary, principal, counted, uploads: undefined };
    const windows = new CountedWindows(
      key,
      { minute: windowMinute, requests: windowRequests, tokens },
      others,
    );
    const after = { root: to, frame, now, requests, windows, counted: undefined };
    const states = new EntryStates(from, after, { cost: ROW_COST, request });
    return { request, subject, now, journal, journaled, states };
  }

  /** Of the state before a row, or after the newest. */
  private drawsBefore(index: number): number {
    return index === this.size ? this.newest!.draws : this.numbers[this.placeOf(index) * NUMBERS + 1]!;
  }

  /** Where a row stands, in rows; `index` from the oldest. */
  private placeOf(index: number): number {
    return (this.come - this.size + index) & (this.capacity - 1);
  }

  /** Doubles the tables, since most sandboxes have few changes. */
  private grow(): void {
    const places = Array.from({ length: this.size }, (_, index) => this.placeOf(index));
    const { numbers, references, writes } = this;
    this.capacity = Math.max(1, 2 * this.capacity);
    this.lots.resize(this.capacity, this.come - this.size, this.come);
    this.numbers = new Float64Array(this.capacity * NUMBERS);
    this.writes = new Uint8Array(this.capacity);
    this.references = new Array(this.capacity * REFERENCES).fill(undefined);
    for (const [index, old] of places.entries()) {
      const place = this.placeOf(index);
      this.writes[place] = writes[old]!;
      this.numbers.set(numbers.subarray(old * NUMBERS, (old + 1) * NUMBERS), place * NUMBERS);
      for (let i = 0; i < REFERENCES; i++)
        this.references[place * REFERENCES + i] = references[old * REFERENCES + i];
    }
  }
}
