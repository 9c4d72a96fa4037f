import { concatBytes, EMPTY_BYTES, fromBase64, toBase64 } from "../../engine/bytes.ts";
import { ApiError } from "../../engine/contract/errors.ts";
import type { ByteStore, FileDigest, FormSpace, WriteOutcome } from "../../engine/contract/services.ts";
import { crc32c, formatCrc32c } from "../../engine/crc32c.ts";
import { getOrAdd } from "../../engine/maps.ts";
import { digest } from "../../engine/platform.ts";
import type { StorableUploads, StoredUploads, UploadsDocument } from "../../engine/sandbox/snapshots.ts";
import { KeyedMutex } from "../../engine/state/concurrency.ts";

/** Bytes of one upload in pieces; neither a blob nor a piece is ever changed. */
interface Blob {
  parts: readonly Uint8Array[];
  size: number;
  crc: number;
}
type CapturedBlobs = ReadonlyMap<string, Blob>;

/** Stores pieces of uploads by name, such as an IndexedDB. */
interface PieceStore {
  /** Stores a piece when the next rows are stored. */
  put(name: string, piece: Uint8Array): void;
  get(name: string): Promise<Uint8Array | undefined>;
  removeAllBut(names: ReadonlySet<string>): void;
}

/** The bytes of uploads in memory; snapshots and forks share them. */
export class MemoryUploads implements StorableUploads {
  private readonly sandboxes = new WeakMap<object, MemoryBytes>();
  /** Names of pieces, for the store. */
  private readonly names = new WeakMap<Uint8Array, string>();
  /** Names of the pieces that the store has. */
  private readonly storedNames = new Set<string>();
  private pieces: PieceStore | undefined;
  private readonly limit: number;

  /** @param limit bytes per sandbox */
  constructor(limit: number) {
    this.limit = limit;
  }

  forSandbox(sandbox: object): MemoryBytes {
    return getOrAdd(this.sandboxes, sandbox, () => new MemoryBytes(this.limit));
  }

  discard(sandbox: object): void {
    this.sandboxes.get(sandbox)?.replace(undefined);
  }

  capture(sandbox: object): CapturedBlobs | undefined {
    return this.peek(sandbox);
  }

  peek(sandbox: object): CapturedBlobs | undefined {
    const { blobs } = this.sandboxes.get(sandbox) ?? {};
    return blobs === undefined || blobs.size === 0 ? undefined : blobs;
  }

  /** Loses nothing, since the references of `peek` keep the bytes in memory. */
  tryRecover(references: unknown): { captured: unknown; lostUploads: string[] } {
    return { captured: references, lostUploads: [] };
  }

  /** Does nothing: memory stays as long as it is referenced. */
  hold(): void {}

  release(): void {}

  restore(sandbox: object, captured: unknown): void {
    this.forSandbox(sandbox).replace(captured as CapturedBlobs | undefined);
  }

  countBytes(captured: Iterable<unknown>): number {
    const parts = new Set([...captured].flatMap(listParts));
    return [...parts].reduce((sum, bytes) => sum + bytes.length, 0);
  }

  async encode(captured: unknown): Promise<UploadsDocument | undefined> {
    if (captured === undefined) return undefined;
    const uploads = [...(captured as CapturedBlobs)].map(([id, blob]) => [id, toBase64(joinParts(blob))]);
    return { uploads: Object.fromEntries(uploads), left_out: [] };
  }

  async decode(document: unknown): Promise<CapturedBlobs | undefined> {
    if (document === undefined || document === null) return undefined;
    const uploads = Object.entries((document as UploadsDocument).uploads);
    return new Map(uploads.map(([id, text]) => [id, extendBlob(NO_BYTES, fromBase64(text))]));
  }

  /** Stores the bytes of uploads in `pieces` from now on. */
  storeIn(pieces: PieceStore): void {
    this.pieces = pieces;
  }

  getRevision(sandbox: object): unknown {
    return this.sandboxes.get(sandbox)?.blobs;
  }

  async sync(captured: unknown): Promise<void> {
    for (const part of listParts(captured)) {
      const name = this.getName(part);
      if (!this.storedNames.has(name)) this.pieces?.put(name, part);
      this.storedNames.add(name);
    }
  }

  listPaths(): [] {
    return [];
  }

  toStored(captured: unknown): StoredUploads {
    const files: StoredUploads = {};
    for (const [id, { parts, crc }] of (captured as CapturedBlobs | undefined) ?? [])
      files[id] = { crc, parts: parts.map((part) => ({ file: this.getName(part), length: part.length })) };
    return files;
  }

