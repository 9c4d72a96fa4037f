import { randomUUID } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "./make-folder.ts";

/** A folder whose files outlive the process, because something that is kept names them. */
export class KeptFolder {
  readonly path: string;
  private isMade = false;

  constructor(path: string) {
    this.path = path;
  }

  /** A path in it that no server has used before. */
  newPath(kind: string): string {
    if (!this.isMade) makeFolder(this.path, 0o700);
    this.isMade = true;
    return join(this.path, `${kind}-${randomUUID()}`);
  }

  /** What a server that was killed had begun, and nothing names. */
  removeAllBut(wanted: ReadonlySet<string>): void {
    for (const name of namesIn(this.path)) {
      if (!wanted.has(name)) rmSync(join(this.path, name), { force: true });
    }
  }

  /** Makes the names of new files last. */
  async sync(): Promise<void> {
    const folder = await open(this.path, "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
