/**
 * Keeps the bytes of half-finished uploads beside the values of a sandbox, which it knows by identity alone.
 * `capture` must be cheap (references, links), because snapshots and forks are.
 */
export interface BlobStore {
  capture(sandbox: object): unknown;
  /** References to the same without holding them; the same object as long as nothing changes. */
  peek(sandbox: object): unknown;
  /** Captures what is left of what was seen; `gone` are the uploads of which something was released since. */
  tryRecover(seen: unknown): { captured: unknown; gone: string[] };
  /** One more holder of what was captured, who will release it too. */
  hold(captured: unknown): void;
  restore(sandbox: object, captured: unknown): void;
  release(captured: unknown): void;
  /** On disk behind these, what they share counted once. */
  bytesOf(captured: Iterable<unknown>): number;
  /** Plain JSON, for the download of a snapshot, and back. */
  encode(captured: unknown): Promise<unknown>;
  decode(document: unknown): Promise<unknown>;
}
