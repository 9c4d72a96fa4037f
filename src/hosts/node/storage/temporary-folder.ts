import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { makeOwnedFolder } from "./orphaned-folders.ts";

/** Those that there are; one listener for all, however many servers a process has. */
const folders = new Set<TemporaryFolder>();

function removeOnExit(): void {
  for (const folder of folders) folder.remove();
}

/**
 * A folder that comes into being with the first file for it and goes with the process; what a killed one
 * leaves behind, the next server sweeps away.
 */
export class TemporaryFolder {
  private made: string | undefined;
  private files = 0;

  get path(): string {
    // Machines clear their temporary folders, also under those who run.
    if (this.made === undefined || !existsSync(this.made)) {
      this.made = makeOwnedFolder();
      if (folders.size === 0) process.on("exit", removeOnExit);
      folders.add(this);
    }
    return this.made;
  }

  /** A path in it that nothing has been stored under; the name says nothing of what a client sent. */
  newPath(kind: string): string {
    this.files += 1;
    return join(this.path, `${kind}-${String(this.files).padStart(8, "0")}`);
  }

  remove(): void {
    if (folders.delete(this) && folders.size === 0) process.off("exit", removeOnExit);
    if (this.made === undefined) return;
    rmSync(this.made, { recursive: true, force: true });
    this.made = undefined;
  }
}
