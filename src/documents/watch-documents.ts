import { dirname } from "node:path";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "node:timers";
import type { FSWatcher } from "chokidar";
import type { OperationSource } from "../engine/own/join.ts";
import type { ChangeListeners } from "../engine/state/concurrency.ts";
import type { DocumentLibrary } from "./document-library.ts";
import { getFileVersion } from "./files.ts";
import { existsSync, statSync } from "./node-files.ts";

/** Editors write in several steps; a file is read once it has been quiet for this long. */
const QUIET_MS = 60;
const CHECK_MS = 500;

/** Documents whose edits change the sandboxes that use them (interfaces.md 6). */
export interface WatchedDocuments {
  files: Pick<
    DocumentLibrary<unknown>,
    "listFilesInUse" | "isFileInUse" | "hasFileChanged" | "onFilesInUseChange"
  >;
  applyEdit: (file: string) => void;
}

/** Files that declare a user's own operations, in code or as OpenAPI documents. */
export interface OwnFiles {
  readonly files: WatchedDocuments["files"];
  /** Loads the newest version of all files. @throws DocumentError for one that cannot be used */
  load(): Promise<readonly OperationSource[]>;
}

/**
 * A view of the files that are in use.
 * @param versions the version of each file when it was loaded, by real path
 * @param listeners called when the set of files has changed
 * @param isNew whether a file was not there before
 */
export function followVersions(
  versions: ReadonlyMap<string, string>,
  listeners: ChangeListeners,
  isNew: (file: string) => boolean = () => false,
): OwnFiles["files"] {
  return {
    listFilesInUse: () => new Set(versions.keys()),
    isFileInUse: (file) => versions.has(file) || isNew(file),
    hasFileChanged: (file) => isNew(file) || versions.get(file) !== getFileVersion(file),
    onFilesInUseChange: (listener) => listeners.add(listener),
  };
}

/** One watcher for all documents in use, loaded with the first of them. */
export class DocumentWatch {
  private readonly documents: readonly WatchedDocuments[];
  private readonly onError: (error: Error) => void;
  private readonly unsubscribers: readonly (() => void)[];
  private readonly paths = new Set<string>();
  /** The watched folders, with what distinguishes each from a later one of its name. */
  private readonly folders = new Map<string, string>();
  private readonly timers = new Map<string, NodeJS.Timeout>();
  /** The version of each file at its last edit: one that could not be applied leaves the file outdated. */
  private readonly editedVersions = new Map<string, string>();
  private watcher: Promise<FSWatcher> | undefined;
  private check: NodeJS.Timeout | undefined;
  private allWatched: Promise<void> = Promise.resolve();
  private failed = false;
  private closed = false;

  /** @param onError called once if files cannot be watched, and for each edit that cannot be applied */
  constructor(documents: readonly WatchedDocuments[], onError: (error: Error) => void) {
    this.documents = documents;
    this.onError = onError;
    this.unsubscribers = documents.map(({ files }) => files.onFilesInUseChange(() => this.follow()));
    this.follow();
  }

