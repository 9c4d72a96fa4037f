import type { AnyCollection, StoredRecord } from "../state/collection.ts";
import type { Root } from "../state/tables.ts";
import type { Step } from "../state/undo-log.ts";
import { decodeTables, encodeTables, type TableDocument } from "../state/world-document.ts";
import type { History } from "./history.ts";
import type { BeforeAfter, CountedRequest, Environment, StateRef } from "./history-entry.ts";
import { RateWindows } from "./rate-windows.ts";

/** A state; environment and windows by their position in the lists of `StoredStates`. */
interface StoredState extends Pick<StateRef, "version" | "now" | "requests"> {
  environment: number;
  windows: number;
  counted?: CountedRequest | undefined;
}

interface StoredBeforeAfter extends Pick<BeforeAfter, "from" | "to" | "start" | "end"> {
  before: StoredState;
  after: StoredState;
  /** A restore, which replaced everything. */
  whole?: true;
}

interface StoredStep {
  written: [collection: string, id: string, before: StoredRecord | null, after: StoredRecord | null][];
  draws: number;
  /** The version before a restore: its difference from the fixture's records. */
  tables?: Record<string, TableDocument>;
}

/** The states of a history as plain JSON, without the bytes of half-finished uploads. */
export interface StoredStates {
  oldest: number;
  steps: StoredStep[];
  environments: Omit<Environment, "uploads">[];
  windows: ReturnType<RateWindows["toJSON"]>[];
  /** By the positions of their entries. */
  entries: Record<string, StoredBeforeAfter>;
}

/** @param base the fixture's records */
export function encodeStates(history: History, base: Root): StoredStates {
  const environments = new Map<Environment, number>();
  const windows = new Map<StateRef["windows"], number>();
  const numbered = <K>(known: Map<K, number>, key: K) => {
    if (!known.has(key)) known.set(key, known.size);
    return known.get(key)!;
  };
  const encode = ({ version, now, requests, counted, ...state }: StateRef): StoredState => ({
    ...{ version, now, requests, ...(counted && { counted }) },
    environment: numbered(environments, state.environment),
    windows: numbered(windows, state.windows),
  });
  const entries: StoredStates["entries"] = {};
  for (const { sequence, states } of history.entries()) {
    if (states === undefined) continue;
    const { before, after, from, to, start, end, written } = states;
    const around = { before: encode(before), after: encode(after), from, to, start, end };
    entries[sequence] = { ...around, ...(written === undefined && { whole: true }) };
  }
  const { oldest, steps } = history.versions;
  return {
    oldest,
    steps: steps.map(({ written, draws, root }) => ({
      written: written.map(({ collection, id, before, after }) => [
        ...([collection.name, id, before ?? null, after ?? null] as const),
      ]),
      draws,
      ...(written.length === 0 && root !== undefined && { tables: encodeTables(root, base) }),
    })),
    environments: [...environments.keys()].map(({ uploads: _uploads, ...facts }) => facts),
    windows: [...windows.keys()].map((table) => RateWindows.from(table).toJSON()),
    entries,
  };
}

/**
 * Adds the states to a history whose entries have been restored.
 * @param present the world that they lead to; @param uploads references to its half-finished uploads
 * @throws WorldDocumentError
 */
export function decodeStates(
  history: History,
  { oldest, entries, ...stored }: StoredStates,
  {
    collections,
    base,
    present,
    uploads,
  }: {
    collections: readonly AnyCollection[];
    base: Root;
    present: Root;
    uploads: unknown;
  },
): void {
  const share = shareRecords(present, base);
  const steps = stored.steps.map(
    ({ written, draws, tables }): Step => ({
      written: written.map(([name, id, before, after]) => ({
        ...{ collection: present.tables.get(name)!.collection, id },
        ...{ before: share(name, id, before), after: share(name, id, after) },
      })),
      draws,
      root: tables && { tables: decodeTables(shareTables(tables, present, share), collections, base), draws },
    }),
  );
  const environments = stored.environments.map((facts): Environment => ({ ...facts, uploads }));
  const windows = stored.windows.map((json) => RateWindows.parse(json).counted);
  const decode = ({ environment, windows: at, counted, ...state }: StoredState): StateRef => ({
    ...{ ...state, counted },
    ...{ environment: environments[environment]!, windows: windows[at]! },
  });
  const { versions } = history;
  versions.restore(oldest, steps, present);
  history.restoreStates((sequence) => {
    const found = entries[sequence];
    if (found === undefined) return undefined;
    const { before, after, from, to, start, end, whole } = found;
    const written = steps.slice(from - oldest, to - oldest).flatMap((step) => step.written);
    const around = { before: decode(before), after: decode(after), from, to, start, end };
    return { versions, ...around, written: whole ? undefined : written };
  });
}

type ShareRecord = (collection: string, id: string, record: StoredRecord | null) => StoredRecord | undefined;

/** Equal records become one object, since differences between versions are found by identity. */
function shareRecords(present: Root, base: Root): ShareRecord {
  const known = new Map<string, StoredRecord>();
  const add = (name: string, record: StoredRecord | undefined): void => {
    if (record !== undefined) known.set(`${name}\u0000${JSON.stringify(record)}`, record);
  };
  return (name, id, record) => {
    if (record === null) return undefined;
    const key = `${name}\u0000${JSON.stringify(record)}`;
    if (!known.has(key)) {
      for (const root of [base, present]) add(name, root.tables.get(name)?.get(id));
      if (!known.has(key)) known.set(key, record);
    }
    return known.get(key);
  };
}

function shareTables(
  tables: Record<string, TableDocument>,
  present: Root,
  share: ShareRecord,
): Record<string, TableDocument> {
  const shared = (name: string, records: readonly StoredRecord[]) => {
    const { collection } = present.tables.get(name)!;
    return records.map((record) => share(name, collection.idOf(record), record)!);
  };
  const all = Object.entries(tables).map(([name, table]) => [
    name,
    "records" in table
      ? { records: shared(name, table.records) }
      : { put: shared(name, table.put), removed: table.removed },
  ]);
  return Object.fromEntries(all);
}
