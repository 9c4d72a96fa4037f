import { type FileHandle, open } from "node:fs/promises";
import { ApiError } from "../../../engine/contract/errors.ts";
import type { ByteStore, FileDigest, FormSpace, WriteOutcome } from "../../../engine/contract/services.ts";
import { crc32c, formatCrc32c } from "../../../engine/crc32c.ts";
import { Mutex } from "../../../engine/state/concurrency.ts";
import { throwWithFolder } from "./folders.ts";
import {
  type Blob,
  type DiskUsage,
  digestFiles,
  dropBlob,
  EMPTY_BLOB,
  listFiles,
  readBlob,
  retainBlob,
  Segment,
} from "./segment.ts";

/** Folders for the files of a sandbox: those of forms, during their request, and those of uploads. */
export interface ByteFolders {
  readonly forms: { readonly path: string };
  /** Replaced once uploads are stored. */
  uploads: { readonly path: string; createPath(): string };
}

/** A blob that can still grow; a restore replaces it. */
interface LiveBlob {
  value: Blob;
  readonly writes: Mutex;
}

/** The upload bytes of one sandbox, within its share of the disk. */
export class SandboxBytes implements ByteStore, FormSpace {
  /** Increases with each change of the stored bytes. */
  revision = 0;
  private liveBlobs = new Map<string, LiveBlob>();
  /** The last result of `peek`, and its revision. */
  private peeked: ReadonlyMap<string, Blob> | undefined;
  private peekedRevision = 0;
  private readonly space: DiskUsage = { used: 0 };
  private readonly folders: ByteFolders;
  private readonly limit: number;
  private readonly otherBytes: () => number;

  /** @param otherBytes returns other bytes of the sandbox, which also count toward the limit */
  constructor(folders: ByteFolders, limit: number, otherBytes: () => number) {
    this.folders = folders;
    this.limit = limit;
    this.otherBytes = otherBytes;
  }

  get folder(): string {
    return this.folders.forms.path;
  }

  size(blob: string): number {
    return this.liveBlobs.get(blob)?.value.size ?? 0;
  }

  crc32c(blob: string): string {
    return formatCrc32c(this.liveBlobs.get(blob)?.value.crc ?? 0);
  }

  /** @throws ApiError PAYLOAD_TOO_LARGE */
  requireRoom(bytes: number): void {
    if (bytes > this.limit - this.countUsedBytes()) throw this.toFullError();
  }

  reserve(bytes: number): void {
    this.requireRoom(bytes);
    this.space.used += bytes;
  }

  release(bytes: number): void {
    this.space.used -= bytes;
  }

  async write(
    blob: string,
    chunks: AsyncIterable<Uint8Array>,
    place: { start: number; end: number },
  ): Promise<WriteOutcome> {
    const live = this.liveBlobs.get(blob) ?? { value: EMPTY_BLOB, writes: new Mutex() };
    this.liveBlobs.set(blob, live);
    const isGone = () => this.liveBlobs.get(blob) !== live;
    // One writer at a time: a client may reconnect while its old connection is still being read.
    return live.writes.run(() => this.append(live, isGone, { chunks, ...place }));
  }

  read(blob: string, maxBytes: number): Promise<Buffer> {
    return this.readRetained(blob, (value) => readBlob(value, maxBytes));
  }

  digest(blob: string, algorithm: FileDigest): Promise<string> {
    return this.readRetained(blob, async (value) =>
      algorithm === "crc32c" ? formatCrc32c(value.crc) : digestFiles(listFiles(value), "md5"),
    );
  }

  /** Retains a blob while it is used, since another request may remove it meanwhile. */
  private async readRetained<T>(blob: string, use: (value: Blob) => Promise<T>): Promise<T> {
    const value = this.liveBlobs.get(blob)?.value ?? EMPTY_BLOB;
    retainBlob(value);
    try {
      return await use(value);
    } finally {
      dropBlob(value);
    }
  }

  remove(blob: string): void {
    const live = this.liveBlobs.get(blob);
    if (live === undefined) return;
    this.liveBlobs.delete(blob);
    this.revision += 1;
    dropBlob(live.value);
  }

  /** The stored bytes, without retaining them; the same object until they change, undefined if there are none. */
  peek(): ReadonlyMap<string, Blob> | undefined {
    if (this.peekedRevision !== this.revision) {
      this.peekedRevision = this.revision;
      const nonEmpty = [...this.liveBlobs].filter(([, { value }]) => value.size > 0);
      this.peeked =
        nonEmpty.length === 0 ? undefined : new Map(nonEmpty.map(([id, { value }]) => [id, value]));
    }
    return this.peeked;
  }

