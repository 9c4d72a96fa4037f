import { Mutex } from "../engine/state/concurrency.ts";
import type { MemoryUploads } from "../hosts/fetch/memory-uploads.ts";
import { loadSandboxes } from "./load-sandboxes.ts";
import type { RestorerParts } from "./sandbox-restorer.ts";
import type { Saver, SavingFailure } from "./saver.ts";
import { listRows, type SandboxSections, SectionsDraft } from "./sections-draft.ts";
import { PersistenceError, type Row, type RowChange, type Store, toStoreRefusal } from "./store.ts";

/** The format of the log, which is the version of the database; a newer one is refused. */
const FORMAT = 1;
const PREFIX = "understudy:";
/** Changes in one record of the log. */
const BLOCK_SIZE = 1000;
/** The log is rewritten once it has grown by this number of changes and is twice as long as necessary. */
const MAX_GROWTH = 20_000;

/* The used parts of IndexedDB, since this project does not include the types of browsers. */
interface IdbRequest<T = unknown> {
  result: T;
  error: Error | null;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}
interface Table {
  put(value: unknown, key: string): void;
  add(value: unknown): void;
  delete(key: string): void;
  clear(): void;
  get(key: string): IdbRequest<Uint8Array | undefined>;
  getAll(): IdbRequest<(readonly RowChange[])[]>;
  getAllKeys(): IdbRequest<string[]>;
}
interface Transaction {
  error: Error | null;
  objectStore(name: string): Table;
  commit(): void;
  oncomplete: () => void;
  onabort: () => void;
}
interface Database {
  transaction(names: string | string[], mode: "readonly" | "readwrite", options?: object): Transaction;
  createObjectStore(name: string, options?: object): void;
  close(): void;
  onversionchange: () => void;
}
declare const indexedDB: {
  open(name: string, version: number): IdbRequest<Database> & { onupgradeneeded: () => void };
  databases(): Promise<{ name: string; version: number }[]>;
};

/**
 * Worlds of a page in the browser's own database, one for each name. It contains a log of changes, since
 * browsers store one large record a hundred times faster than many small ones. Tabs that share a world take turns
 * by a lock of the browser (`client/shared-world.ts`).
 */
export class IndexedDbStore implements Store {
  private readonly db: Database;
  private readonly place: string;
  private readonly mutex = new Mutex();
  /** Pieces of uploads that the next commit stores, with the rows that name them. */
  private readonly unsavedPieces = new Map<string, Uint8Array>();
  /** Changes in the log since `compactLog` last ran. */
  private changesSinceCompacting = 0;

  private constructor(db: Database, place: string) {
    this.db = db;
    this.place = place;
    // Another tab wants to delete the database, and waits until this one closes it.
    db.onversionchange = () => db.close();
  }

  /** @throws PersistenceError if a newer version wrote it; the browser's error if it refuses to store anything */
  static async open(name: string): Promise<IndexedDbStore> {
    const opening = indexedDB.open(PREFIX + name, FORMAT);
    opening.onupgradeneeded = () => {
      for (const log of ["changes", "aside"]) opening.result.createObjectStore(log, { autoIncrement: true });
      opening.result.createObjectStore("pieces");
    };
    const db = await toPromise(opening).catch(async (error) => {
      if (error.name !== "VersionError") throw error;
      const version = (await indexedDB.databases()).find((one) => one.name === PREFIX + name)?.version;
      throw new PersistenceError(
        `The world "${name}" was written by a newer Understudy (format ${version}, this one knows ${FORMAT}); update the package, or choose another name for \`persist\`.`,
      );
    });
    const store = new IndexedDbStore(db, `the world "${name}"`);
    await store.compactLog();
    return store;
  }

  async list(): Promise<string[]> {
    return [...(await this.read()).sections.keys()].sort();
  }

  async load(sandbox: string): Promise<Row[]> {
    return listRows((await this.read()).sections.get(sandbox));
  }

  commit(batches: AsyncIterable<readonly RowChange[]>): Promise<void> {
    return this.mutex.run(async () => {
      // Collected first, since a transaction without a pending request ends.
      const changes: RowChange[] = [];
      for await (const batch of batches) changes.push(...batch);
      const pieces = [...this.unsavedPieces];
      await this.write(["changes", "pieces"], (log, pieceTable) => {
        addBlocks(log!, changes);
        for (const [name, bytes] of pieces) pieceTable!.put(bytes, name);
      });
      for (const [name] of pieces) this.unsavedPieces.delete(name);
      this.changesSinceCompacting += changes.length;
      if (this.changesSinceCompacting > MAX_GROWTH) await this.compactLog();
    });
  }

