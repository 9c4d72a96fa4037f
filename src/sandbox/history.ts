import { RootLine } from "../state/kept-root.ts";
import { EntryList } from "./entry-list.ts";
import type { EntryStates } from "./entry-states.ts";
import { type Act, type EntryName, HistoryEntry, type StoredEntry } from "./history-entry.ts";
import { type HistoryRows, ROW_COST, type Row } from "./history-rows.ts";
import { HistoryTail } from "./history-tail.ts";
import { type AnsweredWith, refusalOf } from "./request-title.ts";
import type { RequestChange, RequestMoment } from "./row-lot.ts";

/** Of all kept states of a sandbox, as the recorder estimates them. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

/** Where something comes from, as ids of entries. */
export interface Provenance {
  cause: string | null;
  advanced_by: string | null;
}

/** A history at one moment, for whoever keeps it: which entries there are, and how far each has come. */
export interface HistoryStory {
  about: { next: number; base: number; dropped: number };
  entries: ReadonlyMap<HistoryEntry, number>;
}

interface Put {
  readonly act: Act;
  readonly from: Provenance;
  /** Milliseconds since 1970 on the sandbox's clock. */
  readonly at: number;
  readonly states: EntryStates;
  /** The entry whose state it goes on from, by position. */
  readonly parent: number;
  /** Position of the newest entry of the journal. */
  readonly journal: number;
}

/** A history as it was written down. */
export interface StoredHistory {
  about: HistoryStory["about"];
  entries: readonly StoredEntry[];
}

/**
 * What changed a sandbox's world, in the order in which it happened (interfaces 10): a bounded list, whose older
 * entries let go of the states that they hold before they go themselves.
 */
export class History {
  /** Grows with whatever is said anew. */
  revision = 0;
  limit: number;
  /** The roots that are kept. */
  readonly roots = new RootLine();
  private readonly list = new EntryList();
  /** What comes after the list. */
  private readonly tail = new HistoryTail(this.roots);
  /** Position before the first entry of this day, and what its ids begin with. */
  private base = 0;
  private prefix = "h_";
  private lost = 0;
  private bytes = 0;
  /** The oldest entry whose states may be kept. */
  private oldestKept = 1;
  /** The newest entry that was written down by an earlier server. */
  private revived = 0;
  private closed = false;
  private isTelling = false;
  /** The newest entry that somebody was handed. */
  private lent = 0;
  private lendings = 0;
  private readonly listeners = new Set<() => void>();
  private readonly journal: { readonly lastSequence: number };

  /** `journal`: of the same sandbox, so that requests and changes of one instant can be told in their order. */
  constructor(limit: number, journal: { readonly lastSequence: number }) {
    this.limit = limit;
    this.journal = journal;
  }

  /** A new first day; ids go on differing from those before. */
  begin(resets: number): void {
    this.prefix = prefixOf(resets);
    this.base = this.lastSequence;
    this.tail.clear();
    this.list.replace([], this.base + 1);
    this.oldestKept = this.list.next;
    this.lost = 0;
    this.bytes = 0;
    this.tell();
  }

  /**
   * Adds what happened; `states` is of its own cost.
   * @param at milliseconds since 1970 on the sandbox's clock
   * @param parent the entry whose state it goes on from, by position
   */
  add(
    act: Act,
    from: Provenance,
    { at, states, parent = this.lastSequence }: { at: number; states: EntryStates; parent?: number },
  ): HistoryEntry {
    this.endRows();
    const entry = this.put({ act, from, at, states, parent, journal: this.journal.lastSequence });
    this.bytes += states.cost;
    this.keepWithin();
    this.tell();
    return entry;
  }

  /** Adds a request that goes on from the newest row, or begins with what the rows do; returns its position. */
  addRow(change: RequestChange, moment: RequestMoment): number {
    this.rows.add(change, moment, this.journal.lastSequence);
    this.bytes += ROW_COST;
    const position = this.lastSequence;
    if (this.rows.endsLot) this.keepWithin();
    this.tell();
    return position;
  }

  /** Requests whose rows come now; the next one may go on from the newest. */
  get rows(): HistoryRows {
    return this.tail.rows;
  }

  /** The next row begins anew: something else comes before it. */
  endRows(): void {
    for (const row of this.tail.endRows()) this.putRow(row);
  }