  /** Replaces all bytes; writers under way lose their blob. */
  replace(captured: ReadonlyMap<string, Blob> | undefined): void {
    const before = this.liveBlobs;
    this.liveBlobs = new Map();
    this.revision += 1;
    for (const [id, value] of captured ?? []) {
      retainBlob(value);
      this.liveBlobs.set(id, { value, writes: new Mutex() });
    }
    for (const { value } of before.values()) dropBlob(value);
  }

  private countUsedBytes(): number {
    return this.space.used + this.countSharedBytes() + this.otherBytes();
  }

  /** Bytes that a fork or an imported snapshot shares with another sandbox count here too. */
  private countSharedBytes(): number {
    let bytes = 0;
    for (const { value } of this.liveBlobs.values()) {
      for (const { segment, length } of value.parts) if (segment.space !== this.space) bytes += length;
    }
    return bytes;
  }

  private async append(
    live: LiveBlob,
    isGone: () => boolean,
    { chunks, start, end }: { chunks: AsyncIterable<Uint8Array>; start: number; end: number },
  ): Promise<WriteOutcome> {
    if (isGone()) return "gone";
    const before = live.value;
    if (start > before.size) return "gap";
    const writer = new SegmentWriter(before, this.folders.uploads, this.space);
    let position = start;
    try {
      for await (const chunk of chunks) {
        if (isGone()) return "gone";
        position += chunk.length;
        if (position > end) {
          // More bytes than announced, so they cannot be trusted to be the file.
          live.value = before;
          this.revision += 1;
          return "excess";
        }
        const newBytes = position - live.value.size;
        if (newBytes <= 0) continue;
        this.requireRoom(newBytes);
        const value = await writer
          .write(live.value, chunk.subarray(chunk.length - newBytes))
          .catch((error) => throwWithFolder(error, this.folders.uploads.path));
        if (isGone()) return "gone";
        live.value = value;
        this.revision += 1;
      }
      return "written";
    } finally {
      await writer.close(live.value);
    }
  }

  private toFullError(): ApiError {
    return new ApiError("PAYLOAD_TOO_LARGE", {
      message: "The sandbox has no room left for uploads.",
      system_message: `Uploads of this sandbox, and the texts that were read from them, may take ${this.limit} bytes. Register or cancel uploads, reset the sandbox, or raise the limit.`,
      details: { limit_bytes: this.limit, used_bytes: this.countUsedBytes(), scope: "sandbox_uploads" },
    });
  }
}

/** Appends to a blob: to its last segment if that ends with the blob, otherwise to a new one. */
class SegmentWriter {
  private segment: Segment | undefined;
  private file: FileHandle | undefined;
  private isNew = false;
  private readonly folder: ByteFolders["uploads"];
  private readonly space: DiskUsage;

  constructor(before: Blob, folder: ByteFolders["uploads"], space: DiskUsage) {
    this.folder = folder;
    this.space = space;
    const last = before.parts.at(-1);
    if (
      last &&
      last.segment.space === space &&
      last.length === last.segment.writtenBytes &&
      !last.segment.isBusy
    ) {
      this.segment = last.segment;
      this.segment.isBusy = true;
    }
  }

  async write(value: Blob, bytes: Uint8Array): Promise<Blob> {
    const segment = this.segment ?? this.openSegment();
    this.file ??= await open(segment.path, this.isNew ? "w" : "r+", 0o600);
    // By position, so that bytes of a failed write beyond the end do not shift later ones.
    for (let offset = 0; offset < bytes.length; ) {
      const { bytesWritten } = await this.file.write(
        bytes,
        offset,
        bytes.length - offset,
        segment.writtenBytes + offset,
      );
      offset += bytesWritten;
    }
    segment.recordWrite(bytes.length);
    const last = value.parts.at(-1);
    const extendsLast = last?.segment === segment;
    const part = { segment, length: (extendsLast ? last.length : 0) + bytes.length };
    return {
      parts: [...(extendsLast ? value.parts.slice(0, -1) : value.parts), part],
      size: value.size + bytes.length,
      crc: crc32c(bytes, value.crc),
    };
  }

  /** Removes a new segment that `value`, the final state of the blob, does not contain. */
  async close(value: Blob): Promise<void> {
    await this.file?.close();
    const { segment } = this;
    if (segment === undefined) return;
    segment.isBusy = false;
    if (this.isNew && !value.parts.some((part) => part.segment === segment)) segment.drop();
    else segment.removeIfUnused();
  }

  private openSegment(): Segment {
    this.segment = new Segment(this.folder.createPath(), this.space);
    this.segment.isBusy = true;
    // For the blob that `write` returns.
    this.segment.retain();
    this.isNew = true;
    return this.segment;
  }
}
