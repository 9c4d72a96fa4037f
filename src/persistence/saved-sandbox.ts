import type { FaultState } from "../engine/sandbox/fault-gate.ts";
import type { StoredHistory } from "../engine/sandbox/history-story.ts";
import type { RateWindows } from "../engine/sandbox/rate-windows.ts";
import type { Kept } from "../engine/sandbox/sandbox.ts";
import type { StoredRecord } from "../engine/state/collection.ts";
import type { WorldDocument } from "../engine/state/world-document.ts";
import type { KeptUploads } from "../hosts/node/storage/upload-keeper.ts";
import type { Row } from "./store.ts";

/** A world of a sandbox as it was written down, before anybody has judged it. */
export interface SavedWorld {
  facts: SavedFacts;
  windows: ReturnType<RateWindows["toJSON"]>;
  uploads: KeptUploads | undefined;
  tables: Record<string, { put: StoredRecord[]; removed: string[] }>;
}

export interface SavedFacts extends Omit<WorldDocument, "tables" | "clock"> {
  taken_at: number;
  clock: WorldDocument["clock"] & {
    /** The machine's instant at which the clock showed `now`. */
    wall: number;
  };
}

/** A sandbox as it was written down; `sandbox-rows.ts` says where what stands. */
export interface SavedSandbox {
  /** `snapshots`: their names, in the order in which they were saved. */
  about: Kept["about"] & { snapshots: string[] };
  fixture: { name: string; document: object };
  faults: FaultState | undefined;
  present: SavedWorld;
  snapshots: Record<string, SavedWorld>;
  /** Absent in what an earlier version wrote down. */
  history?: StoredHistory;
}

/** What is written down is no sandbox; the message names the place. */
export class UnfitSandbox extends Error {
  override readonly name = "UnfitSandbox";
}

/**
 * Puts rows together. Only their places are looked at here: what they hold is judged by whoever knows it.
 * @throws UnfitSandbox for a row in a place that there is not, or that is no JSON
 */
export function savedSandboxOf(
  idFieldOf: (collection: string) => string | undefined,
  rows: readonly Row[],
): SavedSandbox {
  const parts: Record<string, unknown> = {};
  const present: Partial<SavedWorld> = { tables: {} };
  const snapshots = new Map<string, Partial<SavedWorld>>();
  const history: { about?: unknown; entries: unknown[] } = { entries: [] };
  for (const row of rows) {
    const place = `${row.section}/${row.id}`;
    const value = parsed(row.text, place);
    const [, name, inner] = /^snapshots\/([^/]+)\/(.+)$/.exec(row.section) ?? [];
    if (row.section === "sandbox") parts[row.id] = value;
    else if (row.section === "history" && row.id === "about") history.about = value;
    else if (row.section === "history") history.entries.push(value);
    else if (name === undefined) put(present, row.section, row.id, value);
    else {
      let world = snapshots.get(name);
      if (world === undefined) {
        world = { tables: {} };
        snapshots.set(name, world);
      }
      put(world, inner!, row.id, value);
    }
  }
  if (history.about !== undefined) parts["history"] = history;
  return { ...parts, present, snapshots: Object.fromEntries(snapshots) } as unknown as SavedSandbox;

  function put(world: Partial<SavedWorld>, section: string, id: string, value: unknown): void {
    if (section === "world") {
      (world as Record<string, unknown>)[id] = value;
      return;
    }
    const collection = /^records\/([^/]+)$/.exec(section)?.[1];
    const idField = collection === undefined ? undefined : idFieldOf(collection);
    if (collection === undefined || idField === undefined) {
      throw new UnfitSandbox(`${section} is nothing that this server knows`);
    }
    const tables = world.tables!;
    tables[collection] ??= { put: [], removed: [] };
    if (value === null) tables[collection].removed.push(id);
    else if ((value as Record<string, unknown>)[idField] === id)
      tables[collection].put.push(value as StoredRecord);
    else throw new UnfitSandbox(`${section} holds under ${id} a record that is not ${idField} ${id}`);
  }
}

function parsed(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UnfitSandbox(`${place} is no JSON: ${(error as Error).message}`);
  }
}
