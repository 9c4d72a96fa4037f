import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFakeSandbox, createFakeUploads, notes } from "../../test/support/persistence-fakes.ts";
import { put, toPieces } from "../../test/support/stores.ts";
import { createApi } from "../engine/contract/api.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import { DocumentStore } from "./document-store.ts";
import { openPersistence, type PersistenceParts } from "./open-persistence.ts";
import { SandboxImage } from "./sandbox-image.ts";
import { listRowChanges } from "./sandbox-rows.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "understudy-open-"));
  file = join(folder, "worlds.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Opens the sandboxes stored in the file, on a server without others. */
async function openStored() {
  const { uploads } = createFakeUploads();
  const there = new Map<string, Sandbox>();
  const said: string[] = [];
  const places: string[] = [];
  let sweeps = 0;
  const parts = {
    place: { file },
    sandboxes: {
      all: () => there.values(),
      get: (name: string) => there.get(name),
      delete: (name: string) => there.delete(name),
      sortByCreation: () => {},
      restoreSaved({ name }: { name: string }) {
        const { plain } = createFakeSandbox(name);
        const faults = { ...plain.faults, restoreState: () => [] };
        const sandbox = Object.assign(plain, { faults }) as unknown as Sandbox;
        there.set(name, sandbox);
        return sandbox;
      },
    },
    fixtures: { load: () => createFakeSandbox().plain.source },
    getApi: () => createApi([{ name: "notes", collections: [notes], operations: [] }]),
    uploads: Object.assign(uploads, {
      storeIn: (place: string) => places.push(place),
      fromStored: async () => undefined,
      sweep: () => {
        sweeps += 1;
      },
    }),
    validator: { checkShape: () => {}, checkWorld: () => {} },
    wallClock: () => 0,
    log: { warn: (words: string) => said.push(words), error: (words: string) => said.push(words) },
  };
  const saver = await openPersistence(parts as unknown as PersistenceParts);
  return { saver, there, said, places, sweeps };
}

async function saveRows(...names: string[]): Promise<DocumentStore> {
  const store = await DocumentStore.open(file, () => {});
  const { uploads } = createFakeUploads();
  for (const name of names) {
    await store.commit(
      toPieces([
        ...listRowChanges(undefined, SandboxImage.capture(createFakeSandbox(name).sandbox, uploads)),
      ]),
    );
  }
  return store;
}

describe("stored sandboxes at a start", () => {
  it("restore a world, and remove only unused bytes [interfaces 2]", async () => {
    await (await saveRows("a", "b")).close();
    const { saver, there, said, places, sweeps } = await openStored();
    expect([[...there.keys()], said, places, sweeps]).toEqual([["a", "b"], [], [`${file}.uploads`], 1]);
    there.delete("a");
    await saver.close();
    expect(Object.keys(JSON.parse(readFileSync(file, "utf8")).sandboxes)).toEqual(["b"]);
  });

  it("are set aside one by one, once and readably, if they cannot be restored [interfaces 2]", async () => {
    const store = await saveRows("good");
    await store.commit(
      toPieces([put("bad", "elsewhere", "x", { a: 1 }), put("Not A Name", "world", "x", 1)]),
    );
    await store.close();
    const { saver, there, said, sweeps } = await openStored();
    // A sandbox that was set aside may refer to files too, so none are removed.
    expect([[...there.keys()], sweeps]).toEqual([["good"], 0]);
    const aside = join(`${file}.set-aside`, "bad.json");
    expect(said.toSorted()).toEqual([
      `Sandbox Not A Name could not be loaded and was set aside as ${join(`${file}.set-aside`, "unnamed.json")}: no sandbox can have this name.`,
      `Sandbox bad could not be loaded and was set aside as ${aside}: elsewhere is unknown to this server.`,
    ]);
    expect(readFileSync(aside, "utf8")).toBe('{\n  "elsewhere": {\n    "x": {"a":1}\n  }\n}\n');
    expect([statSync(aside).mode & 0o777, statSync(`${file}.set-aside`).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
    await saver.close();
    const again = await openStored();
    expect([[...again.there.keys()], again.said, again.sweeps]).toEqual([["good"], [], 1]);
    await again.saver.close();
  });
});
