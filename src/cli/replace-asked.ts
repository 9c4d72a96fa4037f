import { existsSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import { UsageError } from "./failure.ts";
import { type NewFile, requireFile, writeNewFile } from "./new-file.ts";

/**
 * Asks before a file is replaced, where somebody is there to answer; what it resolves with writes the file.
 * @throws UsageError for a file that is there and may not be replaced, before anything is fetched for it
 */
export async function replaceAsked(
  file: string,
  { force = false, secret }: NewFile,
): Promise<(text: string) => void> {
  requireFile(file);
  const isThere = existsSync(file);
  if (isThere && !force && !(await isAgreed(file)))
    throw new UsageError(`${file} exists; replace it with --force`);
  return (text) => writeNewFile(file, text, { force: force || isThere, secret });
}

async function isAgreed(file: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await asking.question(`${file} exists. Replace it? [y/N] `)).trim());
  } finally {
    asking.close();
  }
}
