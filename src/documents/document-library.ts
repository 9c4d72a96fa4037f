import { DocumentError } from "../engine/documents/document-error.ts";
import { WeakLruCache } from "../engine/documents/weak-lru-cache.ts";
import { ChangeListeners } from "../engine/state/concurrency.ts";
import {
  findDocumentFiles,
  formatPath,
  getFileVersion,
  listDocumentFiles,
  resolveFile,
  toDocumentName,
  UnreadableFile,
} from "./files.ts";
import { resolve } from "./node-files.ts";

export interface LoadedDocument<T> {
  value: T;
  /** The files that it was read from, by their real paths, each with its version at that time. */
  files: ReadonlyMap<string, string>;
}

interface DocumentSource<T> {
  /** The real path; undefined for a value that came without a file. */
  file: string | undefined;
  /** The folder that paths in messages are relative to. */
  cwd: string;
  /** @throws DocumentError */
  read: () => LoadedDocument<T>;
}

/** One document: the active value, and the problem of a newer text. */
export class Document<T> {
  readonly file: string | undefined;
  /** The value of the last good text; undefined if there was none. */
  value: T | undefined;
  /** The problem of the newest text, if it is invalid. */
  problem: DocumentError | undefined;
  private readonly source: DocumentSource<T>;
  /** The version of each file on disk when it was read. */
  private readonly fileVersions = new Map<string, string>();

  constructor(source: DocumentSource<T>) {
    this.file = source.file;
    this.source = source;
  }

  /** The files that it was read from, and those with errors in a newer text. */
  get files(): Iterable<string> {
    return this.fileVersions.keys();
  }

  usesFile(file: string): boolean {
    return this.fileVersions.has(file);
  }

  /** Whether a file of the document has changed since it was read. */
  hasFileChanged(file: string): boolean {
    const fileVersion = this.fileVersions.get(file);
    return fileVersion !== undefined && fileVersion !== getFileVersion(file);
  }

  get hasAnyFileChanged(): boolean {
    return [...this.fileVersions.keys()].some((file) => this.hasFileChanged(file));
  }

  /**
   * Reads the document again. If the newest text is invalid, or `differs` throws because the newest value cannot replace the
   * active one, the active value stays, with the problem. Returns whether the value changed, as `differs` decides.
   */
  refresh(differs: (before: T, after: T) => boolean): boolean {
    const before = this.value;
    try {
      const { value, files } = this.source.read();
      const changed = before === undefined || differs(before, value);
      if (changed) this.value = value;
      this.problem = undefined;
      this.fileVersions.clear();
      for (const [file, fileVersion] of files) this.fileVersions.set(file, fileVersion);
      return changed;
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      this.problem = error;
      // The newest text may extend the broken or missing file, so a change of that file causes another reading. A file that
      // was read before keeps its earlier version, and counts as changed.
      const suspects = error.problems.map((one) => resolve(this.source.cwd, one.file));
      for (const file of [...suspects, ...error.missingFiles])
        if (!this.fileVersions.has(file)) this.fileVersions.set(file, getFileVersion(file));
      return false;
    }
  }
}

interface LibraryOptions<T> {
  /** Searched by name in this order. */
  folders: readonly string[];
  /** The folder that relative paths start from, also in messages. */
  cwd: string;
  /** The number of recently used documents that stay in memory without being referenced. */
  cacheSize: number;
  /** Reads and checks a file. @throws DocumentError */
  read: (file: string) => LoadedDocument<T>;
  /** The name in the document; undefined if documents are named after their files. */
  getName: ((value: T) => string) | undefined;
  /** Whether a newer value differs. @throws DocumentError if it cannot replace the other */
  differs: (before: T, after: T) => boolean;
  /** A document in use changes only by `refresh`; any other is read again when it is requested. */
  isInUse: (document: Document<T>) => boolean;
}

/** The documents in use that an edit of a file changed or broke. */
export interface AffectedDocuments<T> {
  changed: Document<T>[];
  /** The last good value of these stays active. */
  broken: { document: Document<T>; problem: DocumentError }[];
}

/**
 * Documents of one kind by name: from single files, the user's folder and the shipped folder, in this order of precedence,
 * and from values without a file. Each is read when it is first requested, and keeps its last good value.
 */
export class DocumentLibrary<T> {
  readonly folders: readonly string[];
  private readonly options: LibraryOptions<T>;
  /** Documents by real path, or by the key of a value. */
  private readonly documents: WeakLruCache<string, Document<T>>;
  private readonly singleFiles: string[] = [];
  private readonly listeners = new ChangeListeners();

  constructor(options: LibraryOptions<T>) {
    const { cwd, folders, cacheSize } = options;
    this.options = options;
    this.folders = folders.map((folder) => resolve(cwd, folder));
    this.documents = new WeakLruCache(cacheSize);
  }

  getName({ file, value }: Document<T>): string {
    const { getName } = this.options;
    return value !== undefined && getName !== undefined ? getName(value) : toDocumentName(file ?? "");
  }

