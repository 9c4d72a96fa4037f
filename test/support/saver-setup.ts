import { SandboxImage } from "../../src/persistence/sandbox-image.ts";
import { Saver } from "../../src/persistence/saver.ts";
import type { RowChange } from "../../src/persistence/store.ts";
import { createFakeSandbox, createFakeStore, createFakeUploads } from "./persistence-fakes.ts";

type FakeSandbox = ReturnType<typeof createFakeSandbox>;

/** Creates a saver of fake sandboxes with these names, and records what it does. */
export function setUpSaver(...names: string[]) {
  const fakes = new Map(names.map((name) => [name, createFakeSandbox(name)]));
  const store = createFakeStore();
  const { uploads, held, synced } = createFakeUploads();
  const logged: string[] = [];
  const undoneCreations: string[] = [];
  const undoneDeletions: string[] = [];
  const saver = new Saver({
    ...{ store, uploads },
    log: {
      error: (words: string) => logged.push(`error: ${words}`),
      warn: (words: string) => logged.push(`warn: ${words}`),
    } as never,
    sandboxes: {
      all: () => [...fakes.values()].map(({ sandbox }) => sandbox),
      get: (name) => fakes.get(name)?.sandbox,
      undoCreation: (name) => {
        undoneCreations.push(name);
        fakes.delete(name);
      },
      async undoDeletion(name) {
        undoneDeletions.push(name);
        fakes.set(name, createFakeSandbox(name));
        const image = SandboxImage.capture(fakes.get(name)!.sandbox, uploads);
        saver.adopt(image);
      },
    },
  });
  return {
    ...{ saver, store, held, synced, logged, undoneCreations, undoneDeletions, fakes },
    of: (name: string): FakeSandbox => fakes.get(name)!,
    /** Lists the sandboxes of each commit. */
    saved: () => store.commits.map((changes) => [...new Set(changes.map(({ sandbox }) => sandbox))]),
    refuse(refusal: ((changes: readonly RowChange[]) => Error | undefined) | undefined) {
      store.refusal = refusal;
    },
  };
}

/** Returns whether a promise has settled after all callbacks that are ready have run. */
export async function isSettled(work: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = () => {
    settled = true;
  };
  work.then(note, note);
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
  return settled;
}
