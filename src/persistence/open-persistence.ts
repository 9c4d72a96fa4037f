import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { tryParseJson } from "../engine/contract/text.ts";
import { SANDBOX_NAME } from "../engine/sandbox/registry.ts";
import { findFreeName, makeFolder } from "../hosts/node/storage/folders.ts";
import type { UploadStore } from "../hosts/node/storage/upload-store.ts";
import { renderNested } from "./document-file.ts";
import { DocumentStore } from "./document-store.ts";
import { loadSandboxes } from "./load-sandboxes.ts";
import type { RestorerParts } from "./sandbox-restorer.ts";
import type { Saver } from "./saver.ts";
import { groupRows } from "./sections-draft.ts";
import { SqliteStore } from "./sqlite-store.ts";
import type { Row } from "./store.ts";

/** A folder with a database, or one readable document. */
export type StoreLocation = { folder: string } | { file: string };

export interface PersistenceParts extends RestorerParts {
  place: StoreLocation;
  uploads: UploadStore;
}

/**
 * Opens the store, loads its sandboxes, and saves their changes.
 * @throws PersistenceError if the store is in use, or of a newer version
 */
export async function openPersistence(parts: PersistenceParts): Promise<Saver> {
  const { place, uploads, log } = parts;
  const warn = (warning: string) => log.warn(warning);
  const store =
    "folder" in place
      ? await SqliteStore.open(place.folder, warn)
      : await DocumentStore.open(place.file, warn);
  try {
    uploads.storeIn(store.uploadsFolder);
    return await loadSandboxes(parts, store, async (name, rows) =>
      setAside(store.setAsideFolder, name, rows),
    );
  } catch (error) {
    await store.close().catch(() => {});
    throw error;
  }
}

function setAside(folder: string, name: string, rows: readonly Row[]): string {
  makeFolder(folder, 0o700);
  const file = findFreeName(join(folder, `${SANDBOX_NAME.test(name) ? name : "unnamed"}.json`));
  const jsonRows = rows.map((row) =>
    tryParseJson(row.text) === undefined ? { ...row, text: JSON.stringify(row.text) } : row,
  );
  writeFileSync(file, `{${[...renderNested(groupRows(jsonRows), "  ")].join("")}\n}\n`, { mode: 0o600 });
  return file;
}
