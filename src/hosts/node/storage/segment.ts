import { rmSync } from "node:fs";
import { open } from "node:fs/promises";

/** What a sandbox has on disk, in bytes. */
export interface Space {
  used: number;
}

/**
 * A file that only ever grows at its end. Whoever holds the first n bytes of it (a live upload, a
 * snapshot, a fork) can therefore share it with one that goes on writing, and copying is counting.
 */
export class Segment {
  readonly path: string;
  /** The sandbox that wrote it is charged for it as long as anybody holds it. */
  readonly space: Space;
  written = 0;
  /** So many of its first bytes are on the disk itself. */
  private synced = 0;
  /** A writer has it open; the file goes when it is done. */
  busy = false;
  private holders = 0;

  constructor(path: string, space: Space) {
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

  /** Whether at least its first `length` bytes had to be brought to the disk. */
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

/** The bytes of one upload as a value: so many of the first bytes of each segment, in order. */
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

export function holdBlob({ parts }: Blob): void {
  for (const { segment } of parts) segment.hold();
}

export function dropBlob({ parts }: Blob): void {
  for (const { segment } of parts) segment.drop();
}

/** Whether any of it had to be brought to the disk. */
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
