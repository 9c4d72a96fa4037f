import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { Mutex } from "../engine/state/concurrency.ts";
import { makeFolder } from "../hosts/node/storage/folders.ts";
import { FileLock } from "./file-lock.ts";
import { FORMAT_ID, FORMAT_VERSION, type SaveCounts, SqliteFiles } from "./sqlite-files.ts";
import {
  type FileStore,
  PersistenceError,
  type Row,
  type RowChange,
  StoreRefusal,
  toStoreRefusal,
} from "./store.ts";

/**
 * `--persist DIR`: one SQLite database, in a thread of its own (docs/decisions/0007). Its write-ahead log makes each
 * commit atomic, also after kill -9 and on a full disk.
 */
export class SqliteStore implements FileStore {
  readonly uploadsFolder: string;
  readonly setAsideFolder: string;
  private readonly files: SqliteFiles;
  private readonly thread: DatabaseThread;
  private readonly lock: FileLock;
  private readonly mutex = new Mutex();
  /** Whether the files were removed; then the database must be opened again before the next commit. */
  private isLost = false;

  private constructor(files: SqliteFiles, thread: DatabaseThread, lock: FileLock) {
    this.files = files;
    this.thread = thread;
    this.lock = lock;
    this.uploadsFolder = join(files.folder, "uploads");
    this.setAsideFolder = join(files.folder, "set-aside");
  }

  /**
   * Opens the folder's database, or creates one. A damaged one is set aside, and the previous copy used.
   * @param warn called with one sentence for each repair
   * @throws PersistenceError if another server uses the folder, or a newer version wrote it
   */
  static async open(folder: string, warn: (warning: string) => void): Promise<SqliteStore> {
    const files = new SqliteFiles(folder);
    makeFolder(folder, 0o700);
    let lock: FileLock | undefined;
    let thread: DatabaseThread | undefined;
    try {
      files.requireKnownFormat();
      lock = FileLock.acquire(files.database);
      thread = new DatabaseThread(files);
      await openDatabase(files, thread, warn);
      files.recordHolder();
    } catch (error) {
      await thread?.end();
      lock?.release();
      throw files.toOpeningError(error);
    }
    const store = new SqliteStore(files, thread, lock);
    // The start does not wait for the fallback copy.
    if (!files.hasFreshCopy()) void store.copy().catch((error) => warn(describeFailedCopy(files, error)));
    return store;
  }

  list(): Promise<string[]> {
    return this.thread.runInWorker("list");
  }

  load(sandbox: string): Promise<Row[]> {
    return this.thread.runInWorker("load", { sandbox });
  }

  commit(pieces: AsyncIterable<readonly RowChange[]>): Promise<void> {
    return this.mutex.run(async () => {
      try {
        if (this.isLost) await this.reopen();
        for await (const changes of pieces) await this.thread.runInWorker("apply", { changes });
        await this.thread.runInWorker("commit");
      } catch (error) {
        await this.thread.runInWorker("rollBack").catch(() => {});
        const refusal = toStoreRefusal(error, this.files.folder);
        this.isLost ||= refusal.kind === "gone";
        throw refusal;
      }
    });
  }

  /** @throws PersistenceError if the fallback copy could not be made; the database itself is complete */
  async close(): Promise<void> {
    await this.mutex.run(async () => {
      const failure = await this.thread.runInWorker("copyTo", { copy: this.files.copy }).then(
        () => undefined,
        (error: Error) => error,
      );
      await this.thread.runInWorker("close").catch(() => {});
      await this.thread.end();
      this.files.clearHolder();
      this.lock.release();
      if (failure !== undefined && !this.isLost)
        throw new PersistenceError(describeFailedCopy(this.files, failure));
    });
  }

  private copy(): Promise<void> {
    return this.mutex.run(() => this.thread.runInWorker("copyTo", { copy: this.files.copy }));
  }

