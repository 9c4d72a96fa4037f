import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it that are missing. Step by step, because Node's own `recursive` goes round for ever
 * where the system says that there is no such place, as below /proc.
 * @throws the system's refusal; EEXIST where something else has the name
 */
export function makeFolder(path: string, mode?: number): void {
  const missing = missingAbove(path, mode);
  if (missing === undefined) return;
  if (dirname(path) === path) throw missing;
  makeFolder(dirname(path), mode);
  const still = missingAbove(path, mode);
  if (still !== undefined) throw still;
}

/** Undefined once the folder is there; the refusal where the one above it is not. */
function missingAbove(path: string, mode: number | undefined): Error | undefined {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return error as Error;
    if (code !== "EEXIST" || !statSync(path).isDirectory()) throw error;
  }
  return undefined;
}
