import type { RequestCounter } from "./counters.ts";
import type { HistoryEntry } from "./history-entry.ts";
import { type ExchangeDetails, estimateBytes, type JournalEntry } from "./journal-entry.ts";
import { type Timeline, TimelinePart } from "./timeline.ts";

const MAX_JOURNAL_BYTES = 32 * 1024 * 1024;

export interface SavedJournalEntry extends Omit<JournalEntry, "timelineEntry" | "revision" | "bytes"> {
  /** The number of its timeline entry. */
  seq: number;
}

/**
 * The requests and deliveries of a timeline, in the order of their answers, within bounds (interfaces.md 4). Listeners
 * receive each new entry, and undefined if the journal was cleared or closed.
 */
export class Journal extends TimelinePart<"exchange", JournalEntry> {
  /** How often it was cleared: positions before and after a clearing belong to different journals. */
  clearCount = 0;
  /** Whether the newest eviction was due to the size of the entries, which no setting bounds. */
  isEvictedBySize = false;
  private bytes = 0;
  private readonly counter: RequestCounter | undefined;

  constructor(limit: number, timeline: Timeline, counter?: RequestCounter) {
    super("exchange", limit, timeline);
    this.counter = counter;
  }

  /** @param change its entry in the history, if it has changed something */
  add(details: ExchangeDetails, change?: HistoryEntry): JournalEntry {
    // A delivery is sent by the sandbox, and so is not a request to it.
    if (details.delivery === undefined) this.counter?.count(details.operation, details.status);
    // The entry of the change may have left the timeline, or be older than all that a full journal keeps.
    const isKept =
      change?.timelineEntry.change !== undefined &&
      (this.size < this.limit || change.timelineEntry.number > this.oldest.timelineEntry.number);
    const entry = isKept ? change.timelineEntry : this.timeline.append();
    this.lastSequence += 1;
    // The given object becomes the entry: copying its twenty fields would cost a small request a tenth of its time.
    const exchange = details as { -readonly [K in keyof JournalEntry]: JournalEntry[K] };
    // A copy, since the bytes may be part of a larger buffer that would stay in memory with them.
    exchange.request_body &&= new Uint8Array(exchange.request_body);
    exchange.timelineEntry = entry;
    exchange.sequence = this.lastSequence;
    exchange.history = change?.id ?? null;
    exchange.revision = this.timeline.increaseRevision();
    this.timeline.attach(entry, exchange);
    if (details.delivery === undefined) change?.recordAnswer(details);
    this.size += 1;
    exchange.bytes = estimateBytes(exchange);
    this.bytes += exchange.bytes;
    this.evictExcess();
    this.listeners.notify(exchange);
    return exchange;
  }

  /** Continues a saved journal. @param entries in the order of `sequence` */
  restoreSaved(entries: readonly SavedJournalEntry[], dropped: number): void {
    for (const { seq, ...saved } of entries) {
      const entry = this.timeline.getOrInsert(seq);
      const exchange: JournalEntry = {
        ...saved,
        timelineEntry: entry,
        revision: this.timeline.increaseRevision(),
        bytes: 0,
      };
      exchange.bytes = estimateBytes(exchange);
      this.timeline.attach(entry, exchange);
      this.lastSequence = Math.max(this.lastSequence, exchange.sequence);
      this.size += 1;
      this.bytes += exchange.bytes;
    }
    this.dropped = dropped;
    this.evictExcess();
  }

  /** Call this at the end of a streamed answer; `sent` is undefined if the client left before. */
  complete(
    exchange: JournalEntry,
    sent: { bytes: number; sha256: string; body: Uint8Array | undefined } | undefined,
  ): void {
    exchange.streamed = sent === undefined ? "cut" : { bytes: sent.bytes, sha256: sent.sha256 };
    if (exchange.timelineEntry.exchange !== exchange) return;
    exchange.response_body = sent?.body;
    exchange.bytes += sent?.body?.length ?? 0;
    this.bytes += sent?.body?.length ?? 0;
    this.evictExcess();
  }

  override entries(): readonly JournalEntry[] {
    // Concurrent requests may be answered in another order than they changed the world.
    return [...super.entries()].sort((a, b) => a.sequence - b.sequence);
  }

  /** The entry with this `seq`, or the newest one with this `x-request-id`; a rewind repeats ids. */
  find(id: string): JournalEntry | undefined {
    const seq = Number(id);
    return this.entries().findLast((exchange) => exchange.id === id || exchange.timelineEntry.number === seq);
  }

  clear(): void {
    this.dropAll();
    this.bytes = 0;
    this.isEvictedBySize = false;
    this.clearCount += 1;
    this.listeners.notify(undefined);
  }

  protected evictExcess(): void {
    while (this.size > this.limit || (this.bytes > MAX_JOURNAL_BYTES && this.size > 0)) {
      this.isEvictedBySize = this.size <= this.limit;
      this.bytes -= this.oldest.bytes;
      this.dropOldest();
    }
  }
}
