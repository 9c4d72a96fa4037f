import { ChangeListeners } from "../state/concurrency.ts";
import type { HistoryEntry } from "./history-entry.ts";
import type { JournalEntry, TimelineEntry } from "./journal-entry.ts";

/** An event in a sandbox: a request or a delivery, a change of the world, or both. */
interface LogEntry extends TimelineEntry {
  change: HistoryEntry | undefined;
}

type Part = "exchange" | "change";

/** The one log of a sandbox. Journal and history are parts of it, each with a bound of its own. */
export class Timeline {
  /** Grows with every part that is added or changed. */
  revision = 0;
  private log: LogEntry[] = [];
  private lastNumber = 0;
  /** Indexes in the log before which no entry has the part. */
  private oldestIndexes = { exchange: 0, change: 0 };
  /** Entries without any part. */
  private emptyEntries = 0;

  /** The caller adds a part at once, since entries without one are removed. */
  append(number = this.lastNumber + 1): LogEntry {
    const entry = this.createEntry(number);
    this.log.push(entry);
    return entry;
  }

  /** Oldest first; those whose parts were all dropped may be among them. */
  get entries(): readonly LogEntry[] {
    return this.log;
  }

  /** Call this after a part was added to an entry, or has changed. @returns the timeline's revision now */
  increaseRevision(): number {
    this.revision += 1;
    return this.revision;
  }

  /** The entry of this number, added in its place if there is none; for entries that are restored. */
  getOrInsert(number: number): LogEntry {
    const index = this.log.findLastIndex((entry) => entry.number <= number);
    if (this.log[index]?.number === number) return this.log[index];
    const entry = this.createEntry(number);
    this.log.splice(index + 1, 0, entry);
    return entry;
  }

  /** Adds the request or delivery to an entry, which need not be the newest. */
  attach(entry: TimelineEntry, exchange: JournalEntry): void {
    entry.exchange = exchange;
    const index = this.log.findLastIndex((one) => one === entry);
    this.oldestIndexes.exchange = Math.min(this.oldestIndexes.exchange, index);
  }

  /** The oldest entry that still has this part. */
  findOldestWith(part: Part): LogEntry | undefined {
    while (
      this.oldestIndexes[part] < this.log.length &&
      this.log[this.oldestIndexes[part]]![part] === undefined
    )
      this.oldestIndexes[part] += 1;
    return this.log[this.oldestIndexes[part]];
  }

  drop(entry: LogEntry, part: Part): void {
    entry[part] = undefined;
    if (entry.exchange === undefined && entry.change === undefined) this.emptyEntries += 1;
    // Removes half of the log at once, so that the cost of an entry does not depend on the length of the log.
    if (this.emptyEntries > 64 && this.emptyEntries * 2 > this.log.length) this.compact();
  }

  dropAll(part: Part): void {
    for (const entry of this.log) entry[part] = undefined;
    this.compact();
  }

  private createEntry(number: number): LogEntry {
    this.lastNumber = Math.max(this.lastNumber, number);
    return { number, exchange: undefined, change: undefined, isUndone: false };
  }

  private compact(): void {
    this.log = this.log.filter(({ exchange, change }) => exchange !== undefined || change !== undefined);
    this.oldestIndexes = { exchange: 0, change: 0 };
    this.emptyEntries = 0;
  }
}

/** The entries of a timeline that have one part, within a bound. */
export abstract class TimelinePart<P extends Part, E extends NonNullable<LogEntry[P]>> {
  limit: number;
  size = 0;
  /** Entries lost to the bounds since the sandbox began, or since this part was cleared. */
  dropped = 0;
  /** The sequence number of the newest entry, 0 before the first; each entry has the next number. */
  lastSequence = 0;
  isClosed = false;
  protected readonly timeline: Timeline;
  private readonly part: P;
  protected readonly listeners = new ChangeListeners<E | undefined>();

  constructor(part: P, limit: number, timeline: Timeline) {
    this.part = part;
    this.limit = limit;
    this.timeline = timeline;
  }

  /** Lists the entries by sequence number. */
  entries(): readonly E[] {
    return this.timeline.entries.flatMap((entry) => (entry[this.part] as E | undefined) ?? []);
  }

  listSince(sequence: number): readonly E[] {
    return sequence >= this.lastSequence ? [] : this.entries().filter((entry) => entry.sequence > sequence);
  }

  /** A smaller bound takes effect at once. */
  resize(limit: number): void {
    this.limit = limit;
    this.evictExcess();
  }

  /**
   * Calls the listener after changes, with the new entry or undefined, and at the end.
   * @returns a function that unsubscribes
   */
  subscribe(listener: (entry: E | undefined) => void): () => void {
    return this.listeners.add(listener);
  }

  /** Call this when the sandbox is deleted or the server ends; calls the listeners a last time. */
  close(): void {
    this.isClosed = true;
    this.listeners.notify(undefined);
    this.listeners.clear();
  }

  protected get oldest(): E {
    return this.timeline.findOldestWith(this.part)![this.part] as E;
  }

  protected dropOldest(): void {
    this.timeline.drop(this.timeline.findOldestWith(this.part)!, this.part);
    this.size -= 1;
    this.dropped += 1;
  }

  /** @param lostCount the entries that count as lost afterwards */
  protected dropAll(lostCount = 0): void {
    this.timeline.dropAll(this.part);
    this.size = 0;
    this.dropped = lostCount;
  }

  protected abstract evictExcess(): void;
}
