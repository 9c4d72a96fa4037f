import { existsSync, readFileSync, renameSync } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { crc32 } from "node:zlib";

const WRITE_SIZE = 256 * 1024;

/**
 * Writes a file so that there is a whole one at every instant: a draft, fsync, the present one renamed to
 * `.previous`, the draft renamed into its place, fsync of the folder. The last line is a checksum, so that a
 * file that was cut short anywhere is noticed. Pieces are written between turns of the event loop.
 */
export async function writeSafely(file: string, pieces: Iterable<string>): Promise<void> {
  const draft = `${file}.draft`;
  const handle = await open(draft, "w", 0o600);
  try {
    await writePieces(handle, pieces);
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (existsSync(file)) await rename(file, `${file}.previous`);
  await rename(draft, file);
  const folder = await open(dirname(file), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function writePieces(handle: FileHandle, pieces: Iterable<string>): Promise<void> {
  let checksum = 0;
  let pending: Buffer[] = [];
  let size = 0;
  const flush = async () => {
    await handle.write(Buffer.concat(pending));
    pending = [];
    size = 0;
  };
  for (const piece of pieces) {
    const bytes = Buffer.from(piece);
    checksum = crc32(bytes, checksum);
    pending.push(bytes);
    size += bytes.length;
    if (size >= WRITE_SIZE) await flush();
    else await nextTurn();
  }
  pending.push(Buffer.from(`\n${checksumLine(checksum)}\n`));
  await flush();
}

const checksumLine = (checksum: number) => `crc32 ${checksum.toString(16).padStart(8, "0")}`;

export interface SafeRead {
  text: string | undefined;
  /** One sentence per file that could not be used and was kept aside. */
  warnings: string[];
}

/** The newest whole copy. Files that are cut short, empty or overwritten are renamed, never deleted. */
export function readSafely(file: string): SafeRead {
  const warnings: string[] = [];
  for (const candidate of [file, `${file}.previous`]) {
    if (!existsSync(candidate)) continue;
    const text = wholeText(readFileSync(candidate));
    if (text !== undefined) {
      if (candidate !== file) warnings.push(`${candidate} is used in its place.`);
      return { text, warnings };
    }
    const aside = freeName(`${candidate}.broken`);
    renameSync(candidate, aside);
    warnings.push(`${candidate} is damaged (cut short, empty or overwritten) and was kept as ${aside}.`);
  }
  return { text: undefined, warnings };
}

function wholeText(bytes: Buffer): string | undefined {
  const end = bytes.lastIndexOf("\ncrc32 ");
  if (end < 0) return undefined;
  const content = bytes.subarray(0, end);
  return bytes.subarray(end + 1).toString() === `${checksumLine(crc32(content))}\n`
    ? content.toString("utf8")
    : undefined;
}

function freeName(name: string): string {
  let free = name;
  for (let n = 2; existsSync(free); n++) free = `${name}-${n}`;
  return free;
}
