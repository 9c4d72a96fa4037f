import { type Static, Type } from "typebox";
import { MapOf } from "../contract/schema.ts";
import type { AnyCollection } from "../state/collection.ts";
import { keepReadable } from "../state/tables.ts";
import { decodeWorld, encodeWorld, type WorldDocument } from "../state/world-document.ts";
import type { UploadReferences } from "./history-entry.ts";
import { RateWindows } from "./rate-windows.ts";
import type { SandboxValue } from "./sandbox-value.ts";

/** The uploads in a snapshot's document: the bytes of each in base64, and the ids of those that were too large. */
export const UploadsDocument = Type.Object(
  {
    uploads: MapOf(Type.String({ pattern: "^[A-Za-z0-9+/]*={0,2}$" })),
    left_out: Type.Array(Type.String()),
  },
  { additionalProperties: false },
);
export type UploadsDocument = Static<typeof UploadsDocument>;

/**
 * Stores the bytes of half-finished uploads for the values of sandboxes; a sandbox object identifies its uploads.
 * `capture` must be cheap (references, links), because snapshots and forks are.
 */
export interface BlobStore {
  capture(sandbox: object): unknown;
  /** Weak references to the bytes of the sandbox's uploads; the same object until the uploads change. */
  peek(sandbox: object): UploadReferences;
  /** Captures the remaining bytes of earlier references; `lostUploads` have lost bytes since. */
  tryRecover(references: unknown): { captured: unknown; lostUploads: string[] };
  /** Adds a user of captured bytes, which must release them too. */
  hold(captured: unknown): void;
  /** Replaces the sandbox's bytes. The sandbox becomes a user of the captured ones, as by `hold`. */
  restore(sandbox: object, captured: unknown): void;
  release(captured: unknown): void;
  /** The bytes on disk; shared bytes count once. */
  countBytes(captured: Iterable<unknown>): number;
  /** Plain JSON, for the download of a snapshot, and back. */
  encode(captured: unknown): Promise<unknown>;
  decode(document: unknown): Promise<unknown>;
}

/** The uploads in a store: the checksum of each, and its parts in files. */
export const StoredUploads = MapOf(
  Type.Object(
    {
      crc: Type.Integer({ minimum: 0, maximum: 0xffffffff }),
      parts: Type.Array(
        Type.Object(
          { file: Type.String({ pattern: "^blob-[0-9a-f-]{36}$" }), length: Type.Integer({ minimum: 1 }) },
          { additionalProperties: false },
        ),
      ),
    },
    { additionalProperties: false },
  ),
);
export type StoredUploads = Static<typeof StoredUploads>;

/** Uploads that a store of sandboxes can save: their bytes are beside its rows, which name them by file. */
export interface StorableUploads extends BlobStore {
  /** Returns another value after each change of the sandbox's bytes. */
  getRevision(sandbox: object): unknown;
  /** Stores the bytes durably. */
  sync(captured: unknown): Promise<void>;
  listPaths(captured: unknown): Iterable<{ path: string; length: number }>;
  toStored(captured: unknown): StoredUploads;
  /** The inverse of `toStored`. @param warn called with one sentence for each upload whose bytes are missing or damaged */
  fromStored(files: StoredUploads, warn: (warning: string) => void, folder?: string): Promise<unknown>;
  /** Removes stored bytes that no row has named since the start. */
  sweep(): void;
}

/** A sandbox's snapshots by name. One that is replaced or deleted releases the bytes of its uploads. */
export class Snapshots extends Map<string, SandboxValue> {
  private readonly blobs: BlobStore;

  constructor(blobs: BlobStore) {
    super();
    this.blobs = blobs;
  }

  override set(name: string, value: SandboxValue): this {
    this.release(name);
    return super.set(name, value);
  }

  override delete(name: string): boolean {
    this.release(name);
    return super.delete(name);
  }

  override clear(): void {
    for (const name of this.keys()) this.release(name);
    super.clear();
  }

  private release(name: string): void {
    const snapshot = this.get(name);
    if (snapshot?.blobs !== undefined) this.blobs.release(snapshot.blobs);
  }
}

export const SNAPSHOT_FORMAT = "understudy-snapshot";
export const SNAPSHOT_VERSION = 1;

/** A snapshot as a file: self-contained, for any sandbox of any server of this version. */
export interface SnapshotDocument {
  format: typeof SNAPSHOT_FORMAT;
  version: number;
  /** Milliseconds since 1970, on the clock of the sandbox it was taken in. */
  taken_at: number;
  world: WorldDocument;
  /** Open rate windows by API key id. */
  windows: ReturnType<RateWindows["toJSON"]>;
  /** Bytes of half-finished uploads, as their store writes them. */
  blobs?: unknown;
}

export async function encodeSnapshot(
  value: SandboxValue,
  collections: readonly AnyCollection[],
  blobs: BlobStore,
): Promise<SnapshotDocument> {
  const root = keepReadable(value.world.root, collections);
  return {
    format: SNAPSHOT_FORMAT,
    version: SNAPSHOT_VERSION,
    taken_at: value.taken_at,
    world: encodeWorld({ ...value.world, root }),
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
    windows: RateWindows.parse(document.windows),
    taken_at: document.taken_at,
    blobs: document.blobs !== undefined ? await blobs.decode(document.blobs) : undefined,
  };
}
