import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isProcessAlive, startOfProcess } from "../storage/live-process.ts";
import { PersistenceError } from "./persistence-error.ts";

/**
 * Holds a folder for this process. A lock whose process is gone, also after kill -9, is taken over.
 * @returns the way to let go
 * @throws PersistenceError when another process holds it
 */
export function lockFolder(folder: string): () => void {
  const file = join(folder, "lock");
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      const handle = openSync(file, "wx", 0o600);
      writeSync(handle, JSON.stringify({ pid: process.pid, started: startOfProcess(process.pid) }));
      closeSync(handle);
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      const holder = holderOf(file);
      if (holder !== undefined) {
        throw new PersistenceError(
          `${folder} is in use by process ${holder}; stop that server, or choose another folder with --persist.`,
        );
      }
      rmSync(file, { force: true });
    }
  }
  throw new PersistenceError(`${folder} was locked by another process just now.`);
}

/** The id of the living process that holds the lock. */
function holderOf(file: string): number | undefined {
  try {
    const { pid, started } = JSON.parse(readFileSync(file, "utf8")) as { pid: number; started?: string };
    return Number.isInteger(pid) && isProcessAlive(pid, started) ? pid : undefined;
  } catch {
    return undefined;
  }
}
