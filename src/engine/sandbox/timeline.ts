import type { HistoryEntry } from "./history-entry.ts";
import type { EntryHead, JournalEntry } from "./journal-entry.ts";

/** Something that happened in a sandbox: a request or a delivery, a change of the world, or both. */
export interface TimelineEntry extends EntryHead {
  change: HistoryEntry | undefined;
}

type Part = "exchange" | "change";

/** The one log of a sandbox. Journal and history are views of it, each with bounds on its own part of the entries. */
export class Timeline {
  /** Grows with every part that is added or changed. */
  revision = 0;
  private log: TimelineEntry[] = [];
  private lastSeq = 0;
  /** Where to look for the oldest entry with a part: there is none before it. */
  private oldest = { exchange: 0, change: 0 };
  private empty = 0;

  append(seq = this.lastSeq + 1): TimelineEntry {
    this.lastSeq = Math.max(this.lastSeq, seq);
    const entry = { seq, exchange: undefined, change: undefined, isUndone: false };
    this.log.push(entry);
    return entry;
  }

  /** Oldest first; those whose parts were all dropped may be among them. */
  get entries(): readonly TimelineEntry[] {
    return this.log;
  }

  /** A part was added to an entry, or has changed. @returns the timeline's revision now */
  touch(): number {
    this.revision += 1;
    return this.revision;
  }

  /** An entry that is older than others gets a part. */
  attach(entry: EntryHead, exchange: JournalEntry): void {
    entry.exchange = exchange;
    if (entry !== this.log.at(-1)) this.oldest.exchange = 0;
  }

  /** The oldest entry that still has this part. */
  oldestWith(part: Part): TimelineEntry | undefined {
    while (this.oldest[part] < this.log.length && this.log[this.oldest[part]]![part] === undefined)
      this.oldest[part] += 1;
    return this.log[this.oldest[part]];
  }

  drop(entry: TimelineEntry, part: Part): void {
    entry[part] = undefined;
    if (entry.exchange === undefined && entry.change === undefined) this.empty += 1;
    // Half of them at once, so that an entry costs the same however many there are.
    if (this.empty > 64 && this.empty * 2 > this.log.length) this.compact();
  }

  dropAll(part: Part): void {
    for (const entry of this.log) entry[part] = undefined;
    this.compact();
  }

  private compact(): void {
    this.log = this.log.filter(({ exchange, change }) => exchange !== undefined || change !== undefined);
    this.oldest = { exchange: 0, change: 0 };
    this.empty = 0;
  }
}
