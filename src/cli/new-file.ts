import { chmodSync, existsSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../hosts/node/storage/folders.ts";
import { UsageError } from "./failure.ts";
import { complain } from "./output.ts";

export interface NewFile {
  /** Replace a file that exists. */
  force?: boolean;
  /** It holds keys or secrets: nobody else on the machine reads it. */
  secret?: boolean;
}

/**
 * Writes a file with the folders above it; one that exists only when asked to, and never in place of anything
 * else: a pipe would wait for its reader for ever, and a device is no file.
 * @throws UsageError
 */
export function writeNewFile(
  file: string,
  text: string | Uint8Array,
  { force = false, secret = false }: NewFile = {},
): void {
  requireFile(file);
  makeFolderOf(file);
  try {
    writeFileSync(file, text, { flag: force ? "w" : "wx", ...(secret && { mode: 0o600 }) });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new UsageError(`${file} exists; replace it with --force`);
  }
  // One that was there keeps its own rights.
  if (secret) chmodSync(file, 0o600);
}

/** To be asked before long work too, whose result would be lost. @throws UsageError for what is there and no file */
export function requireFile(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return;
  throw new UsageError(
    `${file} is ${stats.isDirectory() ? "a folder" : "no ordinary file"}; name a file to write`,
  );
}

/** A pipeline's reports need no `mkdir`; a name that was mistyped shows by what is said. */
export function makeFolderOf(file: string): void {
  const folder = dirname(file);
  if (existsSync(folder)) return;
  makeFolder(folder);
  complain(`made the folder ${folder}`);
}
