import { existsSync, readFileSync, truncateSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import type { FaultState } from "../sandbox/fault-gate.ts";

/** What a group of commits did, as the records stand after them. */
export interface LoggedChange {
  /** Requests and draws so far. */
  requests: number;
  draws: number;
  clock: { mode: string; at: number; rate: number; wall: number };
  windows: unknown;
  /** By collection and id; null is gone. */
  records: Record<string, Record<string, object | null>>;
  /** Which rules are in force and how far each has come, where that changed. */
  faults?: FaultState | undefined;
}

/**
 * An append-only log beside a saved file. Each line carries its checksum: what a crash left half-written at
 * the end was acknowledged to nobody and is ignored.
 */
export class ChangeLog {
  readonly file: string;
  size = 0;
  private handle: FileHandle | undefined;

  constructor(file: string) {
    this.file = file;
  }

  /** Resolves once the line is with the operating system, or with `sync` on the disk. */
  async append(change: LoggedChange, sync: boolean): Promise<void> {
    this.handle ??= await open(this.file, "a", 0o600);
    const json = JSON.stringify(change);
    const line = Buffer.from(`${crc32(json).toString(16).padStart(8, "0")} ${json}\n`);
    await this.handle.write(line);
    this.size += line.length;
    if (sync) await this.handle.datasync();
  }

  async close(): Promise<void> {
    await this.handle?.close();
    this.handle = undefined;
  }
}

/** The changes of a log, and a sentence if it ends in something unreadable that is more than a torn last line. */
export function readChanges(file: string): { changes: LoggedChange[]; warning: string | undefined } {
  if (!existsSync(file)) return { changes: [], warning: undefined };
  const bytes = readFileSync(file);
  const changes: LoggedChange[] = [];
  let start = 0;
  while (start < bytes.length) {
    const end = bytes.indexOf(10, start);
    const change = end < 0 ? undefined : parse(bytes.subarray(start, end).toString("utf8"));
    if (change === undefined) break;
    changes.push(change);
    start = end + 1;
  }
  const torn = start < bytes.length && bytes.indexOf(10, start) < 0;
  // Appending behind a torn line would make the next one unreadable too.
  if (torn) truncateSync(file, start);
  const warning =
    start < bytes.length && !torn
      ? `${file} is damaged after ${changes.length} changes; what follows there could not be restored.`
      : undefined;
  return { changes, warning };
}

function parse(line: string): LoggedChange | undefined {
  const json = line.slice(9);
  if (line.slice(0, 8) !== crc32(json).toString(16).padStart(8, "0")) return undefined;
  try {
    return JSON.parse(json) as LoggedChange;
  } catch {
    return undefined;
  }
}
