import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SANDBOX_NAME } from "../engine/sandbox/registry.ts";
import { makeFolder } from "../hosts/node/storage/folders.ts";
import { nestedText } from "./document-file.ts";
import { DocumentStore } from "./document-store.ts";
import { freeName } from "./file-lock.ts";
import type { SandboxImage } from "./sandbox-image.ts";
import { type RestorerParts, SandboxRestorer } from "./sandbox-restorer.ts";
import { Saver } from "./saver.ts";
import { SqliteStore } from "./sqlite-store.ts";
import type { FolderStore, Row } from "./store.ts";

/** A folder with a database, or one readable document. */
export type StoreLocation = { folder: string } | { file: string };

export interface PersistenceParts extends RestorerParts {
  place: StoreLocation;
}

/**
 * Opens the store, loads its sandboxes, and saves their changes. A sandbox that cannot be loaded is set aside; the
 * others are not affected.
 * @throws PersistenceError if the store is in use, or of a newer version
 */
export async function openPersistence(parts: PersistenceParts): Promise<Saver> {
  const { place, uploads, log } = parts;
  const say = (warning: string) => log.warn(warning);
  const store =
    "folder" in place ? await SqliteStore.open(place.folder, say) : await DocumentStore.open(place.file, say);
  try {
    uploads.keepIn(store.uploads);
    const persistence = new Persistence(parts, store);
    await persistence.bringAllBack();
    persistence.saver.start();
    return persistence.saver;
  } catch (error) {
    await store.close().catch(() => {});
    throw error;
  }
}

class Persistence {
  readonly saver: Saver;
  private readonly parts: PersistenceParts;
  private readonly store: FolderStore;
  private readonly restorer: SandboxRestorer;

  constructor(parts: PersistenceParts, store: FolderStore) {
    const { sandboxes, uploads, log } = parts;
    this.parts = parts;
    this.store = store;
    this.restorer = new SandboxRestorer(parts);
    this.saver = new Saver({
      store,
      uploads,
      log,
      sandboxes: {
        all: () => sandboxes.all(),
        get: (name) => sandboxes.get(name),
        discard: (name) => sandboxes.delete(name),
        bringBack: async (name) => {
          const image = await this.restorer.bringBack(name, await this.store.load(name));
          // Loading may have made small changes; failing to save them now is no reason for a refusal.
          image.remark();
          this.saver.adopt(image);
        },
      },
    });
  }

  async bringAllBack(): Promise<void> {
    const images: SandboxImage[] = [];
    let isWhole = true;
    for (const name of await this.store.list()) {
      const rows = await this.store.load(name);
      try {
        images.push(await this.restorer.bringBack(name, rows));
      } catch (error) {
        isWhole = false;
        await this.setAside(name, rows, error as Error);
      }
    }
    for (const image of images) this.saver.adopt(image);
    // A sandbox that was set aside also names files.
    if (isWhole) this.parts.uploads.sweep();
  }

  private async setAside(name: string, rows: readonly Row[], error: Error): Promise<void> {
    const { aside } = this.store;
    makeFolder(aside, 0o700);
    const file = freeName(join(aside, `${SANDBOX_NAME.test(name) ? name : "unnamed"}.json`));
    const sections = new Map<string, Map<string, string>>();
    for (const { section, id, text } of rows) {
      const byId = sections.get(section) ?? new Map<string, string>();
      sections.set(section, byId.set(id, isJson(text) ? text : JSON.stringify(text)));
    }
    writeFileSync(file, `{${[...nestedText(sections, "  ")].join("")}\n}\n`, { mode: 0o600 });
    await this.store.commit(
      (async function* () {
        yield [{ sandbox: name, clear: "" }];
      })(),
    );
    this.parts.log.warn(
      `Sandbox ${name} could not be loaded and was set aside as ${file}: ${sentence(error)}`,
    );
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function sentence(error: unknown): string {
  const { message } = error as Error;
  return message.endsWith(".") ? message : `${message}.`;
}
