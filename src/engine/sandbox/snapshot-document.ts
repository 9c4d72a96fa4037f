import type { AnyCollection } from "../state/collection.ts";
import { decodeWorld, encodeWorld, type WorldDocument } from "../state/world-document.ts";
import type { BlobStore } from "./blob-store.ts";
import { RateWindows } from "./rate-windows.ts";
import type { SandboxValue } from "./sandbox.ts";

export const SNAPSHOT_FORMAT = "understudy-snapshot";
export const SNAPSHOT_VERSION = 1;

/** A snapshot as a file: complete in itself, for any sandbox of any server of this version. */
export interface SnapshotDocument {
  format: typeof SNAPSHOT_FORMAT;
  version: number;
  /** Milliseconds since 1970, on the clock of the sandbox it was taken in. */
  taken_at: number;
  world: WorldDocument;
  /** Open rate windows by API key id. */
  windows: ReturnType<RateWindows["toJSON"]>;
  /** Bytes of half-finished uploads, as their keeper writes them. */
  blobs?: unknown;
}

export async function encodeSnapshot(value: SandboxValue, blobs: BlobStore): Promise<SnapshotDocument> {
  return {
    format: SNAPSHOT_FORMAT,
    version: SNAPSHOT_VERSION,
    taken_at: value.taken_at,
    world: encodeWorld(value.world),
    windows: value.windows.toJSON(),
    ...(value.blobs !== undefined ? { blobs: await blobs.encode(value.blobs) } : {}),
  };
}

/**
 * The caller has checked the document's shape.
 * @throws WorldDocumentError
 */
export async function decodeSnapshot(
  document: SnapshotDocument,
  collections: readonly AnyCollection[],
  blobs: BlobStore,
): Promise<SandboxValue> {
  return {
    world: decodeWorld(document.world, collections),
    windows: RateWindows.from(document.windows),
    taken_at: document.taken_at,
    blobs: document.blobs !== undefined ? await blobs.decode(document.blobs) : undefined,
  };
}
