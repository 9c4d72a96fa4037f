import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import { DocumentStore } from "../../src/persistence/document-store.ts";
import { SqliteStore } from "../../src/persistence/sqlite-store.ts";
import type { RowChange, Store } from "../../src/persistence/store.ts";

/** Folder, warnings and open stores of the running test. */
export const storeContext: { folder: string; warnings: string[]; open: Store[] } = {
  folder: "",
  warnings: [],
  open: [],
};
export const recordWarning = (warning: string) => void storeContext.warnings.push(warning);

/** Creates a new context for each test of the file. */
export function setUpStoreContext(): void {
  beforeEach(() => {
    storeContext.folder = mkdtempSync(join(tmpdir(), "understudy-store-"));
    storeContext.warnings = [];
  });
  afterEach(async () => {
    await closeStores();
    rmSync(storeContext.folder, { recursive: true, force: true });
  });
}

export async function closeStores(): Promise<void> {
  for (const store of storeContext.open.splice(0)) await store.close().catch(() => {});
}

export interface StoreAdapter {
  name: string;
  open(): Promise<Store>;
}

/** Returns functions that open a store, and open it again after closing it. */
export function createStoreOpener({ open }: StoreAdapter) {
  const start = async () => {
    const store = await open();
    storeContext.open.push(store);
    return store;
  };
  const restart = async (store: Store) => {
    storeContext.open.splice(storeContext.open.indexOf(store), 1);
    await store.close();
    return start();
  };
  return { start, restart };
}

/** The stores that save to files, with their files. */
export const FILE_STORES = [
  {
    name: "SQLite, --persist DIR",
    open: (place = storeContext.folder) => SqliteStore.open(place, recordWarning),
    file: (place = storeContext.folder) => join(place, "understudy.db"),
    version: (file: string, version: number) => {
      const bytes = readFileSync(file);
      bytes.writeUInt32BE(version, 60);
      writeFileSync(file, bytes);
    },
  },
  {
    name: "lowdb, --persist FILE.json",
    open: (place = storeContext.folder) => DocumentStore.open(join(place, "worlds.json"), recordWarning),
    file: (place = storeContext.folder) => join(place, "worlds.json"),
    version: (file: string, version: number) =>
      writeFileSync(file, readFileSync(file, "utf8").replace('"version": 2', `"version": ${version}`)),
  },
] as const;

export async function* toPieces(...all: (readonly RowChange[])[]): AsyncGenerator<readonly RowChange[]> {
  yield* all;
}

export const put = (sandbox: string, section: string, id: string, value: unknown): RowChange => ({
  sandbox,
  section,
  id,
  text: JSON.stringify(value),
});
