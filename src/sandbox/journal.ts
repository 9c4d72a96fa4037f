import type { RequestTally } from "./request-tally.ts";

/**
 * The bounded log of what reached a sandbox. Entries hold references to what the request and the answer
 * already were, so that writing one costs almost nothing; they are rendered, with secrets masked, when
 * somebody reads them (see control/journal).
 */
export interface JournalEntry {
  /** `req_…`, also the x-request-id. */
  id: string;
  /** Position since the sandbox began; grows by one. */
  sequence: number;
  /** Milliseconds since 1970 on the sandbox's clock. */
  at: number;
  /** The same at the moment of the state change; undefined where there was none. */
  committed_at: number | undefined;
  operation: string | null;
  method: string;
  /** Without sandbox prefix and query. */
  path: string;
  query: string;
  status: number;
  /** Catalogue code of an error answer. */
  code: string | null;
  duration_ms: number;
  principal: string | null;
  api_key: string | null;
  decision: string;
  /** Why: the rule that struck, its draw, the nearest rule that did not match. */
  reasons: readonly string[];
  warnings: readonly string[];
  /** Name, value, name, value … as received. */
  request_headers: readonly string[];
  /** Undefined also for an upload that was too long to keep; `request_bytes` tells. */
  request_body: Buffer | string | undefined;
  request_bytes: number;
  response_headers: readonly string[];
  response_body: Buffer | string | undefined;
  /** Of an answer that was made while it was sent: how it came out, unless the client left. */
  streamed: { bytes: number; sha256: string } | "under way" | "cut" | undefined;
}

const BYTE_LIMIT = 32 * 1024 * 1024;
/** What an entry costs besides its bodies; measured roughly, so that a million tiny entries still count. */
const ENTRY_OVERHEAD = 1024;

export class Journal {
  private ring: JournalEntry[] = [];
  private head = 0;
  private bytes = 0;
  private lost = 0;
  private next = 1;
  private closed = false;
  private readonly listeners = new Set<(entry: JournalEntry | undefined) => void>();
  private readonly tally: RequestTally | undefined;
  limit: number;

  constructor(limit: number, tally?: RequestTally) {
    this.limit = limit;
    this.tally = tally;
  }

  add(entry: Omit<JournalEntry, "sequence">): JournalEntry {
    const complete = entry as JournalEntry;
    complete.sequence = this.next++;
    this.tally?.count(complete.operation, complete.status);
    this.ring.push(complete);
    this.bytes += costOf(complete);
    this.keepWithin();
    for (const listener of this.listeners) listener(complete);
    return complete;
  }

  /** A streamed answer has ended; `sent` is undefined when the client left before. */
  complete(
    entry: JournalEntry,
    sent: { bytes: number; sha256: string; body: Buffer | undefined } | undefined,
  ): void {
    const { bytes, sha256, body } = sent ?? {};
    entry.streamed = bytes === undefined || sha256 === undefined ? "cut" : { bytes, sha256 };
    const held = this.ring[this.ring.length - 1 - (this.lastSequence - entry.sequence)] === entry;
    if (body === undefined || !held) return;
    entry.response_body = body;
    this.bytes += body.length;
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
    return this.head === 0 ? this.ring : this.ring.slice(this.head);
  }

  /** Those after a position, oldest first; what the bounds have evicted since is not among them. */
  since(sequence: number): readonly JournalEntry[] {
    const entries = this.entries();
    // Sequences grow by one without gaps, so the place follows from the last one's.
    const newer = (entries.at(-1)?.sequence ?? 0) - sequence;
    return newer <= 0 ? [] : entries.slice(Math.max(0, entries.length - newer));
  }

  /** The position of the newest entry, 0 before the first. */
  get lastSequence(): number {
    return this.next - 1;
  }

  find(id: string): JournalEntry | undefined {
    return this.entries().find((entry) => entry.id === id);
  }

  clear(): void {
    this.ring = [];
    this.head = 0;
    this.bytes = 0;
    this.lost = 0;
  }

  /** Calls back with each new entry, and once with undefined at the end; returns the way to stop. */
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

  private keepWithin(): void {
    while (this.size > this.limit || (this.bytes > BYTE_LIMIT && this.size > 0)) this.evict();
  }

  private evict(): void {
    this.bytes -= costOf(this.ring[this.head]!);
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

function costOf(entry: JournalEntry): number {
  let cost = ENTRY_OVERHEAD + (entry.request_body?.length ?? 0) + (entry.response_body?.length ?? 0);
  cost += entry.path.length + entry.query.length;
  for (const text of entry.request_headers) cost += text.length;
  for (const text of entry.response_headers) cost += text.length;
  return cost;
}
