import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { Low } from "lowdb";
import { Mutex } from "../engine/state/concurrency.ts";
import { DocumentFile } from "./document-file.ts";
import { FileLock } from "./file-lock.ts";
import { listRows, type SandboxSections, SectionsDraft } from "./sections-draft.ts";
import {
  type FileStore,
  PersistenceError,
  type Row,
  type RowChange,
  StoreRefusal,
  toOpeningError,
  toStoreRefusal,
} from "./store.ts";

/** `--persist FILE.json`: all sandboxes in one document that people read, edit and commit to a repository. */
export class DocumentStore implements FileStore {
  readonly uploadsFolder: string;
  readonly setAsideFolder: string;
  private readonly file: string;
  private readonly lock: FileLock;
  private readonly db: Low<SandboxSections>;
  private readonly mutex = new Mutex();

  private constructor(file: string, lock: FileLock, db: Low<SandboxSections>) {
    this.file = file;
    this.lock = lock;
    this.db = db;
    this.uploadsFolder = `${file}.uploads`;
    this.setAsideFolder = `${file}.set-aside`;
  }

  /**
   * Opens the file; if it is missing or damaged, the one before it.
   * @param warn called with one sentence for each repair
   * @throws PersistenceError if another server uses the file, or another program or a newer version wrote it
   */
  static async open(file: string, warn: (warning: string) => void): Promise<DocumentStore> {
    if (!existsSync(dirname(file)))
      throw new PersistenceError(`--persist ${file}: there is no folder ${dirname(file)}.`);
    const document = new DocumentFile(file, warn);
    let lock: FileLock | undefined;
    try {
      document.requireKnownFormat();
      lock = FileLock.acquire(file);
      const db = new Low<SandboxSections>(document, new Map());
      await db.read();
      return new DocumentStore(file, lock, db);
    } catch (error) {
      lock?.release();
      throw toOpeningError(error, file, "file");
    }
  }

  async list(): Promise<string[]> {
    return [...this.db.data.keys()].sort();
  }

  async load(sandbox: string): Promise<Row[]> {
    return listRows(this.db.data.get(sandbox));
  }

  commit(pieces: AsyncIterable<readonly RowChange[]>): Promise<void> {
    return this.mutex.run(async () => {
      const before = this.db.data;
      const next = new SectionsDraft(before);
      for await (const changes of pieces) for (const change of changes) next.apply(change);
      this.db.data = next.sections;
      try {
        if (!existsSync(dirname(this.file))) throw new StoreRefusal("gone", `${dirname(this.file)} is gone`);
        await this.db.write();
      } catch (error) {
        this.db.data = before;
        throw toStoreRefusal(error, this.file);
      }
    });
  }

  async close(): Promise<void> {
    await this.mutex.whenIdle();
    this.lock.release();
  }
}
