import { createHash } from "node:crypto";
import { createReadStream, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import type { FileDigest } from "../../../engine/contract/services.ts";

/** The size of a sandbox's bytes on disk. */
export interface DiskUsage {
  used: number;
}

/**
 * A file that only grows at its end, so a live upload, a snapshot and a fork can share its first n bytes while a writer
 * appends: a copy is a count.
 */
export class Segment {
  readonly path: string;
  /** It counts for the sandbox that wrote it until its last holder releases it. */
  readonly space: DiskUsage;
  written = 0;
  /** Number of its first bytes that are synced to disk. */
  private synced = 0;
  /** A writer has it open; the file is removed when the writer is done. */
  busy = false;
  private holders = 0;

  constructor(path: string, space: DiskUsage) {
    this.path = path;
    this.space = space;
  }

  hold(): void {
    this.holders += 1;
  }

  drop(): void {
    this.holders -= 1;
    this.removeUnlessWanted();
  }

  wrote(bytes: number): void {
    this.written += bytes;
    this.space.used += bytes;
  }

  /** Syncs the first `length` bytes to disk; false if they were synced already. */
  async sync(length: number): Promise<boolean> {
    if (this.synced >= length) return false;
    const { written } = this;
    const file = await open(this.path, "r+");
    try {
      await file.datasync();
    } finally {
      await file.close();
    }
    this.synced = Math.max(this.synced, written);
    return true;
  }

  removeUnlessWanted(): void {
    if (this.holders > 0 || this.busy) return;
    rmSync(this.path, { force: true });
    this.space.used -= this.written;
    this.written = 0;
  }
}

/** The bytes of one upload as a value: the first bytes of each segment, in order. */
export interface Blob {
  readonly parts: readonly Part[];
  readonly size: number;
  /** CRC-32C of these bytes. */
  readonly crc: number;
}

export interface Part {
  readonly segment: Segment;
  readonly length: number;
}

export const EMPTY_BLOB: Blob = { parts: [], size: 0, crc: 0 };

export function retainBlob({ parts }: Blob): void {
  for (const { segment } of parts) segment.hold();
}

export function dropBlob({ parts }: Blob): void {
  for (const { segment } of parts) segment.drop();
}

/** Whether any of it had to be synced. */
export async function syncBlob({ parts }: Blob): Promise<boolean> {
  let any = false;
  for (const { segment, length } of parts) any = (await segment.sync(length)) || any;
  return any;
}

/** At most the first `most` bytes, in memory. */
export async function readBlob({ parts, size }: Blob, most: number): Promise<Buffer> {
  const bytes = Buffer.alloc(Math.min(size, most));
  let filled = 0;
  for (const { segment, length } of parts) {
    const wanted = Math.min(length, bytes.length - filled);
    if (wanted === 0) break;
    const file = await open(segment.path, "r");
    try {
      const { bytesRead } = await file.read(bytes, filled, wanted, 0);
      if (bytesRead < wanted) throw new Error(`${segment.path} is shorter than what was written to it`);
    } finally {
      await file.close();
    }
    filled += wanted;
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
  return algorithm === "md5" ? md5.digest("base64") : crc32cText(crc);
}

/** Castagnoli's polynomial, reflected: the checksum that Google Cloud Storage reports of an object. */
const POLYNOMIAL = 0x82f63b78;
const LANES = 8;

/** Tables for eight bytes at a time; a byte at a time would cost more than writing them to disk. */
const TABLES = makeTables();

function makeTables(): Int32Array[] {
  const tables = Array.from({ length: LANES }, () => new Int32Array(256));
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    tables[0]![byte] = crc;
  }
  for (let lane = 1; lane < LANES; lane++) {
    for (let byte = 0; byte < 256; byte++) {
      const before = tables[lane - 1]![byte]!;
      tables[lane]![byte] = (before >>> 8) ^ tables[0]![before & 255]!;
    }
  }
  return tables;
}

/** Continues the checksum `before` (0 at the start) with `bytes`. */
export function crc32c(bytes: Uint8Array, before = 0): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES as [
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
  ];
  let crc = ~before;
  let i = 0;
  for (const end = bytes.length - 7; i < end; i += LANES) {
    crc ^= bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    crc =
      t7[crc & 255]! ^
      t6[(crc >>> 8) & 255]! ^
      t5[(crc >>> 16) & 255]! ^
      t4[crc >>> 24]! ^
      t3[bytes[i + 4]!]! ^
      t2[bytes[i + 5]!]! ^
      t1[bytes[i + 6]!]! ^
      t0[bytes[i + 7]!]!;
  }
  for (; i < bytes.length; i++) crc = (crc >>> 8) ^ t0[(crc ^ bytes[i]!) & 255]!;
  return ~crc >>> 0;
}

/** As Google Cloud Storage writes it: the big-endian bytes in base64. */
export function crc32cText(crc: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc);
  return bytes.toString("base64");
}
