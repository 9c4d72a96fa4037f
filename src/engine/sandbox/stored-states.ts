import { getOrAdd } from "../maps.ts";
import type { AnyCollection, StoredRecord } from "../state/collection.ts";
import { createReadableTest, keepReadable, type Root } from "../state/tables.ts";
import type { Step } from "../state/undo-log.ts";
import { decodeTables, encodeTables, type TableDocument } from "../state/world-document.ts";
import type { History } from "./history.ts";
import type { CountedRequest, Environment, StateRef, UploadReferences } from "./history-entry.ts";
import { RateWindows } from "./rate-windows.ts";

/** A state whose environment and windows are positions in the lists of `StoredStates`. */
interface StoredState extends Pick<StateRef, "version" | "now" | "requests"> {
  environment: number;
  windows: number;
  counted?: CountedRequest | undefined;
}

/** A `BeforeAfter` under the names of sandbox files. */
interface StoredBeforeAfter {
  /** `fromVersion` and `toVersion`. */
  from: number;
  to: number;
  /** `startPosition` and `endPosition`. */
  start: number;
  end: number;
  before: StoredState;
  after: StoredState;
  /** Whether the change was a restore, which replaced everything. */
  whole?: true;
}

interface StoredStep {
  written: [collection: string, id: string, before: StoredRecord | null, after: StoredRecord | null][];
  /** The root's `draws` before the step. */
  draws: number;
  /** Only if `written` is incomplete: all tables before this step, as differences from the fixture's records. */
  tables?: Record<string, TableDocument>;
}

/** The states of a history as plain JSON, without the bytes of half-finished uploads. */
export interface StoredStates {
  oldest: number;
  steps: StoredStep[];
  environments: Omit<Environment, "uploads">[];
  windows: ReturnType<RateWindows["toJSON"]>[];
  /** States by the sequence numbers of their entries. */
  entries: Record<string, StoredBeforeAfter>;
}

/** @param base the fixture's records */
export function encodeStates(
  history: History,
  base: Root,
  collections: readonly AnyCollection[],
): StoredStates {
  // Leaves out records of a removed collection of the user's own, which no server could read.
  const isReadable = createReadableTest(collections);
  const environments = new Map<Environment, number>();
  const windowTables = new Map<StateRef["windows"], number>();
  const getIndex = <K>(indexes: Map<K, number>, key: K) => getOrAdd(indexes, key, () => indexes.size);
  const encode = ({ version, now, requests, counted, environment, windows }: StateRef): StoredState => ({
    version,
    now,
    requests,
    ...(counted && { counted }),
    environment: getIndex(environments, environment),
    windows: getIndex(windowTables, windows),
  });
  const entries: StoredStates["entries"] = {};
  for (const { sequence, states } of history.entries()) {
    if (states === undefined) continue;
    const {
      before,
      after,
      fromVersion: from,
      toVersion: to,
      startPosition: start,
      endPosition: end,
    } = states;
    const beforeAfter = { before: encode(before), after: encode(after), from, to, start, end };
    entries[sequence] = { ...beforeAfter, ...(states.written === undefined && { whole: true }) };
  }
  const { oldest, steps } = history.versions;
  return {
    oldest,
    steps: steps.map(({ writes, draws, rootBefore, isPartial }) => ({
      written: writes
        .filter(({ collection }) => isReadable(collection))
        .map(({ collection, id, before, after }) => [collection.name, id, before ?? null, after ?? null]),
      draws,
      ...(isPartial && { tables: encodeTables(keepReadable(rootBefore!, collections), base) }),
    })),
    environments: [...environments.keys()].map(({ uploads: _uploads, ...facts }) => facts),
    windows: [...windowTables.keys()].map((table) => new RateWindows(table).toJSON()),
    entries,
  };
}

/**
 * Adds the states to a history whose entries have been restored.
 * @param currentRoot the world that they lead to; @param uploads references to its half-finished uploads
 * @throws WorldDocumentError
 */
export function decodeStates(
  history: History,
  stored: StoredStates,
  context: {
    collections: readonly AnyCollection[];
    base: Root;
    currentRoot: Root;
    uploads: UploadReferences;
  },
): void {
  const { oldest } = stored;
  const { collections, base, currentRoot, uploads } = context;
  const shareRecord = shareRecords(currentRoot, base);
  const steps = stored.steps.map(
    ({ written, draws, tables }): Step => ({
      writes: written.map(([name, id, before, after]) => ({
        collection: currentRoot.tables.get(name)!.collection,
        id,
        before: shareRecord(name, id, before),
        after: shareRecord(name, id, after),
      })),
      draws,
      rootBefore: tables && {
        tables: decodeTables(shareTables(tables, currentRoot, shareRecord), collections, base),
        draws,
      },
      isPartial: tables !== undefined,
    }),
  );
  const environments = stored.environments.map((facts): Environment => ({ ...facts, uploads }));
  const windowTables = stored.windows.map((json) => RateWindows.parse(json).table);
  const decode = ({ version, now, requests, counted, environment, windows }: StoredState): StateRef => ({
    version,
    now,
    requests,
    counted,
    environment: environments[environment]!,
    windows: windowTables[windows]!,
  });
  const { versions } = history;
  versions.load(oldest, steps, currentRoot);
  history.restoreStates((sequence) => {
    const entry = stored.entries[sequence];
    if (entry === undefined) return undefined;
    const { from: fromVersion, to: toVersion, start: startPosition, end: endPosition } = entry;
    const written = entry.whole
      ? undefined
      : steps.slice(fromVersion - oldest, toVersion - oldest).flatMap((step) => step.writes);
    const [before, after] = [decode(entry.before), decode(entry.after)];
    return { versions, before, after, fromVersion, toVersion, written, startPosition, endPosition };
  });
}

type ShareRecord = (collection: string, id: string, record: StoredRecord | null) => StoredRecord | undefined;

/** Makes equal records one object, since differences between versions are found by identity. */
function shareRecords(currentRoot: Root, base: Root): ShareRecord {
  const recordsByText = new Map<string, StoredRecord>();
  return (name, id, record) => {
    if (record === null) return undefined;
    const text = JSON.stringify(record);
    return getOrAdd(recordsByText, `${name}\u0000${text}`, () => {
      const existing = [currentRoot, base].map((root) => root.tables.get(name)?.get(id));
      return existing.find((one) => JSON.stringify(one) === text) ?? record;
    });
  };
}

function shareTables(
  tables: Record<string, TableDocument>,
  currentRoot: Root,
  shareRecord: ShareRecord,
): Record<string, TableDocument> {
  const shareAll = (name: string, records: readonly StoredRecord[]) => {
    const { collection } = currentRoot.tables.get(name)!;
    return records.map((record) => shareRecord(name, collection.getId(record), record)!);
  };
  const documents = Object.entries(tables).map(([name, table]) => [
    name,
    "records" in table
      ? { records: shareAll(name, table.records) }
      : { put: shareAll(name, table.put), removed: table.removed },
  ]);
  return Object.fromEntries(documents);
}