  showPath(file: string): string {
    return formatPath(file, this.options.cwd);
  }

  find(name: string): Document<T> | undefined {
    if (this.options.getName === undefined) return this.findByFileName(name);
    for (const folder of this.folders) {
      // Most files have the names of their documents, which saves reading all others of the folder.
      const document =
        this.findByFileName(name, [folder]) ??
        this.readFolder(folder).find((one) => this.getName(one) === name);
      if (document !== undefined) return document;
    }
    return undefined;
  }

  /** Searches single files, and files that have the names of their documents. */
  findByFileName(name: string, folders = this.folders): Document<T> | undefined {
    for (const file of [...this.singleFiles, ...findDocumentFiles(name, folders)]) {
      const document = this.getByFile(file);
      if (this.getName(document) === name) return document;
    }
    return undefined;
  }

  /** Documents by name; a user's file replaces a shipped one. */
  list(): Document<T>[] {
    const byName = new Map<string, Document<T>>();
    for (const document of this.readAll()) {
      const name = this.getName(document);
      if (!byName.has(name)) byName.set(name, document);
    }
    return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, document]) => document);
  }

  /** The document in a file, given by its real path. */
  getByFile(file: string): Document<T> {
    return this.readCached(file, file, () => this.options.read(file));
  }

  /** The document of a value that came without a file; `key` stands for the value. */
  readValue(key: string, read: () => LoadedDocument<T>): Document<T> {
    return this.readCached(key, undefined, read);
  }

  /**
   * Adds a file outside the folders; its document precedes all others of its name.
   * @throws DocumentError
   */
  add(path: string): T {
    const file = resolve(this.options.cwd, path);
    const real = resolveFile(file);
    if (real === undefined)
      throw new UnreadableFile(this.showPath(file), `there is no file ${this.showPath(file)}`);
    const { value, problem } = this.getByFile(real);
    if (value === undefined) throw problem!;
    if (!this.singleFiles.includes(real)) this.singleFiles.unshift(real);
    return value;
  }

  /** The documents in memory: the recently used ones, and those that something else refers to. */
  listLoaded(): Document<T>[] {
    return [...this.documents.values()];
  }

  listInUse(): Document<T>[] {
    return this.listLoaded().filter(this.options.isInUse);
  }

  listFilesInUse(): Set<string> {
    return new Set(this.listInUse().flatMap(({ files }) => [...files]));
  }

  isFileInUse(file: string): boolean {
    return this.listDependents(file).length > 0;
  }

  /** Whether a file in use has changed since it was read. */
  hasFileChanged(file: string): boolean {
    return this.listDependents(file).some((document) => document.hasFileChanged(file));
  }

  /** Calls back when the set of files in use may have changed. Returns a function that removes the listener. */
  onFilesInUseChange(listener: () => void): () => void {
    return this.listeners.add(listener);
  }

  announceFilesInUse(): void {
    this.listeners.notify();
  }

  /** Reads again the documents in use that a file belongs to. */
  refresh(file: string): AffectedDocuments<T> {
    const refreshed: AffectedDocuments<T> = { changed: [], broken: [] };
    for (const document of this.listDependents(file)) {
      const changed = document.refresh(this.options.differs);
      const { problem } = document;
      if (changed) refreshed.changed.push(document);
      else if (problem !== undefined) refreshed.broken.push({ document, problem });
    }
    return refreshed;
  }

  /** Reads the loaded documents again, because the schemas that they are checked against have changed. */
  rereadAll(): void {
    for (const document of this.listLoaded()) document.refresh(() => true);
  }

  /** The documents in use that a file belongs to. */
  private listDependents(file: string): Document<T>[] {
    return this.listLoaded().filter((document) => document.usesFile(file) && this.options.isInUse(document));
  }

  /** Lists all documents in order of precedence. */
  private readAll(): Document<T>[] {
    const single = this.singleFiles.map((file) => this.getByFile(file));
    return [...single, ...this.folders.flatMap((folder) => this.readFolder(folder))];
  }

  /** As in `find`, files that have the names of their documents come first. */
  private readFolder(folder: string): Document<T>[] {
    const documents = listDocumentFiles(folder).map(({ file }) => this.getByFile(file));
    const isNamesake = (one: Document<T>) => this.getName(one) === toDocumentName(one.file!);
    return [...documents.filter(isNamesake), ...documents.filter((one) => !isNamesake(one))];
  }

  private readCached(key: string, file: string | undefined, read: () => LoadedDocument<T>): Document<T> {
    const { cwd, isInUse, differs } = this.options;
    const cached = this.documents.get(key);
    if (cached !== undefined) {
      if (!isInUse(cached) && cached.hasAnyFileChanged) cached.refresh(differs);
      return cached;
    }
    const document = new Document<T>({ file, cwd, read });
    document.refresh(differs);
    // A document that was never valid is read again each time, since the broken file may be one that it extends.
    if (document.value !== undefined) this.documents.set(key, document);
    return document;
  }
}
