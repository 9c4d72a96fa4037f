import { toSentence } from "../engine/contract/text.ts";
import { type RestorerParts, SandboxRestorer } from "./sandbox-restorer.ts";
import { splitChanges } from "./sandbox-rows.ts";
import { Saver } from "./saver.ts";
import { MissingOperations, type Row, type Store } from "./store.ts";

/** Moves the rows of a sandbox that cannot be loaded to another place; resolves with the place. */
type SetAside = (name: string, rows: readonly Row[]) => Promise<string>;

/**
 * Loads the sandboxes of a store, and saves their changes from now on. A sandbox that cannot be loaded is set aside;
 * the others are not affected.
 */
export async function loadSandboxes(parts: RestorerParts, store: Store, setAside: SetAside): Promise<Saver> {
  const { sandboxes, uploads, log } = parts;
  const restorer = new SandboxRestorer(parts);
  const saver = new Saver({
    store,
    uploads,
    log,
    sandboxes: {
      all: () => sandboxes.all(),
      get: (name) => sandboxes.get(name),
      undoCreation: (name) => sandboxes.delete(name),
      undoDeletion: async (name) => {
        const image = await restorer.restoreRows(name, await store.load(name));
        // Small changes that loading made are saved with the next change.
        image.refreshVersions();
        saver.adopt(image);
      },
    },
  });
  let areAllLoaded = true;
  for (const name of await store.list()) {
    const rows = await store.load(name);
    try {
      saver.adopt(await restorer.restoreRows(name, rows));
    } catch (error) {
      if (error instanceof MissingOperations) throw error;
      areAllLoaded = false;
      const place = await setAside(name, rows);
      await store.commit(splitChanges([{ sandbox: name, clearPrefix: "" }]));
      const reason = toSentence((error as Error).message);
      log.warn(`Sandbox ${name} could not be loaded and was set aside as ${place}: ${reason}`);
    }
  }
  sandboxes.sortByCreation();
  // The rows that were set aside name files too, which a sweep would delete.
  if (areAllLoaded) uploads.sweep();
  saver.start();
  return saver;
}