  /** Makes entries of all rows, for whoever wants to see one. */
  private settle(): void {
    this.dropExcess();
    for (const each of this.tail.take()) {
      if (each instanceof HistoryEntry) this.list.push(each);
      else this.putRow(each);
    }
  }

  private putRow({ request, subject, now: at, journal, journaled, states }: Row): void {
    const act = { kind: "request" as const, title: request.summary, subject: subject ?? undefined, request };
    const from = { cause: null, advanced_by: null };
    const entry = this.put({ act, from, at, states, parent: this.lastSequence, journal });
    if (journaled > 0) entry.answered(undefined, journaled);
  }

  private put({ act, from, states, ...where }: Put): HistoryEntry {
    const { prefix } = this;
    const sequence = this.lastSequence + 1;
    const place = { ...where, ...from, prefix, number: sequence - this.base, sequence };
    const entry = new HistoryEntry(place, act, states);
    states.end = sequence;
    if (this.tail.size === 0) this.list.push(entry);
    else this.tail.push(entry);
    return entry;
  }

  /** What an act has for an entry: undefined where it has none, or none any more. */
  entryOf({ entry, position }: Act): HistoryEntry | undefined {
    return entry !== undefined || position === undefined ? entry : this.entryAt(position);
  }

  /** Where there is a row, all rows become entries. */
  private entryAt(position: number): HistoryEntry | undefined {
    if (position >= this.list.next) {
      const found = this.tail.entryAt(position);
      if (found !== undefined) return found;
      this.settle();
    }
    return this.list.at(position);
  }

  /** The name of an act's entry, even where that was evicted; null where it has none in this sandbox's present day. */
  nameOf({ entry, position = 0 }: Act): EntryName | null {
    if (entry !== undefined) return entry;
    const { prefix, base } = this;
    return position > base ? { prefix, number: position - base } : null;
  }

  /** A request has been answered; a fault may have said otherwise than what was done. @param answer as journalled */
  answered(act: Act, answer: AnsweredWith): void {
    const refusal = refusalOf(answer);
    const { rows } = this;
    const row = (act.position ?? 0) - (this.lastSequence - rows.size) - 1;
    if (refusal === undefined && row >= 0) rows.answered(row, answer.sequence);
    else this.entryOf(act)?.answered(refusal, answer.sequence);
  }

  /** What leads to the newest entry holds, all else is undone. */
  settleLine(): void {
    this.settle();
    const line = new Set<number>();
    let at = this.lastSequence;
    for (let entry = this.list.at(at); entry !== undefined; entry = this.list.at(at)) {
      line.add(at);
      at = entry.parent;
    }
    for (const entry of this.list.all()) {
      const isUndone = !line.has(entry.sequence);
      if (entry.isUndone === isUndone) continue;
      entry.isUndone = isUndone;
      this.touch(entry);
    }
  }

  /** An entry says something new. */
  touch(entry: HistoryEntry): void {
    entry.revision += 1;
    this.tell();
  }

  get size(): number {
    return this.list.size + this.tail.size - this.excess;
  }

  /** Entries lost to the bound since the sandbox began or was reset. */
  get dropped(): number {
    return this.lost + this.excess;
  }

  /** How many are beyond the bound: rows come one by one, and the oldest go many at a time. */
  private get excess(): number {
    return Math.max(0, this.list.size + this.tail.size - this.limit);
  }

  /** The position of the newest entry, 0 before the first. */
  get lastSequence(): number {
    return this.list.next - 1 + this.tail.size;
  }

  get isClosed(): boolean {
    return this.closed;
  }

  /** Grows whenever somebody is handed entries. */
  get timesLent(): number {
    return this.lendings;
  }

  /** Whether somebody may hold it. */
  isLent({ sequence }: HistoryEntry): boolean {
    return sequence <= this.lent;
  }

  get newest(): HistoryEntry | undefined {
    return this.entryAt(this.lastSequence);
  }

  /** Whether nothing has come since what an act has for an entry. */
  isNewest({ entry, position = entry?.sequence }: Act): boolean {
    return position === this.lastSequence;
  }

  /** Oldest first. */
  entries(): readonly HistoryEntry[] {
    this.lend();
    return this.list.all();
  }

