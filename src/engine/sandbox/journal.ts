import { JournalBytes } from "./journal-bytes.ts";
import { type AnsweredRequest, JournalEntry } from "./journal-entry.ts";
import type { RequestTally } from "./request-tally.ts";

export type { JournalEntry };

const MAX_JOURNAL_BYTES = 32 * 1024 * 1024;

/**
 * The bounded log of what reached a sandbox. Writing an entry costs little: its texts go to blocks of bytes
 * (see JournalBytes) and are rendered, with secrets masked, when somebody reads them (see control/journal).
 */
export class Journal {
  private ring: JournalEntry[] = [];
  private readonly texts = new JournalBytes();
  /** The newest entry that somebody was handed: up to there, neither entries nor blocks are written anew. */
  private lent = 0;
  /**
   * An evicted entry that nobody holds, for the next request. It lives in the old generation by now, where a new
   * one for each request would fill it up: what its collection costs was most of the slowest answers' time.
   */
  private spare: JournalEntry | undefined = undefined;
  private head = 0;
  private bytes = 0;
  private lost = 0;
  private next = 1;
  private seq = 0;
  private closed = false;
  /** How often it was cleared: positions before and after are of different stories. */
  clears = 0;
  private readonly listeners = new Set<(entry: JournalEntry | undefined) => void>();
  private readonly tally: RequestTally | undefined;
  limit: number;

  constructor(limit: number, tally?: RequestTally) {
    this.limit = limit;
    this.tally = tally;
  }

  add(answered: AnsweredRequest): JournalEntry {
    const entry = this.entryOf(answered, this.next++);
    entry.seq = answered.seq ?? this.nextSeq();
    // What went out of the sandbox is no request to it.
    if (answered.delivery === undefined) this.tally?.count(entry.operation, entry.status);
    this.ring.push(entry);
    this.bytes += entry.cost();
    this.keepWithin();
    if (this.listeners.size > 0) this.tell(entry);
    // An answer that is still being sent is completed later.
    if (answered.streamed !== undefined) this.lent = entry.sequence;
    return entry;
  }

  /** The next number of the sandbox's timeline. */
  nextSeq(): number {
    this.seq += 1;
    return this.seq;
  }

  /** What comes next has a greater `seq` than this. */
  skipSeqs(until: number): void {
    this.seq = Math.max(this.seq, until);
  }

  /** A streamed answer has ended; `sent` is undefined when the client left before. */
  complete(
    entry: JournalEntry,
    sent: { bytes: number; sha256: string; body: Uint8Array | undefined } | undefined,
  ): void {
    const held = this.ring[this.placeOf(entry.sequence)] === entry;
    if (held) this.bytes -= entry.cost();
    if (sent === undefined) entry.complete("cut", undefined);
    else entry.complete({ bytes: sent.bytes, sha256: sent.sha256 }, held ? sent.body : undefined);
    if (!held) return;
    this.bytes += entry.cost();
    this.keepWithin();
  }

  get size(): number {
    return this.ring.length - this.head;
  }

  /** Entries lost to the bounds since the sandbox began or was reset. */
  get dropped(): number {
    return this.lost;
  }

  /** Oldest first. */
  entries(): readonly JournalEntry[] {
    this.lent = this.lastSequence;
    return this.head === 0 ? this.ring : this.ring.slice(this.head);
  }

  /** Those after a position, oldest first; what the bounds have evicted since is not among them. */
  since(sequence: number): readonly JournalEntry[] {
    this.lent = this.lastSequence;
    return this.ring.slice(Math.max(this.head, this.placeOf(sequence + 1)));
  }

  /** The entry at a position; undefined where there is none any more. */
  at(sequence: number): JournalEntry | undefined {
    const entry = this.ring[this.placeOf(sequence)];
    return entry && this.lend(entry);
  }

  /** The position of the newest entry, 0 before the first. */
  get lastSequence(): number {
    return this.next - 1;
  }

  /** The entry with this `seq`, or the newest one with this `x-request-id`, which a rewind makes repeat. */
  find(id: string): JournalEntry | undefined {
    const seq = Number(id);
    for (let at = this.ring.length - 1; at >= this.head; at--) {
      const entry = this.ring[at]!;
      if (entry.id === id || entry.seq === seq) return this.lend(entry);
    }
    return undefined;
  }

  clear(): void {
    this.ring = [];
    this.head = 0;
    this.bytes = 0;
    this.lost = 0;
    this.texts.clear();
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
    this.keepWithin();
  }

  /** The sandbox is gone; whoever follows it is told. */
  close(): void {
    this.closed = true;
    for (const listener of this.listeners) listener(undefined);
    this.listeners.clear();
  }

  get isClosed(): boolean {
    return this.closed;
  }

  private entryOf(answered: AnsweredRequest, sequence: number): JournalEntry {
    const spare = this.spare;
    if (spare === undefined) return new JournalEntry(answered, sequence, this.texts);
    this.spare = undefined;
    spare.write(answered, sequence, this.texts);
    return spare;
  }

  /** Sequences grow by one without gaps, so a place follows from the last one's; below `head` where there is none. */
  private placeOf(sequence: number): number {
    return this.ring.length - 1 - (this.lastSequence - sequence);
  }

  private lend(entry: JournalEntry): JournalEntry {
    this.lent = Math.max(this.lent, entry.sequence);
    return entry;
  }

  private keepWithin(): void {
    while (this.size > this.limit || (this.bytes > MAX_JOURNAL_BYTES && this.size > 0)) this.evict();
  }

  private tell(entry: JournalEntry): void {
    this.lent = entry.sequence;
    for (const listener of this.listeners) listener(entry);
  }

  private evict(): void {
    const entry = this.ring[this.head]!;
    this.bytes -= entry.cost();
    const isLent = entry.sequence <= this.lent;
    if (entry.block !== undefined) this.texts.release(entry.block, isLent);
    if (!isLent) this.spare = entry;
    this.ring[this.head] = undefined as unknown as JournalEntry;
    this.head += 1;
    this.lost += 1;
    // Compacting by halves keeps eviction O(1) on average without a fixed ring per sandbox.
    if (this.head > 64 && this.head * 2 > this.ring.length) {
      this.ring = this.ring.slice(this.head);
      this.head = 0;
    }
  }
}
