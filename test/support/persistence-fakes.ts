import { Type } from "typebox";
import { DEFAULT_SETTINGS } from "../../src/engine/contract/settings.ts";
import { RateWindows } from "../../src/engine/sandbox/rate-windows.ts";
import type { Sandbox } from "../../src/engine/sandbox/sandbox.ts";
import { makeClock } from "../../src/engine/state/clock.ts";
import { collection } from "../../src/engine/state/collection.ts";
import type { Root } from "../../src/engine/state/tables.ts";
import { Tables } from "../../src/engine/state/tables.ts";
import { timers } from "../../src/engine/state/timers.ts";
import { World } from "../../src/engine/state/world.ts";
import type { UploadStore } from "../../src/hosts/node/storage/upload-store.ts";
import type { PersistenceError } from "../../src/persistence/store.ts";
import { type RowChange, type Store, StoreRefusal } from "../../src/persistence/store.ts";

export interface Note {
  id: string;
  text: string;
}

export const notes = collection<Note>({
  ...{ name: "notes", prefix: "note_", idField: "id", schema: Type.Object({}), indexes: {} },
});

export function makeNotesWorld(root: Root): World {
  return new World({
    root,
    clock: makeClock("frozen", 500, 0),
    ...{ origin: 0, seed: 7, secretKey: "key", wallClock: () => 0 },
    parts: { timerHandlers: {}, onEmit: () => {}, onCommit: () => {} },
  });
}

/** Creates a root with these notes. */
export function createRoot(...all: Note[]): Root {
  const world = makeNotesWorld({ tables: Tables.empty([notes, timers]), draws: 0 });
  world.transact((tx) => tx.putAll(notes, all));
  return world.root;
}

/**
 * Creates the parts of a sandbox that a saver reads. The world and the rate windows are real; a test sets the others.
 */
export function createFakeSandbox(name = "default", base = createRoot({ id: "n1", text: "of the fixture" })) {
  const rollbacks: unknown[] = [];
  const sandbox = {
    ...{ name, created_at: 1000, fixture: "reference", seed: 7, resets: 0, start: 500 },
    settings: { ...DEFAULT_SETTINGS },
    api: { resources: [], collections: [notes] },
    ownResources: [] as never[],
    world: makeNotesWorld(base),
    windows: new RateWindows(),
    source: {
      name: "reference",
      buildRoot: () => base,
      getDocument: () => ({ notes: [] }),
      getMinimumRecordCount: () => 1,
    },
    faults: { rules: { revision: 0 }, toState: () => ({ numbered: sandbox.faults.rules.revision }) },
    history: {
      revision: 0,
      about: { next: 1, base: 0, dropped: 0 },
      entries: new Map<{ sequence: number }, number>(),
      toSnapshot: () => ({ about: sandbox.history.about, entries: new Map(sandbox.history.entries) }),
    },
    snapshots: new Map<string, unknown>(),
    blobs: `${name}'s bytes`,
    toValue: () => ({
      world: sandbox.world.toValue(),
      windows: new RateWindows(sandbox.windows.table),
      taken_at: 500,
      blobs: sandbox.blobs,
    }),
    rollbackTo(kept: { value: { world: { root: Root } } }) {
      rollbacks.push(kept);
      sandbox.world.root = kept.value.world.root;
      sandbox.world.generation += 1;
    },
  };
  return {
    sandbox: sandbox as unknown as Sandbox,
    /** The same object, with a type that lets tests change it. */
    plain: sandbox,
    rollbacks,
    write: (id: string, text: string) => sandbox.world.transact((tx) => tx.put(notes, { id, text })),
    remove: (id: string) => sandbox.world.transact((tx) => tx.remove(notes, id)),
    count: () => sandbox.windows.count("key", 10, 500),
  };
}

/** Creates a fake store of uploads, whose bytes are only names. Counts the holds on each. */
export function createFakeUploads() {
  const held = new Map<string, number>();
  const synced: unknown[] = [];
  const bytes = { revision: 0 };
  const add = (blobs: unknown, by: number) => {
    if (blobs !== undefined) held.set(String(blobs), (held.get(String(blobs)) ?? 0) + by);
  };
  const uploads = {
    hold: (blobs: unknown) => add(blobs, 1),
    release: (blobs: unknown) => add(blobs, -1),
    getRevision: () => bytes.revision,
    async sync(blobs: unknown) {
      synced.push(blobs);
    },
    toStored: (blobs: unknown) => ({ of: blobs }),
    *listPaths(blobs: unknown) {
      if (blobs !== undefined) yield { path: `/${blobs}`, length: 1 };
    },
  };
  return { uploads: uploads as unknown as UploadStore, held, synced, bytes };
}

/** Creates a store in memory that can fail or wait. */
export function createFakeStore() {
  const commits: RowChange[][] = [];
  const store = {
    /** Returns the error of a commit; undefined: all commits succeed. */
    refusal: undefined as ((changes: readonly RowChange[]) => Error | undefined) | undefined,
    /** Commits wait for this promise. */
    pause: undefined as Promise<void> | undefined,
    isClosed: false,
    commits,
    closeError: undefined as PersistenceError | undefined,
    list: async () => [],
    load: async () => [],
    async commit(pieces: AsyncIterable<readonly RowChange[]>) {
      const changes: RowChange[] = [];
      for await (const piece of pieces) changes.push(...piece);
      await store.pause;
      const refusal = store.refusal?.(changes);
      if (refusal !== undefined) throw refusal;
      commits.push(changes);
    },
    async close() {
      store.isClosed = true;
      if (store.closeError !== undefined) throw store.closeError;
    },
  } satisfies Store & Record<string, unknown>;
  return store;
}

export const createFullError = () => new StoreRefusal("full", "there is no room left");
