import { closeSync, openSync } from "node:fs";
import { createRequire } from "node:module";

/**
 * Locks a file for one server. Node cannot lock files; SQLite can, with a lock of the operating system that ends with
 * the process and does not depend on process ids.
 */
export class FileLock {
  private readonly db: { exec(sql: string): unknown; close(): void };

  private constructor(db: FileLock["db"]) {
    this.db = db;
  }

  /** @throws Error of the system, or with the code SQLITE_BUSY if another server has it */
  static acquire(path: string): FileLock {
    const file = `${path}.lock`;
    closeSync(openSync(file, "a", 0o600));
    const Database = createRequire(import.meta.url)("libsql") as typeof import("libsql");
    const db = new Database(file);
    try {
      db.exec("BEGIN EXCLUSIVE");
      return new FileLock(db);
    } catch (error) {
      db.close();
      throw error;
    }
  }

  /** Does not remove the empty file, since another server may have just locked it. */
  release(): void {
    this.db.exec("ROLLBACK");
    this.db.close();
  }
}
