import { resolve } from "node:path";
import { DocumentError } from "../engine/documents/document-error.ts";
import { WeakLruCache } from "../engine/documents/weak-lru-cache.ts";
import { filesCalled, filesIn, markOf, nameOfFile, realFile, showFile, UnreadableFile } from "./files.ts";

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

export interface LibraryOptions<T> {
  /** Where documents are found by name, the first that has one wins. */
  folders: readonly string[];
  /** What relative paths start from and messages show paths by. */
  cwd: string;
  /** So many documents are kept although nobody holds them. */
  kept: number;
  /** Reads and checks a file. @throws DocumentError */
  read: (file: string) => Read<T>;
  /** What a document calls itself; undefined where documents are called like their files. */
  nameOf: ((version: T) => string) | undefined;
  /** Whether a newer version says something else. @throws DocumentError where it cannot take the other's place */
  differs: (before: T, after: T) => boolean;
  /** What is in use changes by `refresh` alone; anything else is read again when it is asked for. */
  isInUse: (document: Document<T>) => boolean;
}

/** What became of the documents in use that an edited file belongs to. */
export interface Refreshed<T> {
  changed: Document<T>[];
  /** The last good version of these stays in force. */
  broken: { document: Document<T>; problem: DocumentError }[];
}

/**
 * Documents of one kind, found by name: the user's folder, the shipped ones, single files, and values that came
 * without a file. Each is read when it is first asked for, and keeps its last good version.
 */
export class DocumentLibrary<T> {
  readonly folders: readonly string[];
  private readonly options: LibraryOptions<T>;
  /** By real path, or by the key of a value. */
  private readonly documents: WeakLruCache<string, Document<T>>;
  private readonly single: string[] = [];
  private readonly listeners = new Set<() => void>();

  constructor(options: LibraryOptions<T>) {
    const { cwd, folders, kept } = options;
    this.options = options;
    this.folders = folders.map((folder) => resolve(cwd, folder));
    this.documents = new WeakLruCache(kept);
  }

  nameOf({ file, version }: Document<T>): string {
    const { nameOf } = this.options;
    return version !== undefined && nameOf !== undefined ? nameOf(version) : nameOfFile(file ?? "");
  }

  /** A path as messages show it. */
  shown(file: string): string {
    return showFile(file, this.options.cwd);
  }

  /** Undefined when no document is called so. */
  find(name: string): Document<T> | undefined {
    // Most files are called like their documents, which saves reading all the others.
    const found = this.findByFile(name);
    if (found !== undefined || this.options.nameOf === undefined) return found;
    return this.all().find((document) => this.nameOf(document) === name);
  }

  /** The same among single files, and files that are called like their documents. */
  findByFile(name: string): Document<T> | undefined {
    for (const file of [...this.single, ...filesCalled(name, this.folders)]) {
      const document = this.at(file);
      if (this.nameOf(document) === name) return document;
    }
    return undefined;
  }

  /** One of each name, by name: a file of the user's hides a shipped one. */
  list(): Document<T>[] {
    const byName = new Map<string, Document<T>>();
    for (const document of this.all()) {
      const name = this.nameOf(document);
      if (!byName.has(name)) byName.set(name, document);
    }
    return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, document]) => document);
  }

  /** The document in a file, given by its real path. */
  at(file: string): Document<T> {
    return this.kept(file, file, () => this.options.read(file));
  }

  /** The document of a value that came without a file; `key` stands for the value. */
  value(key: string, read: () => Read<T>): Document<T> {
    return this.kept(key, undefined, read);
  }

  /**
   * Takes a file that stands in none of the folders; its document goes before all others of its name.
   * @throws DocumentError
   */
  add(path: string): T {
    const file = resolve(this.options.cwd, path);
    const real = realFile(file);
    if (real === undefined)
      throw new UnreadableFile(this.shown(file), `there is no file ${this.shown(file)}`);
    const { version, problem } = this.at(real);
    if (version === undefined) throw problem!;
    if (!this.single.includes(real)) this.single.unshift(real);
    return version;
  }

  /** Every document that could be read and is held by somebody. */
  known(): Document<T>[] {
    return [...this.documents.values()];
  }

  inUse(): Document<T>[] {
    return this.known().filter(this.options.isInUse);
  }

  filesInUse(): Set<string> {
    return new Set(this.inUse().flatMap(({ files }) => [...files]));
  }

  isFileInUse(file: string): boolean {
    return this.dependentOn(file).length > 0;
  }

  /** Whether a file in use is no longer as it was when it was read. */
  isOutdated(file: string): boolean {
    return this.dependentOn(file).some((document) => document.isOutdated(file));
  }

  /** Calls back when other files than before may be in use; returns the way to stop. */
  onUse(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  announceUse(): void {
    for (const listener of this.listeners) listener();
  }

  /** Reads again every document in use that a file belongs to. */
  refresh(file: string): Refreshed<T> {
    const refreshed: Refreshed<T> = { changed: [], broken: [] };
    for (const document of this.dependentOn(file)) {
      const changed = document.refresh(this.options.differs);
      const { problem } = document;
      if (changed) refreshed.changed.push(document);
      else if (problem !== undefined) refreshed.broken.push({ document, problem });
    }
    return refreshed;
  }

  /** Those in use. */
  private dependentOn(file: string): Document<T>[] {
    return this.known().filter((document) => document.dependsOn(file) && this.options.isInUse(document));
  }

  /** In order of precedence. */
  private all(): Document<T>[] {
    return [...this.single, ...this.folders.flatMap(filesIn)].map((file) => this.at(file));
  }

  private kept(key: string, file: string | undefined, read: () => Read<T>): Document<T> {
    const { cwd, isInUse, differs } = this.options;
    const known = this.documents.get(key);
    if (known !== undefined) {
      if (!isInUse(known) && known.isStale) known.refresh(differs);
      return known;
    }
    const document = new Document<T>({ file, cwd, read });
    document.refresh(differs);
    // What never was right is read again each time: another file may be to blame, which may come into being.
    if (document.version !== undefined) this.documents.set(key, document);
    return document;
  }
}
