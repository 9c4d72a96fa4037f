import { resolve } from "node:path";
import { DocumentError } from "../engine/documents/document-error.ts";
import { markOf } from "./read-file.ts";

/** What reading a document gave. */
export interface Read<T> {
  value: T;
  /** Every file that it was read from, by its real path, with the mark it bore then. */
  files: ReadonlyMap<string, string>;
}

export interface Origin<T> {
  /** The real path; undefined for a value that came without a file. */
  file: string | undefined;
  /** What the paths in messages start from. */
  cwd: string;
  /** @throws DocumentError */
  read: () => Read<T>;
}

/** One document: the version in force, and what is wrong with a newer one. */
export class Document<T> {
  readonly file: string | undefined;
  /** The last good version; undefined when there never was one. */
  version: T | undefined;
  /** Of the newest text, where that is not in force. */
  problem: DocumentError | undefined;
  private readonly origin: Origin<T>;
  private readonly marks = new Map<string, string>();

  constructor(origin: Origin<T>) {
    this.file = origin.file;
    this.origin = origin;
  }

  /** Every file that it was read from, or that keeps a newer version from taking effect. */
  get files(): Iterable<string> {
    return this.marks.keys();
  }

  dependsOn(file: string): boolean {
    return this.marks.has(file);
  }

  /** Whether this file is no longer as it was when the version in force was read. */
  isOutdated(file: string): boolean {
    const mark = this.marks.get(file);
    return mark !== undefined && mark !== markOf(file);
  }

  get isStale(): boolean {
    for (const file of this.marks.keys()) if (this.isOutdated(file)) return true;
    return false;
  }

  /**
   * Reads it again: the newest version is in force then, or the last good one and a problem. Returns whether it
   * says something else now, which `differs` tells; where that throws, the newer version cannot take its place.
   */
  refresh(differs: (before: T, after: T) => boolean): boolean {
    const before = this.version;
    try {
      const { value, files } = this.origin.read();
      const changed = before === undefined || differs(before, value);
      if (changed) this.version = value;
      this.problem = undefined;
      this.marks.clear();
      for (const [file, mark] of files) this.marks.set(file, mark);
      return changed;
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      this.problem = error;
      // Perhaps newly extended ones: mending them counts too.
      const suspects = error.problems.map((one) => resolve(this.origin.cwd, one.file));
      for (const file of suspects) if (!this.marks.has(file)) this.marks.set(file, markOf(file));
      return false;
    }
  }
}
