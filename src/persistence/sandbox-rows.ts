import type { OperationDocuments } from "../engine/contract/resource.ts";
import { getOrAdd } from "../engine/maps.ts";
import { platform } from "../engine/platform.ts";
import type { FaultState } from "../engine/sandbox/fault-types.ts";
import type { HistorySnapshot, StoredHistory } from "../engine/sandbox/history.ts";
import type { RateWindows } from "../engine/sandbox/rate-windows.ts";
import type { SandboxState } from "../engine/sandbox/sandbox.ts";
import type { SandboxValue } from "../engine/sandbox/sandbox-value.ts";
import type { StoredUploads } from "../engine/sandbox/snapshots.ts";
import type { StoredRecord } from "../engine/state/collection.ts";
import { Table } from "../engine/state/table.ts";
import { keepReadable } from "../engine/state/tables.ts";
import type { WorldDocument } from "../engine/state/world-document.ts";
import type { SandboxImage } from "./sandbox-image.ts";
import type { Row, RowChange } from "./store.ts";

/**
 * Lists the changes of a sandbox's rows since `before`; all rows without it. Records are the difference from the fixture's,
 * so that unchanged ones cost nothing; null is a record of the fixture that was deleted.
 *
 * | section | rows |
 * |---|---|
 * | `sandbox` | `about`, `fixture` (name and merged document), `faults`, `operations` (the document of this sandbox alone) |
 * | `world` | `facts` (clock, seed, random state), `windows`, `uploads` (the files of their bytes) |
 * | `records/{collection}` | by id |
 * | `history` | `about` (positions), and each entry by its position |
 * | `snapshots/{name}/...` | `world` and `records` of the snapshot, in the same form |
 */
export function* listRowChanges(
  before: SandboxImage | undefined,
  after: SandboxImage,
): IterableIterator<RowChange> {
  const sandbox = after.sandbox.name;
  const toRow = (section: string, id: string, value: unknown): RowChange => ({
    sandbox,
    section,
    id,
    text: JSON.stringify(value),
  });
  const isNew =
    before === undefined ||
    before.sandbox !== after.sandbox ||
    before.base !== after.base ||
    before.ownResources !== after.ownResources;
  const old = isNew ? undefined : before;
  if (old === undefined) {
    yield { sandbox, clearPrefix: "" };
    yield toRow("sandbox", "fixture", { name: after.about.fixture, document: after.source.getDocument() });
    // At most one: all operations of the sandbox's own document are one resource.
    for (const { userSource } of after.ownResources) yield toRow("sandbox", "operations", userSource!.sent);
  }
  const serverResources = after.sandbox.api.resources.filter(
    (resource) => !after.ownResources.includes(resource),
  );
  // The files of own operations that all sandboxes of the server have.
  const serverSources = serverResources.flatMap((resource) => resource.userSource?.source ?? []);
  yield toRow("sandbox", "about", {
    ...after.about,
    snapshots: [...after.snapshots.keys()],
    ...(serverSources.length > 0 && { operations: serverSources }),
  });
  yield toRow("sandbox", "faults", after.faults);
  yield* listValueRows("", old?.value, after.value);
  yield toRow("history", "about", after.history.about);
  for (const { sequence, entry } of compareEntries(old?.history, after.history))
    yield { sandbox, section: "history", id: String(sequence), text: entry && JSON.stringify(entry) };
  for (const name of old?.snapshots.keys() ?? []) {
    if (old!.snapshots.get(name) !== after.snapshots.get(name))
      yield { sandbox, clearPrefix: `snapshots/${name}/` };
  }
  for (const [name, value] of after.snapshots) {
    if (old?.snapshots.get(name) !== value) yield* listValueRows(`snapshots/${name}/`, undefined, value);
  }

  function* listValueRows(prefix: string, oldValue: SandboxValue | undefined, value: SandboxValue) {
    yield toRow(`${prefix}world`, "facts", toFacts(value));
    yield toRow(`${prefix}world`, "windows", value.windows);
    yield toRow(`${prefix}world`, "uploads", after.toStoredUploads(value));
    for (const [name, table] of keepReadable(value.world.root, after.sandbox.api.collections).tables) {
      const baseTable = after.base.tables.get(name);
      const oldTable = oldValue?.world.root.tables.get(name) ?? baseTable ?? Table.empty(table.collection);
      for (const { id, after: record } of oldTable.listChangesTo(table)) {
        // Removes the row if the record is the fixture's again; `null` as a text says that it was deleted.
        const text = record === baseTable?.get(id) ? null : JSON.stringify(record ?? null);
        yield { sandbox, section: `${prefix}records/${name}`, id, text };
      }
    }
  }
}

function* compareEntries(before: HistorySnapshot | undefined, after: HistorySnapshot) {
  // Positions have no gaps.
  const lastDropped = after.about.next - 1 - after.entries.size;
  for (const { sequence } of before?.entries.keys() ?? [])
    if (sequence <= lastDropped) yield { sequence, entry: null };
  for (const [entry, revision] of after.entries)
    if (before?.entries.get(entry) !== revision) yield { sequence: entry.sequence, entry };
}

