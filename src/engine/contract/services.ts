import type { Transaction } from "../state/transaction.ts";
import type { Settings } from "./settings.ts";

/** Asynchronous services outside the world: bytes on disk, outbound calls, future changes. */
export interface Services {
  /** Resolves at the next commit or clock change of this sandbox, or at once if the signal is aborted or the sandbox is gone. */
  waitForChange(signal: AbortSignal): Promise<void>;
  /** The current world, for streams that outlive their request's transaction. */
  read(): Transaction;
  /** A transaction of its own, for work that ends after the request's has committed. */
  transact<T>(change: (tx: Transaction) => T): T;
  /** Waits for the end of an attempt that the transaction queued; false if it was cancelled. */
  waitForAttempt(attempt_id: string): Promise<boolean>;
  /** Bytes of uploads, kept on disk per sandbox. */
  bytes: ByteStore;
  /**
   * Queues heavy work: sandboxes take turns, so that none blocks another (interfaces.md 7). `work` should read bytes from
   * disk itself, so that queued work needs no memory.
   * @throws the signal's reason
   */
  runQueued: RunQueued;
  outbound: OutboundClient;
  /** The sandbox's settings, as they are now. */
  readonly settings: Settings;
  /** Whether the sandbox was deleted or reset, so that streams must end. */
  readonly isClosed: boolean;
}

/** Kinds of work that need much time or memory, so that few tasks of each run at once. */
export type HeavyWork = "document" | "image" | "text";
export type RunQueued = <T>(kind: HeavyWork, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

/** The digests that Google Cloud Storage knows. */
export type FileDigest = "crc32c" | "md5";

/** How a write into a blob ended. `gone`: the blob was removed or replaced meanwhile. */
export type WriteOutcome = "written" | "gap" | "excess" | "gone";

/** Bytes of uploads that are not files yet, on disk. A blob exists from its first byte on. */
export interface ByteStore {
  size(blob: string): number;
  /** Checksum of the stored bytes, in the notation of Google Cloud Storage. */
  crc32c(blob: string): string;
  /** The digest of the stored bytes, in base64. */
  digest(blob: string, algorithm: FileDigest): Promise<string>;
  /** @throws ApiError PAYLOAD_TOO_LARGE when this number of bytes would not fit */
  requireRoom(bytes: number): void;
  /**
   * Writes a stream of bytes that belong at `start`, up to `end` at most. Bytes that are stored already are skipped; a
   * start beyond them is a gap and writes nothing; a stream longer than `end` is an excess and leaves the blob as it
   * was. Writes of one blob run one after the other. Bytes that arrived before the stream broke off are stored.
   * @throws ApiError PAYLOAD_TOO_LARGE when the sandbox's share of the disk is full
   */
  write(
    blob: string,
    chunks: AsyncIterable<Uint8Array>,
    range: { start: number; end: number },
  ): Promise<WriteOutcome>;
  /** At most the first `maxBytes` bytes, in memory. */
  read(blob: string, maxBytes: number): Promise<Uint8Array>;
  remove(blob: string): void;
}

/** Where the files of multipart forms are received, counted against the sandbox's share of the disk. */
export interface FormSpace {
  /** The folder, which is created when this is first read. */
  readonly folder: string;
  /** @throws ApiError PAYLOAD_TOO_LARGE */
  reserve(bytes: number): void;
  release(bytes: number): void;
}

/** How much of an answer's body a sender reads by default, in bytes. */
export const MAX_ANSWER_BYTES = 64 * 1024;

/** Makes requests to receivers. */
export interface OutboundClient {
  /** Never rejects: network failures are results. */
  send(request: {
    url: string;
    method: string;
    headers: Record<string, string>;
    body: Uint8Array;
    timeoutMs: number;
    signal?: AbortSignal;
  }): Promise<OutboundAnswer>;
}

export interface OutboundAnswer {
  /** 0: no complete answer came in time (G24). */
  response_code: number;
  headers: Readonly<Record<string, string | string[]>>;
  /** As sent, never decompressed; at most `MAX_ANSWER_BYTES`. */
  body: Uint8Array;
  duration_ms: number;
  /** Present exactly when response_code is 0. */
  error?: { kind: string; message: string };
}
