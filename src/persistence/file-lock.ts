import { createRequire } from "node:module";
import { PersistenceError } from "./persistence-error.ts";

/**
 * Keeps a file to one server. Node cannot lock files; the engine of `--persist DIR` can, with the lock of the
 * operating system, which goes with the process and which nobody else's process id can pass for.
 */
export class FileLock {
  private readonly db: { exec(sql: string): unknown; close(): void };

  private constructor(db: FileLock["db"]) {
    this.db = db;
  }

  /** @throws PersistenceError when another server has it */
  static take(of: string): FileLock {
    const file = `${of}.lock`;
    const Database = createRequire(import.meta.url)("libsql") as typeof import("libsql");
    try {
      const db = new Database(file);
      db.exec("BEGIN EXCLUSIVE");
      return new FileLock(db);
    } catch (error) {
      const { code = "", message } = error as NodeJS.ErrnoException;
      if (code.startsWith("SQLITE_BUSY")) {
        throw new PersistenceError(
          `${of} is in use by another server; stop that server, or choose another file with --persist.`,
        );
      }
      throw new PersistenceError(`--persist ${of} cannot be used: ${message}.`);
    }
  }

  /** The empty file stays: whoever removed it could remove it under a server that has just locked it. */
  release(): void {
    this.db.exec("ROLLBACK");
    this.db.close();
  }
}
