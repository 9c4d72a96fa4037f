import { type ClockMode, LAST_INSTANT, makeClock } from "./clock.ts";
import type { AnyCollection, StoredRecord } from "./collection.ts";
import type { Root } from "./root.ts";
import { type AnyTable, Table } from "./table.ts";
import { Tables } from "./tables.ts";
import { TIMER_KINDS, type Timer, timers } from "./timers.ts";
import type { WorldValue } from "./world-parts.ts";

/** A world's value as plain JSON; instants in records stay relative to `origin`. */
export interface WorldDocument {
  seed: number;
  secret_key: string;
  /** Milliseconds since 1970, like `clock.now`. */
  origin: number;
  clock: { mode: ClockMode; now: number; rate: number };
  requests: number;
  draws: number;
  tables: Record<string, TableDocument>;
}

/** All records of a table, or what became of a base that whoever reads it must have. */
export type TableDocument =
  | { records: readonly StoredRecord[] }
  | { put: readonly StoredRecord[]; removed: readonly string[] };

/** A document that is no world; `field` is the path of the part at fault. */
export class WorldDocumentError extends Error {
  override readonly name = "WorldDocumentError";
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/**
 * The value as JSON. With a base, tables are written as their difference from it, and those that are the
 * base's own are left out unread: a lazily made collection that nobody touched costs nothing to save.
 */
export function encodeWorld(value: WorldValue, { base }: { base?: Root } = {}): WorldDocument {
  const { root, clock, origin, requests, seed, secretKey } = value;
  const tables: Record<string, TableDocument> = {};
  for (const [name, table] of root.tables) {
    const from = base?.tables.get(name);
    if (from === table) continue;
    tables[name] = from === undefined ? { records: [...table.all()] } : changesOf(from, table);
  }
  return {
    seed,
    secret_key: secretKey,
    origin,
    clock: { mode: clock.mode, now: clock.at, rate: clock.rate },
    requests,
    draws: root.draws,
    tables,
  };
}

function changesOf(from: AnyTable, table: AnyTable): TableDocument {
  const put: StoredRecord[] = [];
  const removed: string[] = [];
  for (const { id, after } of from.changesTo(table)) {
    if (after === undefined) removed.push(id);
    else put.push(after);
  }
  return { put, removed };
}

/**
 * The inverse, for the collections that this server knows. Tables that the document does not name are the
 * base's, or empty. The clock shows what it showed; whoever restores the value ties it to the wall clock.
 * @throws WorldDocumentError for a table or record that cannot be; fields of records are not judged
 */
export function decodeWorld(
  document: WorldDocument,
  collections: readonly AnyCollection[],
  { base }: { base?: Root } = {},
): WorldValue {
  const known = new Map([...collections, timers].map((collection) => [collection.name, collection]));
  for (const name of Object.keys(document.tables)) {
    if (!known.has(name)) throw new WorldDocumentError(`tables.${name}`, `is no collection of this server`);
  }
  const tables: AnyTable[] = [];
  for (const [name, collection] of known) {
    const given = Object.hasOwn(document.tables, name) ? document.tables[name] : undefined;
    const from = base?.tables.get(name);
    tables.push(given === undefined ? (from ?? Table.empty(collection)) : tableOf(collection, given, from));
  }
  const whole = Tables.of(tables);
  for (const timer of whole.get(timers.name)!.all() as Iterable<Timer>) requireTimer(timer, document.origin);
  const { mode, now, rate } = document.clock;
  return {
    root: { tables: whole, draws: document.draws },
    clock: makeClock(mode, now, now, rate),
    origin: document.origin,
    requests: document.requests,
    seed: document.seed,
    secretKey: document.secret_key,
  };
}

function tableOf(collection: AnyCollection, given: TableDocument, from: AnyTable | undefined): AnyTable {
  const place = `tables.${collection.name}`;
  if ("records" in given) return wholeTable(collection, given.records, place);
  if (from === undefined)
    throw new WorldDocumentError(place, "is the difference from a base that is not here");
  let table = from;
  for (const id of given.removed) table = table.remove(id);
  for (const [position, record] of given.put.entries()) {
    table = placed(table, requireRecord(collection, record, `${place}.put[${position}]`), place);
  }
  return table;
}

/** Indexes read fields that the record may not have. */
function placed(table: AnyTable, record: StoredRecord, place: string): AnyTable {
  try {
    return table.put(record);
  } catch (error) {
    const id = table.collection.idOf(record);
    throw new WorldDocumentError(place, `holds ${id}, which cannot be: ${(error as Error).message}`);
  }
}

function wholeTable(collection: AnyCollection, records: readonly StoredRecord[], place: string): AnyTable {
  for (const [position, record] of records.entries()) {
    requireRecord(collection, record, `${place}.records[${position}]`);
  }
  const table = Table.of(collection, () => records);
  try {
    // Builds rows and indexes now, so that a clash of ids or a missing field shows here and not later.
    void table.size;
  } catch (error) {
    throw new WorldDocumentError(place, `cannot be built: ${(error as Error).message}`);
  }
  return table;
}

function requireRecord(collection: AnyCollection, record: unknown, place: string): StoredRecord {
  if (typeof record !== "object" || record === null || Array.isArray(record)) {
    throw new WorldDocumentError(place, "must be a record");
  }
  const id = (record as Record<string, unknown>)[collection.idField];
  if (typeof id !== "string" || id === "") {
    throw new WorldDocumentError(`${place}.${collection.idField}`, "must be the id of the record");
  }
  return record;
}

function requireTimer({ id, due, kind, subject }: Timer, origin: number): void {
  const place = `tables.${timers.name}`;
  if (!Number.isSafeInteger(due) || !TIMER_KINDS.includes(kind) || typeof subject !== "string") {
    throw new WorldDocumentError(place, `${id} is no timer that this server knows`);
  }
  if (origin + due > LAST_INSTANT) throw new WorldDocumentError(place, `${id} is due after the year 9999`);
}