  /** Opens the database again if the folder exists again: an unmounted folder must not be created. */
  private async reopen(): Promise<void> {
    if (!existsSync(this.files.folder)) throw new StoreRefusal("gone", `${this.files.folder} is gone`);
    this.files.makePrivate();
    await this.thread.runInWorker("reopen");
    this.files.recordHolder();
    this.isLost = false;
  }
}

async function openDatabase(
  files: SqliteFiles,
  thread: DatabaseThread,
  warn: (warning: string) => void,
): Promise<void> {
  const countsOrError = files.readAcknowledged();
  if (countsOrError instanceof Error) warn(countsOrError.message);
  const acknowledged = countsOrError instanceof Error ? undefined : countsOrError;
  let aside: string | undefined;
  // At most three attempts: the database, its copy, and a new database, since the first two may be damaged.
  for (;;) {
    // Once files were set aside, a missing database is a new one.
    const isEmptied = aside === undefined && files.isEmptied();
    if (!isEmptied && !files.isTruncated()) {
      try {
        files.makePrivate();
        const counts = await thread.runInWorker<SaveCounts & { damaged: string[] }>("open");
        if (counts.damaged.length > 0) {
          warn(files.keepDamaged(counts.damaged));
          await thread.runInWorker("rewriteRows");
        }
        const loss = files.reportLoss(acknowledged, counts, aside);
        if (loss !== undefined) warn(loss);
        return;
      } catch (error) {
        const { code = "" } = error as NodeJS.ErrnoException;
        if (!/^SQLITE_(CORRUPT|NOTADB|IOERR_SHORT_READ)/.test(code)) throw error;
      }
    }
    const { aside: damagedFile, message } = files.setDamagedAside();
    aside ??= damagedFile;
    warn(message);
  }
}

function describeFailedCopy(files: SqliteFiles, error: unknown): string {
  return `Everything is saved, but the copy ${files.copy} could not be renewed: ${(error as Error).message}.`;
}

/** In the sources the file is beside this one; in the bundle, chunks are in another folder. */
const THREAD = ["./sqlite-thread.js", "../persistence/sqlite-thread.js"]
  .map((place) => fileURLToPath(new URL(place, import.meta.url)))
  .find((path) => existsSync(path));

interface PendingCall {
  resolve: (value: never) => void;
  reject: (error: Error) => void;
}

/** The thread of the database, called by promises, which resolve in the order of the requests. */
export class DatabaseThread {
  private readonly worker: Worker;
  private readonly pending = new Map<number, PendingCall>();
  private lastNumber = 0;
  /** Why the thread has ended. */
  private failure: Error | undefined;

  constructor({ database: file, acknowledgedFile }: Pick<SqliteFiles, "database" | "acknowledgedFile">) {
    this.worker = new Worker(THREAD!, {
      workerData: { file, acknowledgedFile, formatId: FORMAT_ID, formatVersion: FORMAT_VERSION },
    });
    this.worker.on("message", (reply: { number: number; value?: unknown; error?: object }) => {
      const { resolve, reject } = this.pending.get(reply.number)!;
      this.pending.delete(reply.number);
      if (this.pending.size === 0) this.worker.unref();
      if (reply.error === undefined) resolve(reply.value as never);
      else reject(Object.assign(new Error(), reply.error));
    });
    this.worker.on("error", (error) => this.failAll(error as Error));
    this.worker.on("exit", () => this.failAll(new Error("the database's thread has ended")));
    this.worker.unref();
  }

  /** @throws Error with SQLite's `code`, such as SQLITE_FULL */
  runInWorker<T>(work: string, input: object = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.failure !== undefined) return reject(this.failure);
      const number = ++this.lastNumber;
      this.pending.set(number, { resolve, reject });
      // Keeps the process alive until the thread has answered.
      this.worker.ref();
      this.worker.postMessage({ number, work, input });
    });
  }

  async end(): Promise<void> {
    await this.worker.terminate();
  }

  private failAll(error: Error): void {
    this.failure ??= error;
    for (const { reject } of this.pending.values()) reject(error);
    this.pending.clear();
  }
}