  /** @returns their new place, for a message */
  async setAside(name: string, rows: readonly Row[]): Promise<string> {
    await this.write(["aside"], (aside) => aside!.add({ name, rows }));
    return `a record of "aside" in the IndexedDB of ${this.place}`;
  }

  /** Bytes of uploads, which rows name. */
  readonly pieces = {
    put: (name: string, bytes: Uint8Array) => void this.unsavedPieces.set(name, bytes),
    get: (name: string) => toPromise(this.openTable("pieces").get(name)),
    removeAllBut: async (names: ReadonlySet<string>) => {
      const storedNames = await toPromise(this.openTable("pieces").getAllKeys());
      await this.write(["pieces"], (pieceTable) => {
        for (const name of storedNames) if (!names.has(name)) pieceTable!.delete(name);
      });
    },
  };

  async close(): Promise<void> {
    await this.mutex.whenIdle();
    this.db.close();
  }

  private async read(): Promise<{ sections: SandboxSections; length: number }> {
    const log = await toPromise(this.openTable("changes").getAll());
    const draft = new SectionsDraft(new Map());
    let length = 0;
    for (const changes of log) {
      length += changes.length;
      for (const change of changes) draft.apply(change);
    }
    return { sections: draft.sections, length };
  }

  /** Rewrites the log without overwritten changes, if these are half of it. */
  private async compactLog(): Promise<void> {
    const { sections, length } = await this.read();
    this.changesSinceCompacting = 0;
    const rows = [...sections].flatMap(([sandbox, rowsBySection]) =>
      listRows(rowsBySection).map((row) => ({ sandbox, ...row })),
    );
    if (length < 2 * rows.length + BLOCK_SIZE) return;
    // If there is no room for it, the log stays as it is, and the next attempt comes later.
    await this.write(["changes"], (log) => {
      log!.clear();
      addBlocks(log!, rows);
    }).catch(() => {});
  }

  private openTable(name: string): Table {
    return this.db.transaction(name, "readonly").objectStore(name);
  }

  private async write(names: string[], change: (...tables: Table[]) => void): Promise<void> {
    try {
      // Relaxed, since an answer waits for it: only a power failure may lose it, a crash of the browser does not.
      const transaction = this.db.transaction(names, "readwrite", { durability: "relaxed" });
      const done = new Promise<void>((resolve, reject) => {
        transaction.oncomplete = resolve;
        transaction.onabort = () => reject(transaction.error ?? new Error("the browser gave up"));
      });
      change(...names.map((name) => transaction.objectStore(name)));
      // Commits without waiting for results, which a page that is being left does not receive.
      transaction.commit();
      await done;
    } catch (error) {
      throw toStoreRefusal(error, this.place);
    }
  }
}

function addBlocks(log: Table, changes: readonly RowChange[]): void {
  for (let from = 0; from < changes.length; from += BLOCK_SIZE)
    log.add(changes.slice(from, from + BLOCK_SIZE));
}

function toPromise<T>(request: IdbRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

interface IndexedDbParts extends RestorerParts {
  uploads: MemoryUploads;
}

/**
 * Loads the sandboxes of a stored world, and saves their changes. Resolves with the reason if the browser
 * cannot store anything, as in some private windows; then the world is only in memory.
 * @throws PersistenceError if a newer version wrote the world
 */
export async function openIndexedDb(name: string, parts: IndexedDbParts): Promise<Saver | SavingFailure> {
  let store: IndexedDbStore;
  try {
    store = await IndexedDbStore.open(name);
  } catch (error) {
    if (error instanceof PersistenceError) throw error;
    const refusal = toStoreRefusal(error, `the world "${name}"`);
    parts.log.warn(
      `This browser stores nothing: ${refusal.message}. The world lasts until the page is left.`,
    );
    return { refusal, since: Date.now() };
  }
  parts.uploads.storeIn(store.pieces);
  return loadSandboxes(parts, store, (sandbox, rows) => store.setAside(sandbox, rows));
}