  /** Those after a position, oldest first. */
  since(sequence: number): readonly HistoryEntry[] {
    this.lend();
    return this.list.newest(this.lastSequence - sequence);
  }

  at(sequence: number): HistoryEntry | undefined {
    this.lend();
    return this.list.at(sequence);
  }

  find(id: string): HistoryEntry | undefined {
    this.lend();
    return this.named(id);
  }

  private named(id: string): HistoryEntry | undefined {
    const number = id.startsWith(this.prefix) ? Number(id.slice(this.prefix.length)) : Number.NaN;
    const found = this.entryAt(this.base + number);
    return found?.id === id ? found : undefined;
  }

  /** The id of the newest entry that left this work to be done, `collection\0id`, and was not undone. */
  leaving(key: string): string | null {
    this.settle();
    return this.leavingUpTo(this.lastSequence, key);
  }

  /** The same among what an earlier server wrote down, whose records are others by now. */
  revivedLeaving(key: string): string | null {
    return this.leavingUpTo(this.revived, key);
  }

  private leavingUpTo(newest: number, key: string): string | null {
    for (let at = newest; at >= this.list.first; at--) {
      const entry = this.list.at(at)!;
      if (!entry.isUndone && entry.leaves.includes(key)) return entry.id;
    }
    return null;
  }

  /** More work is left to be done by the entry of this id, if it is still there. */
  leave(id: string, key: string): void {
    const entry = this.named(id);
    if (entry !== undefined) entry.leaves = [...entry.leaves, key];
  }

  resize(limit: number): void {
    this.limit = limit;
    this.keepWithin();
  }

  /** Lets the oldest states go until the rest hold no more than so many bytes; their entries stay. */
  letGoOf(bytes: number): void {
    if (this.bytes > bytes) this.settle();
    while (this.bytes > bytes && this.oldestKept < this.list.next) {
      const entry = this.list.at(this.oldestKept++);
      this.bytes -= entry?.states?.cost ?? 0;
      entry?.letGo();
    }
  }

  story(): HistoryStory {
    const entries = new Map(this.entries().map((entry) => [entry, entry.revision]));
    return { about: { next: this.list.next, base: this.base, dropped: this.lost }, entries };
  }

  /** Goes on telling what was written down; the states of then are gone. */
  revive({ about: { next, base, dropped }, entries }: StoredHistory, resets: number): void {
    const bySequence = new Map(entries.map((entry) => [entry.sequence, entry]));
    const list: HistoryEntry[] = [];
    // Positions have no gaps: behind one that is missing, nothing could be found.
    for (let at = next - 1, entry = bySequence.get(at); entry !== undefined; entry = bySequence.get(--at))
      list.unshift(HistoryEntry.from(entry));
    this.tail.clear();
    this.list.replace(list, next);
    this.prefix = prefixOf(resets);
    this.base = base;
    this.lost = dropped;
    this.oldestKept = next;
    this.revived = next - 1;
    this.keepWithin();
  }

  /** Calls back some time after there is something new, and at the end; returns the way to stop. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  close(): void {
    this.closed = true;
    for (const listener of this.listeners) listener();
    this.listeners.clear();
  }

  private lend(): void {
    this.settle();
    this.lent = this.lastSequence;
    this.lendings += 1;
  }

  private keepWithin(): void {
    this.dropExcess();
    this.letGoOf(MAX_KEPT_BYTES);
  }

  private dropExcess(): void {
    for (let left = this.excess; left > 0; left--) this.drop();
  }

  private drop(): void {
    if (this.list.size > 0) this.bytes -= this.list.shift().states?.cost ?? 0;
    else {
      this.bytes -= this.tail.shift();
      this.list.skip();
    }
    this.lost += 1;
    this.oldestKept = Math.max(this.oldestKept, this.list.first);
  }

  /** Once for a burst, when what began it has been answered. */
  private tell(): void {
    this.revision += 1;
    if (this.isTelling || this.listeners.size === 0) return;
    this.isTelling = true;
    setImmediate(() => {
      this.isTelling = false;
      for (const listener of this.listeners) listener();
    });
  }
}

/** Each first day has its own, so that no id comes twice. */
function prefixOf(resets: number): string {
  return resets === 0 ? "h_" : `h_${resets}_`;
}
