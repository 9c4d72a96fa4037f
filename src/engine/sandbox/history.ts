import type { RootLine } from "../state/kept-root.ts";
import type { EntryStates } from "./entry-states.ts";
import { type Act, type EntryName, HistoryEntry } from "./history-entry.ts";
import { HistoryList } from "./history-list.ts";
import { HistoryListeners } from "./history-listeners.ts";
import { type HistoryStory, revivedEntries, type StoredHistory } from "./history-story.ts";
import { type AnsweredWith, refusalOf } from "./request-title.ts";

/** Where something comes from, as ids of entries. */
export interface Provenance {
  cause: string | null;
  advanced_by: string | null;
}

interface Happened extends Pick<HistoryEntry, "at" | "seq" | "sequence" | "parent" | "journal"> {
  readonly act: Act;
  readonly from: Provenance;
  readonly states: EntryStates;
}

/** The journal of the same sandbox: both count the same `seq`. */
interface SharedLog {
  readonly lastSequence: number;
  nextSeq(): number;
  /** What comes next has a greater `seq` than this. */
  skipSeqs(until: number): void;
}

/**
 * What changed a sandbox's world, in the order in which it happened (interfaces 10): a bounded list, whose older
 * entries let go of the states that they hold before they go themselves.
 */
export class History {
  /** Grows with whatever is said anew. */
  revision = 0;
  private readonly list: HistoryList;
  /** Position before the first entry of this day, and what its ids begin with. */
  private base = 0;
  private prefix = "h_";
  /** The newest entry that was written down by an earlier server. */
  private revived = 0;
  /** The newest entry that somebody was handed. */
  private lent = 0;
  private lendings = 0;
  private readonly listeners = new HistoryListeners();
  private readonly journal: SharedLog;

  /** `journal`: of the same sandbox, so that requests and changes of one instant can be told in their order. */
  constructor(limit: number, journal: SharedLog) {
    this.list = new HistoryList(limit);
    this.journal = journal;
  }

  /** How many entries there may be. */
  get limit(): number {
    return this.list.limit;
  }

  /** The roots that are kept. */
  get roots(): RootLine {
    return this.list.roots;
  }

  /** A new first day; ids go on differing from those before. */
  begin(resets: number): void {
    this.prefix = prefixOf(resets);
    this.base = this.lastSequence;
    this.list.replace([], { last: this.base, dropped: 0 });
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
    const sequence = this.lastSequence + 1;
    const journal = this.journal.lastSequence;
    const entry = this.makeEntry({
      act,
      from,
      at,
      states,
      seq: this.journal.nextSeq(),
      sequence,
      parent,
      journal,
    });
    this.list.push(entry);
    this.tell();
    return entry;
  }

  private makeEntry({ act, from, states, ...where }: Happened): HistoryEntry {
    const place = { ...where, ...from, prefix: this.prefix, number: where.sequence - this.base };
    states.end = where.sequence;
    return new HistoryEntry(place, act, states);
  }

  /** What an act has for an entry: undefined where it has none, or none any more. */
  entryOf({ entry }: Act): HistoryEntry | undefined {
    return entry;
  }

  /** The name of an act's entry, even where that was evicted; null where it has none in this sandbox's present day. */
  nameOf({ entry }: Act): EntryName | null {
    return entry ?? null;
  }

  /** A request has been answered; a fault may have said otherwise than what was done. @param answer as journalled */
  answered(act: Act, answer: AnsweredWith): void {
    this.entryOf(act)?.answered(refusalOf(answer), answer.sequence);
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
    return this.list.dropped;
  }

  /** The position of the newest entry, 0 before the first. */
  get lastSequence(): number {
    return this.list.last;
  }

  get isClosed(): boolean {
    return this.listeners.isClosed;
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
    return this.list.at(this.lastSequence);
  }

  /** Whether nothing has come since what an act has for an entry. */
  isNewest({ entry }: Act): boolean {
    return entry?.sequence === this.lastSequence;
  }

  /** Oldest first. */
  entries(): readonly HistoryEntry[] {
    this.lend();
    return this.list.all();
  }

  /** Those after a position, oldest first. */
  since(sequence: number): readonly HistoryEntry[] {
    this.lend();
    return this.list.since(sequence);
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
  leaving(key: string): string | null {
    return this.leavingUpTo(this.lastSequence, key);
  }

  /** The same among what an earlier server wrote down, whose records are others by now. */
  revivedLeaving(key: string): string | null {
    return this.leavingUpTo(this.revived, key);
  }

  private leavingUpTo(newest: number, key: string): string | null {
    return this.list.findLast(newest, (entry) => !entry.isUndone && entry.leaves.includes(key))?.id ?? null;
  }

  /** More work is left to be done by the entry of this id, if it is still there. */
  leave(id: string, key: string): void {
    const entry = this.named(id);
    if (entry !== undefined) entry.leaves = [...entry.leaves, key];
  }

  resize(limit: number): void {
    this.list.resize(limit);
  }

  /** Lets the oldest states go until the rest hold no more than so many bytes; their entries stay. */
  letGoOf(bytes: number): void {
    this.list.letGoOf(bytes);
  }

  story(): HistoryStory {
    const entries = new Map(this.entries().map((entry) => [entry, entry.revision]));
    return { about: { next: this.lastSequence + 1, base: this.base, dropped: this.dropped }, entries };
  }

  /** Goes on telling what was written down; the states of then are gone. */
  revive(stored: StoredHistory, resets: number): void {
    const { next, base, dropped } = stored.about;
    this.prefix = prefixOf(resets);
    this.base = base;
    this.journal.skipSeqs(next - 1);
    this.revived = next - 1;
    this.list.replace(revivedEntries(stored), { last: this.revived, dropped });
  }

  /** Calls back some time after there is something new, and at the end; returns the way to stop. */
  subscribe(listener: () => void): () => void {
    return this.listeners.add(listener);
  }

  close(): void {
    this.listeners.close();
  }

  private lend(): void {
    this.lent = this.lastSequence;
    this.lendings += 1;
  }

  private tell(): void {
    this.revision += 1;
    this.listeners.tell();
  }
}

/** Each first day has its own, so that no id comes twice. */
function prefixOf(resets: number): string {
  return resets === 0 ? "h_" : `h_${resets}_`;
}
