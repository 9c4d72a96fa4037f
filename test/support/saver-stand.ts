import { SandboxImage } from "../../src/persistence/sandbox-image.ts";
import { Saver } from "../../src/persistence/saver.ts";
import type { RowChange } from "../../src/persistence/store.ts";
import { plainSandbox, plainStore, plainUploads } from "./kept-stand.ts";

type Plain = ReturnType<typeof plainSandbox>;

/** A saver of plain sandboxes of these names, and what it has done. */
export function saverStand(...names: string[]) {
  const made = new Map(names.map((name) => [name, plainSandbox(name)]));
  const store = plainStore();
  const { uploads, held, synced } = plainUploads();
  const said: string[] = [];
  const discarded: string[] = [];
  const broughtBack: string[] = [];
  const saver = new Saver({
    ...{ store, uploads },
    log: {
      error: (words: string) => said.push(`error: ${words}`),
      warn: (words: string) => said.push(`warn: ${words}`),
    } as never,
    sandboxes: {
      all: () => [...made.values()].map(({ sandbox }) => sandbox),
      get: (name) => made.get(name)?.sandbox,
      discard: (name) => {
        discarded.push(name);
        made.delete(name);
      },
      async bringBack(name) {
        broughtBack.push(name);
        made.set(name, plainSandbox(name));
        const image = SandboxImage.capture(made.get(name)!.sandbox, uploads);
        saver.adopt(image);
      },
    },
  });
  return {
    ...{ saver, store, held, synced, said, discarded, broughtBack, made },
    of: (name: string): Plain => made.get(name)!,
    /** Of each commit the sandboxes that it was about. */
    saved: () => store.commits.map((changes) => [...new Set(changes.map(({ sandbox }) => sandbox))]),
    refuse(refusal: ((changes: readonly RowChange[]) => Error | undefined) | undefined) {
      store.refusal = refusal;
    },
  };
}

/** Whether it has settled; asked when everything that waits for nothing has gone on. */
export async function isSettled(work: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = () => {
    settled = true;
  };
  work.then(note, note);
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
  return settled;
}
