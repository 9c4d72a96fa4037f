import { concatBytes, EMPTY_BYTES, fromBase64, toBase64 } from "../../engine/bytes.ts";
import { ApiError } from "../../engine/contract/errors.ts";
import type { ByteStore, FileDigest, FormSpace, WriteOutcome } from "../../engine/contract/services.ts";
import { crc32c, crc32cText } from "../../engine/crc32c.ts";
import { digest } from "../../engine/platform.ts";
import type { BlobStore, UploadsDocument } from "../../engine/sandbox/snapshots.ts";

type Captured = ReadonlyMap<string, Uint8Array>;

/** The bytes of uploads in memory. An array is never changed, so snapshots and forks share it. */
export class MemoryUploads implements BlobStore {
  private readonly sandboxes = new WeakMap<object, MemoryBytes>();
  private readonly limit: number;

  /** @param limit bytes per sandbox */
  constructor(limit: number) {
    this.limit = limit;
  }

  of(sandbox: object): MemoryBytes {
    const bytes = this.sandboxes.get(sandbox) ?? new MemoryBytes(this.limit);
    this.sandboxes.set(sandbox, bytes);
    return bytes;
  }

  discard(sandbox: object): void {
    this.sandboxes.get(sandbox)?.replace(undefined);
  }

  capture(sandbox: object): Captured | undefined {
    return this.peek(sandbox);
  }

  peek(sandbox: object): Captured | undefined {
    const { blobs } = this.sandboxes.get(sandbox) ?? {};
    return blobs === undefined || blobs.size === 0 ? undefined : blobs;
  }

  /** The arrays are still there as long as anything refers to them. */
  tryRecover(seen: unknown): { captured: unknown; gone: string[] } {
    return { captured: seen, gone: [] };
  }

  hold(): void {}

  release(): void {}

  restore(sandbox: object, captured: unknown): void {
    this.of(sandbox).replace(captured as Captured | undefined);
  }

  countBytes(captured: Iterable<unknown>): number {
    const all = new Set([...captured].flatMap((one) => [...((one as Captured | undefined)?.values() ?? [])]));
    return [...all].reduce((sum, bytes) => sum + bytes.length, 0);
  }

  async encode(captured: unknown): Promise<UploadsDocument | undefined> {
    if (captured === undefined) return undefined;
    const uploads = [...(captured as Captured)].map(([id, bytes]) => [id, toBase64(bytes)]);
    return { uploads: Object.fromEntries(uploads), left_out: [] };
  }

  async decode(document: unknown): Promise<Captured | undefined> {
    if (document === undefined || document === null) return undefined;
    const uploads = Object.entries((document as UploadsDocument).uploads);
    return new Map(uploads.map(([id, text]) => [id, fromBase64(text)]));
  }
}

/** The upload bytes of one sandbox. */
class MemoryBytes implements ByteStore, FormSpace {
  /** Replaced with each change, so that a captured map stays as it is. */
  blobs: Captured = new Map();
  readonly folder = "";
  private forms = 0;
  private readonly turns = new Map<string, Promise<unknown>>();
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  size(blob: string): number {
    return this.bytes(blob).length;
  }

  crc32c(blob: string): string {
    return crc32cText(crc32c(this.bytes(blob)));
  }

  async digest(blob: string, algorithm: FileDigest): Promise<string> {
    return algorithm === "crc32c" ? this.crc32c(blob) : toBase64(digest("md5", this.bytes(blob)));
  }

  /** @throws ApiError PAYLOAD_TOO_LARGE */
  requireRoom(bytes: number): void {
    let used = this.forms;
    for (const blob of this.blobs.values()) used += blob.length;
    if (bytes <= this.limit - used) return;
    throw new ApiError("PAYLOAD_TOO_LARGE", {
      message: "The sandbox has no room left for uploads.",
      details: { limit_bytes: this.limit, used_bytes: used, scope: "sandbox_uploads" },
    });
  }

  take(bytes: number): void {
    this.requireRoom(bytes);
    this.forms += bytes;
  }

  give(bytes: number): void {
    this.forms -= bytes;
  }

  /** Writers of one blob take turns. */
  write(
    blob: string,
    chunks: AsyncIterable<Uint8Array>,
    place: { start: number; end: number },
  ): Promise<WriteOutcome> {
    const before = this.turns.get(blob) ?? Promise.resolve();
    const mine = before.then(() => this.append(blob, chunks, place));
    this.turns.set(
      blob,
      mine.catch(() => {}),
    );
    return mine;
  }

  private async append(
    blob: string,
    chunks: AsyncIterable<Uint8Array>,
    { start, end }: { start: number; end: number },
  ): Promise<WriteOutcome> {
    const before = this.bytes(blob);
    if (start > before.length) return "gap";
    this.set(blob, before);
    let position = start;
    for await (const chunk of chunks) {
      if (!this.blobs.has(blob)) return "gone";
      position += chunk.length;
      if (position > end) {
        // More bytes than announced, so they cannot be trusted to be the file.
        this.set(blob, before);
        return "excess";
      }
      const held = this.bytes(blob);
      const fresh = position - held.length;
      if (fresh <= 0) continue;
      this.requireRoom(fresh);
      this.set(blob, concatBytes([held, chunk.subarray(chunk.length - fresh)]));
    }
    return "written";
  }

  async read(blob: string, most: number): Promise<Uint8Array> {
    return this.bytes(blob).slice(0, most);
  }

  remove(blob: string): void {
    if (!this.blobs.has(blob)) return;
    const blobs = new Map(this.blobs);
    blobs.delete(blob);
    this.blobs = blobs;
  }

  replace(captured: Captured | undefined): void {
    this.blobs = captured ?? new Map();
  }

  private bytes(blob: string): Uint8Array {
    return this.blobs.get(blob) ?? EMPTY_BYTES;
  }

  private set(blob: string, bytes: Uint8Array): void {
    this.blobs = new Map(this.blobs).set(blob, bytes);
  }
}
