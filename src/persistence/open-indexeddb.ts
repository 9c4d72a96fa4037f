import type { MemoryUploads } from "../hosts/fetch/memory-uploads.ts";
import { IndexedDbStore } from "./indexeddb-store.ts";
import { loadWorlds } from "./load-worlds.ts";
import type { RestorerParts } from "./sandbox-restorer.ts";
import type { Saver, SavingFailure } from "./saver.ts";
import { PersistenceError, toStoreRefusal } from "./store.ts";

export interface IndexedDbParts extends RestorerParts {
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
  parts.uploads.keepIn(store.pieces);
  return loadWorlds(parts, store, (sandbox, rows) => store.setAside(sandbox, rows));
}
