import { EntryList } from "./entry-list.ts";
import type { EntryStates } from "./entry-states.ts";
import { type Act, HistoryEntry, type StoredEntry } from "./history-entry.ts";

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
  private readonly list = new EntryList();
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
  /** The newest entry that somebody was handed: up to there, none is written anew. */
  private lent = 0;
  private lendings = 0;
  /**
   * An evicted entry that nobody holds, for the next one. It lives in the old generation by now, where a new one for
   * each request would fill it up.
   */
  private spare: HistoryEntry | undefined = undefined;
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
    this.list.replace([]);
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
    const sequence = this.list.next;
    const { prefix } = this;
    const number = sequence - this.base;
    const journal = this.journal.lastSequence;
    const { cause, advanced_by } = from;
    const place = { prefix, number, sequence, at, parent, journal, cause, advanced_by };
    const entry = this.spare?.write(place, act, states) ?? new HistoryEntry(place, act, states);
    this.spare = undefined;
    states.end = sequence;
    this.list.push(entry);
    this.bytes += states.cost;
    this.keepWithin();
    this.tell();
    return entry;
  }

  /** What leads to the newest entry holds, all else is undone. */
  settleLine(): void {
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
    return this.list.size;
  }

  /** Entries lost to the bound since the sandbox began or was reset. */
  get dropped(): number {
    return this.lost;
  }

  /** The position of the newest entry, 0 before the first. */
  get lastSequence(): number {
    return this.list.next - 1;
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

  /** Whether it has not been evicted. */
  has(entry: HistoryEntry): boolean {
    return this.list.at(entry.sequence) === entry;
  }

  /** The states of an evicted entry that nobody holds, which the next one may have. */
  get spareStates(): EntryStates | undefined {
    return this.spare?.states;
  }

  /** The newest entry; not to be kept, since it may become another. */
  get newest(): HistoryEntry | undefined {
    return this.list.at(this.lastSequence);
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
    const found = this.list.at(this.base + number);
    return found?.id === id ? found : undefined;
  }

  /** The id of the newest entry that left this work to be done, `collection\0id`, and was not undone. */
  leaving(key: string, upTo = this.lastSequence): string | null {
    for (let at = upTo; at >= this.list.first; at--) {
      const entry = this.list.at(at)!;
      if (!entry.isUndone && entry.leaves.includes(key)) return entry.id;
    }
    return null;
  }

  /** The same among what an earlier server wrote down, whose records are others by now. */
  revivedLeaving(key: string): string | null {
    return this.leaving(key, this.revived);
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
    this.lent = this.lastSequence;
    this.lendings += 1;
  }

  private keepWithin(): void {
    while (this.size > this.limit) this.drop();
    if (this.spare !== undefined) this.list.lookAhead();
    this.letGoOf(MAX_KEPT_BYTES);
  }

  private drop(): void {
    const entry = this.list.shift();
    this.bytes -= entry.states?.cost ?? 0;
    if (entry.isOver && !this.isLent(entry)) this.spare = entry;
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
