import type { RequestCounter } from "./counters.ts";
import type { HistoryEntry } from "./history-entry.ts";
import { type AnsweredRequest, type JournalEntry, type StreamedBody, sizeInBytes } from "./journal-entry.ts";
import type { Timeline } from "./timeline.ts";

export type { JournalEntry };

const MAX_JOURNAL_BYTES = 32 * 1024 * 1024;

/** The requests and deliveries of a timeline, in the order of their answers, within bounds (interfaces 4). */
export class Journal {
  limit: number;
  size = 0;
  /** Entries lost to the bounds since the sandbox began or was reset. */
  dropped = 0;
  /** The position of the newest entry, 0 before the first. */
  lastSequence = 0;
  /** How often it was cleared: positions before and after belong to different journals. */
  clears = 0;
  isClosed = false;
  private bytes = 0;
  private readonly timeline: Timeline;
  private readonly counter: RequestCounter | undefined;
  private readonly listeners = new Set<(entry: JournalEntry | undefined) => void>();

  constructor(limit: number, timeline: Timeline, counter?: RequestCounter) {
    this.limit = limit;
    this.timeline = timeline;
    this.counter = counter;
  }

  /** @param change what it is in the history, where it has changed something */
  add(answered: AnsweredRequest, change?: HistoryEntry): JournalEntry {
    // What the sandbox sends is no request to it.
    if (answered.delivery === undefined) this.counter?.count(answered.operation, answered.status);
    // Where the history's bound has dropped the change meanwhile, its entry may have left the timeline.
    const entry = change?.entry.change === undefined ? this.timeline.append() : change.entry;
    this.lastSequence += 1;
    // The given object becomes the entry: copying its twenty fields would cost a small request a tenth of its time.
    const exchange = answered as { -readonly [K in keyof JournalEntry]: JournalEntry[K] };
    // A copy, since the bytes may be part of a larger buffer that would stay in memory with them.
    exchange.request_body &&= new Uint8Array(exchange.request_body);
    exchange.entry = entry;
    exchange.sequence = this.lastSequence;
    exchange.history = change?.id ?? null;
    exchange.revision = this.timeline.touch();
    this.timeline.attach(entry, exchange);
    if (answered.delivery === undefined) change?.answered(answered);
    this.size += 1;
    this.bytes += sizeInBytes(exchange);
    this.evictExcess();
    for (const listener of this.listeners) listener(exchange);
    return exchange;
  }

  /** A streamed answer has ended; `sent` is undefined when the client left before. */
  complete(
    exchange: JournalEntry,
    sent: { bytes: number; sha256: string; body: Uint8Array | undefined } | undefined,
  ): void {
    const streamed: StreamedBody = sent === undefined ? "cut" : { bytes: sent.bytes, sha256: sent.sha256 };
    exchange.streamed = streamed;
    if (exchange.entry.exchange !== exchange) return;
    exchange.response_body = sent?.body;
    this.bytes += sent?.body?.length ?? 0;
    this.evictExcess();
  }

  /** Oldest first. */
  entries(): readonly JournalEntry[] {
    const exchanges = this.timeline.entries.flatMap(({ exchange }) => exchange ?? []);
    // Requests that were under way at once may be answered in another order than they changed the world.
    return exchanges.sort((a, b) => a.sequence - b.sequence);
  }

  /** Those after a position, oldest first; what the bounds have evicted since is not among them. */
  since(sequence: number): readonly JournalEntry[] {
    if (sequence >= this.lastSequence) return [];
    return this.entries().filter((entry) => entry.sequence > sequence);
  }

  /** The entry with this `seq`, or the newest one with this `x-request-id`, which a rewind makes repeat. */
  find(id: string): JournalEntry | undefined {
    const seq = Number(id);
    return this.entries().findLast((exchange) => exchange.id === id || exchange.entry.seq === seq);
  }

  clear(): void {
    this.timeline.dropAll("exchange");
    this.size = 0;
    this.bytes = 0;
    this.dropped = 0;
    this.clears += 1;
    for (const listener of this.listeners) listener(undefined);
  }

  /** Calls back with each new entry, and with undefined when it was cleared or closed; returns the way to stop. */
  subscribe(listener: (entry: JournalEntry | undefined) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** A smaller bound takes effect at once. */
  resize(limit: number): void {
    this.limit = limit;
    this.evictExcess();
  }

  /** The sandbox is gone; its listeners are called a last time. */
  close(): void {
    this.isClosed = true;
    for (const listener of this.listeners) listener(undefined);
    this.listeners.clear();
  }

  private evictExcess(): void {
    while (this.size > this.limit || (this.bytes > MAX_JOURNAL_BYTES && this.size > 0)) {
      const oldest = this.timeline.oldestWith("exchange")!;
      this.bytes -= sizeInBytes(oldest.exchange!);
      this.timeline.drop(oldest, "exchange");
      this.size -= 1;
      this.dropped += 1;
    }
  }
}