/** A world without its records. `wall` is the machine's time when the clock showed `at`. */
export function toFacts({ world, taken_at }: SandboxValue): object {
  const { seed, secretKey, origin, clock, requests, root } = world;
  const { mode, at, rate, wall } = clock;
  return {
    seed,
    secret_key: secretKey,
    origin,
    requests,
    draws: root.draws,
    taken_at,
    clock: { mode, now: at, rate, wall },
  };
}

const MAX_CHANGES_A_PIECE = 500;
const MAX_TURN_MS = 4;

/** Splits changes into pieces, each in its own turn of the event loop, so that a large change does not delay requests. */
export async function* splitChanges(changes: Iterable<RowChange>): AsyncGenerator<readonly RowChange[]> {
  let piece: RowChange[] = [];
  let began = performance.now();
  for (const change of changes) {
    piece.push(change);
    if (piece.length < MAX_CHANGES_A_PIECE && performance.now() - began < MAX_TURN_MS) continue;
    yield piece;
    piece = [];
    await platform().nextTurn();
    began = performance.now();
  }
  if (piece.length > 0) yield piece;
}

/** A stored world, before validation. */
export interface SavedWorld {
  facts: SavedFacts;
  windows: ReturnType<RateWindows["toJSON"]>;
  uploads: StoredUploads | undefined;
  tables: Record<string, { put: StoredRecord[]; removed: string[] }>;
}

interface SavedFacts extends Omit<WorldDocument, "tables" | "clock"> {
  taken_at: number;
  clock: WorldDocument["clock"] & {
    /** The machine's time when the clock showed `now`. */
    wall: number;
  };
}

/** A stored sandbox; see the table above for its rows. */
export interface SavedSandbox {
  /** `snapshots`: their names, in the order in which they were saved. */
  about: SandboxState["about"] & { snapshots: string[]; operations?: string[] };
  fixture: { name: string; document: object };
  operations?: OperationDocuments;
  faults: FaultState | undefined;
  present: SavedWorld;
  snapshots: Record<string, SavedWorld>;
  /** Absent in rows of an earlier version. */
  history?: StoredHistory;
}

/** The rows are not those of a sandbox; the message names the place. */
export class InvalidSandboxRows extends Error {
  override readonly name = "InvalidSandboxRows";
}

/**
 * Assembles a sandbox from rows. Checks only sections and the ids of records; everything else is validated later.
 * @throws InvalidSandboxRows for an unknown section, a record with another id than its row, or a text that is not JSON
 */
export function parseSavedSandbox(
  findIdField: (collection: string) => string | undefined,
  rows: readonly Row[],
): SavedSandbox {
  const parts: Record<string, unknown> = {};
  const present: Partial<SavedWorld> = { tables: {} };
  const snapshots = new Map<string, Partial<SavedWorld>>();
  const history: { about?: unknown; entries: unknown[] } = { entries: [] };
  for (const row of rows) {
    const place = `${row.section}/${row.id}`;
    const value = parseText(row.text, place);
    const [, name, inner] = /^snapshots\/([^/]+)\/(.+)$/.exec(row.section) ?? [];
    if (row.section === "sandbox") parts[row.id] = value;
    else if (row.section === "history" && row.id === "about") history.about = value;
    else if (row.section === "history") history.entries.push(value);
    else if (name === undefined) placeRow(present, row.section, row.id, value);
    else {
      const world = getOrAdd(snapshots, name, () => ({ tables: {} }));
      placeRow(world, inner!, row.id, value);
    }
  }
  if (history.about !== undefined) parts["history"] = history;
  return { ...parts, present, snapshots: Object.fromEntries(snapshots) } as unknown as SavedSandbox;

  function placeRow(world: Partial<SavedWorld>, section: string, id: string, value: unknown): void {
    if (section === "world") {
      (world as Record<string, unknown>)[id] = value;
      return;
    }
    const collection = /^records\/([^/]+)$/.exec(section)?.[1];
    const idField = collection === undefined ? undefined : findIdField(collection);
    if (collection === undefined || idField === undefined)
      throw new InvalidSandboxRows(`${section} is unknown to this server`);
    const tables = world.tables!;
    tables[collection] ??= { put: [], removed: [] };
    // If the document has renamed the field of the ids since, the record lacks the new one, which gets the row's id.
    const record = value === null ? null : { [idField]: id, ...(value as StoredRecord) };
    if (record === null) tables[collection].removed.push(id);
    else if (record[idField] === id) tables[collection].put.push(record);
    else throw new InvalidSandboxRows(`${section} has under ${id} a record with another ${idField}`);
  }
}

function parseText(text: string, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidSandboxRows(`${place} is not JSON: ${(error as Error).message}`);
  }
}