  async fromStored(files: StoredUploads, warn: (warning: string) => void): Promise<CapturedBlobs> {
    const captured = new Map<string, Blob>();
    for (const [id, { crc, parts }] of Object.entries(files)) {
      let blob = NO_BYTES;
      for (const { file } of parts) {
        const part = (await this.pieces?.get(file)) ?? EMPTY_BYTES;
        this.names.set(part, file);
        this.storedNames.add(file);
        blob = extendBlob(blob, part);
      }
      if (blob.crc === crc) captured.set(id, blob);
      else warn(`Some bytes of the upload ${id} are missing, so the client has to start it again.`);
    }
    return captured;
  }

  sweep(): void {
    this.pieces?.removeAllBut(this.storedNames);
  }

  private getName(part: Uint8Array): string {
    return getOrAdd(this.names, part, () => `blob-${crypto.randomUUID()}`);
  }
}

const NO_BYTES: Blob = { parts: [], size: 0, crc: 0 };

function extendBlob(blob: Blob, bytes: Uint8Array): Blob {
  if (bytes.length === 0) return blob;
  const { parts, size, crc } = blob;
  return { parts: [...parts, bytes], size: size + bytes.length, crc: crc32c(bytes, crc) };
}

const joinParts = ({ parts }: Blob) => concatBytes(parts);

function listParts(captured: unknown): Uint8Array[] {
  return [...((captured as CapturedBlobs | undefined)?.values() ?? [])].flatMap(({ parts }) => parts);
}

/** The upload bytes of one sandbox. */
class MemoryBytes implements ByteStore, FormSpace {
  /** Replaced with each change, so that a captured map stays as it is. */
  blobs: CapturedBlobs = new Map();
  readonly folder = "";
  private formBytes = 0;
  private readonly writes = new KeyedMutex();
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  size(blob: string): number {
    return this.getBlob(blob).size;
  }

  crc32c(blob: string): string {
    return formatCrc32c(this.getBlob(blob).crc);
  }

  async digest(blob: string, algorithm: FileDigest): Promise<string> {
    return algorithm === "crc32c"
      ? this.crc32c(blob)
      : toBase64(digest("md5", joinParts(this.getBlob(blob))));
  }

  /** @throws ApiError PAYLOAD_TOO_LARGE */
  requireRoom(bytes: number): void {
    let usedBytes = this.formBytes;
    for (const { size } of this.blobs.values()) usedBytes += size;
    if (bytes <= this.limit - usedBytes) return;
    throw new ApiError("PAYLOAD_TOO_LARGE", {
      message: "The sandbox has no room left for uploads.",
      details: { limit_bytes: this.limit, used_bytes: usedBytes, scope: "sandbox_uploads" },
    });
  }

  reserve(bytes: number): void {
    this.requireRoom(bytes);
    this.formBytes += bytes;
  }

  release(bytes: number): void {
    this.formBytes -= bytes;
  }

  /** Writes of one blob run one after the other. */
  write(
    blob: string,
    chunks: AsyncIterable<Uint8Array>,
    range: { start: number; end: number },
  ): Promise<WriteOutcome> {
    // Stores the blob even if it is new, so that its removal is noticed.
    if (!this.blobs.has(blob)) this.set(blob, NO_BYTES);
    return this.writes.run(blob, () => this.append(blob, chunks, range));
  }

  private async append(
    blob: string,
    chunks: AsyncIterable<Uint8Array>,
    { start, end }: { start: number; end: number },
  ): Promise<WriteOutcome> {
    const before = this.blobs.get(blob);
    if (before === undefined) return "gone";
    if (start > before.size) return "gap";
    let current = before;
    let position = start;
    for await (const chunk of chunks) {
      if (this.blobs.get(blob) !== current) return "gone";
      position += chunk.length;
      if (position > end) {
        // More bytes than announced, so they cannot be trusted to be the file.
        this.set(blob, before);
        return "excess";
      }
      const newBytes = position - current.size;
      if (newBytes <= 0) continue;
      this.requireRoom(newBytes);
      current = extendBlob(current, chunk.slice(chunk.length - newBytes));
      this.set(blob, current);
    }
    return "written";
  }

  async read(blob: string, maxBytes: number): Promise<Uint8Array> {
    return joinParts(this.getBlob(blob)).subarray(0, maxBytes);
  }

  remove(blob: string): void {
    if (!this.blobs.has(blob)) return;
    const blobs = new Map(this.blobs);
    blobs.delete(blob);
    this.blobs = blobs;
  }

  replace(captured: CapturedBlobs | undefined): void {
    this.blobs = captured ?? new Map();
  }

  private getBlob(blob: string): Blob {
    return this.blobs.get(blob) ?? NO_BYTES;
  }

  private set(blob: string, bytes: Blob): void {
    this.blobs = new Map(this.blobs).set(blob, bytes);
  }
}
