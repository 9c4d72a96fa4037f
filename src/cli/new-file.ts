import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "./failure.ts";

/** Writes a file with the folders above it; one that exists only when asked to. @throws UsageError */
export function writeNewFile(file: string, text: string | Uint8Array, force = false): void {
  mkdirSync(dirname(file), { recursive: true });
  try {
    writeFileSync(file, text, { flag: force ? "w" : "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    throw new UsageError(`${file} exists; replace it with --force`);
  }
}
