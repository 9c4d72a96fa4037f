import { createHash } from "node:crypto";
import { createReadStream, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import type { FileDigest } from "../../../engine/contract/services.ts";
import { crc32c, formatCrc32c } from "../../../engine/crc32c.ts";

/** The size of a sandbox's bytes on disk. */
export interface DiskUsage {
  used: number;
}

/**
 * A file that only grows at its end, so a live upload, a snapshot and a fork can share its first n bytes while a writer
 * appends: a copy only adds a holder.
 */
export class Segment {
  readonly path: string;
  /** The disk usage of the sandbox that wrote the file; it includes the file until the last sandbox releases it. */
  readonly space: DiskUsage;
  writtenBytes = 0;
  private syncedBytes = 0;
  /** Whether a writer has the file open, which is then removed only after the writer is done. */
  isBusy = false;
  private holderCount = 0;

  constructor(path: string, space: DiskUsage) {
    this.path = path;
    this.space = space;
  }

  retain(): void {
    this.holderCount += 1;
  }

  drop(): void {
    this.holderCount -= 1;
    this.removeIfUnused();
  }

  recordWrite(bytes: number): void {
    this.writtenBytes += bytes;
    this.space.used += bytes;
  }

  /** Syncs the first `length` bytes to disk; false if they were synced already. */
  async sync(length: number): Promise<boolean> {
    if (this.syncedBytes >= length) return false;
    const { writtenBytes } = this;
    const file = await open(this.path, "r+");
    try {
      await file.datasync();
    } finally {
      await file.close();
    }
    this.syncedBytes = Math.max(this.syncedBytes, writtenBytes);
    return true;
  }

  removeIfUnused(): void {
    if (this.holderCount > 0 || this.isBusy) return;
    rmSync(this.path, { force: true });
    this.space.used -= this.writtenBytes;
    this.writtenBytes = 0;
  }
}

/** The bytes of one upload as a value: the first bytes of each segment, in order. */
export interface Blob {
  readonly parts: readonly Part[];
  readonly size: number;
  /** CRC-32C of these bytes. */
  readonly crc: number;
}

interface Part {
  readonly segment: Segment;
  readonly length: number;
}

export const EMPTY_BLOB: Blob = { parts: [], size: 0, crc: 0 };

export function retainBlob({ parts }: Blob): void {
  for (const { segment } of parts) segment.retain();
}

export function dropBlob({ parts }: Blob): void {
  for (const { segment } of parts) segment.drop();
}

/** The files of a blob, with the number of bytes that it has of each. */
export function listFiles({ parts }: Pick<Blob, "parts">): { path: string; length: number }[] {
  return parts.map(({ segment, length }) => ({ path: segment.path, length }));
}

/** Syncs a blob; returns whether any of its bytes were unsynced. */
export async function syncBlob({ parts }: Blob): Promise<boolean> {
  let hasSynced = false;
  for (const { segment, length } of parts) hasSynced = (await segment.sync(length)) || hasSynced;
  return hasSynced;
}

/** At most the first `maxBytes` bytes, in memory. */
export async function readBlob({ parts, size }: Blob, maxBytes: number): Promise<Buffer> {
  const bytes = Buffer.alloc(Math.min(size, maxBytes));
  let filledBytes = 0;
  for (const { segment, length } of parts) {
    const count = Math.min(length, bytes.length - filledBytes);
    if (count === 0) break;
    const file = await open(segment.path, "r");
    try {
      const { bytesRead } = await file.read(bytes, filledBytes, count, 0);
      if (bytesRead < count) throw new Error(`${segment.path} is shorter than what was written to it`);
    } finally {
      await file.close();
    }
    filledBytes += count;
  }
  return bytes;
}

/** The digest of the first bytes of files, one after the other, in base64; a piece at a time is in memory. */
export async function digestFiles(
  files: readonly { path: string; length: number }[],
  algorithm: FileDigest,
): Promise<string> {
  const md5 = createHash("md5");
  let crc = 0;
  for (const { path, length } of files) {
    if (length === 0) continue;
    for await (const piece of createReadStream(path, { end: length - 1 })) {
      if (algorithm === "md5") md5.update(piece);
      else crc = crc32c(piece, crc);
    }
  }
  return algorithm === "md5" ? md5.digest("base64") : formatCrc32c(crc);
}
