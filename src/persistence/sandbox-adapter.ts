import type { Adapter } from "lowdb";
import type { SandboxValue } from "../sandbox/sandbox.ts";
import { readSafely, writeSafely } from "./safe-file.ts";
import { parseSandbox, type SandboxToSave, type SavedSandbox, sandboxPieces } from "./sandbox-file.ts";

/** What lowdb holds: a sandbox that was read, or one that is to be written. */
export type Kept =
  | { read: SavedSandbox }
  | { save: SandboxToSave; blobs: ReadonlyMap<SandboxValue, unknown> };

/**
 * lowdb's port to our files. Its own adapter writes in place and keeps no earlier copy; this one fsyncs,
 * renames, keeps the previous good copy, and yields to requests while it writes.
 */
export class SandboxAdapter implements Adapter<Kept | null> {
  readonly file: string;
  /** What had to be said about damaged copies on the last read. */
  warnings: string[] = [];

  constructor(file: string) {
    this.file = file;
  }

  async read(): Promise<Kept | null> {
    const { text, warnings } = readSafely(this.file);
    this.warnings = warnings;
    return text === undefined ? null : { read: parseSandbox(text, this.file) };
  }

  async write(kept: Kept | null): Promise<void> {
    if (kept !== null && "save" in kept) await writeSafely(this.file, sandboxPieces(kept.save, kept.blobs));
  }
}