  /** Resolves once every file in use is watched. */
  waitUntilReady(): Promise<void> {
    return this.allWatched;
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const stop of this.unsubscribers) stop();
    for (const timer of this.timers.values()) clearTimeout(timer);
    const watcher = await this.watcher?.catch(() => undefined);
    clearInterval(this.check);
    await watcher?.close();
  }

  /** Folders are watched along with their files, because editors replace a file as often as they write into it. */
  private follow(): void {
    const files = this.documents.flatMap((one) => [...one.files.listFilesInUse()]);
    // The watcher would be ready too early with a missing file; its folder announces it.
    const newPaths = [...new Set(files.flatMap((file) => [file, dirname(file)]))].filter(
      (path) => !this.paths.has(path) && existsSync(path),
    );
    if (this.closed || newPaths.length === 0) return;
    for (const path of newPaths) {
      this.paths.add(path);
      const id = getFolderId(path);
      if (id !== undefined) this.folders.set(path, id);
    }
    const before = this.watcher;
    this.watcher =
      before === undefined ? this.open(newPaths) : before.then((watcher) => watcher.add(newPaths));
    const watched = this.watcher.then(before === undefined ? waitForFirstScan : undefined).then(
      () => this.scheduleMissedEdits(),
      (error) => this.fail(error),
    );
    this.allWatched = Promise.all([this.allWatched, watched]).then(() => {});
  }

  /** Applies edits that were made between reading and watching. The watcher does not say when it watches an added path. */
  private scheduleMissedEdits(): void {
    for (const { files } of this.documents)
      for (const file of files.listFilesInUse()) if (files.hasFileChanged(file)) this.scheduleEdit(file);
  }

  private async open(paths: readonly string[]): Promise<FSWatcher> {
    // Loaded here, since a server without watched files does not need it.
    const { watch } = await import("chokidar");
    const watcher = watch([...paths], {
      depth: 0,
      ignoreInitial: true,
      ignored: (path, stats) => stats?.isFile() === true && !this.isInUse(path),
    });
    // Too few watches, or a folder that contains itself, must not end the server.
    watcher.on("error", (error) => this.fail(error as Error));
    for (const event of ["add", "change", "unlink"] as const)
      watcher.on(event, (file) => this.scheduleEdit(file));
    this.check = setInterval(() => {
      this.watchReplacedFolders(watcher);
      this.scheduleMissedEdits();
    }, CHECK_MS).unref();
    return watcher;
  }

  /** A build or a change of branches may replace a folder, which ends the system's watch without notice. */
  private watchReplacedFolders(watcher: FSWatcher): void {
    for (const [folder, id] of this.folders) {
      const current = getFolderId(folder);
      if (current === undefined || current === id) continue;
      const paths = [folder, ...[...this.paths].filter((path) => dirname(path) === folder)];
      watcher.unwatch(paths);
      for (const path of paths) this.paths.delete(path);
    }
    // A folder in which a document expects its base may have appeared.
    this.follow();
  }

  private scheduleEdit(file: string): void {
    if (this.closed || !this.isInUse(file)) return;
    clearTimeout(this.timers.get(file));
    const timer = setTimeout(() => this.applyEdit(file), QUIET_MS);
    this.timers.set(file, timer);
  }

  private applyEdit(file: string): void {
    this.timers.delete(file);
    const version = getFileVersion(file);
    // A busy system may report an edit late, when a check has found it already.
    if (this.editedVersions.get(file) === version) return;
    this.editedVersions.set(file, version);
    try {
      for (const one of this.documents) if (one.files.isFileInUse(file)) one.applyEdit(file);
      // The edited document may extend other files.
      this.follow();
    } catch (error) {
      // After any edit, the server continues with the last good version.
      const { message } = error as Error;
      this.onError(new Error(`the edit of ${file} has no effect: ${message}`, { cause: error }));
    }
  }

  private isInUse(file: string): boolean {
    return this.documents.some(({ files }) => files.isFileInUse(file));
  }

  private fail(error: Error): void {
    if (this.failed || this.closed) return;
    this.failed = true;
    this.onError(
      new Error(`edited files are not noticed and take effect at the next start: ${error.message}`, {
        cause: error,
      }),
    );
  }
}

/** Resolves when the first scan has ended; after an error, the watcher may never report that. */
function waitForFirstScan(watcher: FSWatcher): Promise<void> {
  return new Promise((resolve) => {
    watcher.once("ready", () => resolve());
    watcher.once("error", () => resolve());
  });
}

/** Undefined for anything but a folder. The file system may give a new folder the inode of a deleted one. */
function getFolderId(path: string): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats?.isDirectory() ? `${stats.ino} ${stats.birthtimeMs}` : undefined;
  } catch {
    return undefined;
  }
}
