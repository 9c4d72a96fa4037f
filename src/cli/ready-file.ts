import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { UsageError } from "./failure.ts";

export interface Ready {
  url: string;
  console: string;
  pid: number;
  /** Null where no control token is needed. */
  token: string | null;
}

/** Called before the start. @throws UsageError if the path is taken by something else than a file */
export function requireReadyFile(file: string): void {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return;
  throw new UsageError(`--ready-file ${file} is not a regular file; name a file to write`);
}

/**
 * Renamed into place, so that a script that waits for the file never reads half of it. Removed at exit, so that a script
 * does not mistake it for that of a running server.
 * @throws UsageError
 */
export function writeReadyFile(file: string, ready: Ready): void {
  requireReadyFile(file);
  const draft = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, `${JSON.stringify(ready)}\n`, { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  process.once("exit", () => removeOwn(file, ready.pid));
}

/** Another server may have replaced the file. */
function removeOwn(file: string, pid: number): void {
  try {
    if ((JSON.parse(readFileSync(file, "utf8")) as Ready).pid === pid) rmSync(file, { force: true });
  } catch {
    // The file was removed.
  }
}
