import { type ClockMode, isPossibleInstant, makeClock, TIMER_KINDS } from "./clock.ts";
import type { AnyCollection, StoredRecord } from "./collection.ts";
import { type AnyTable, Table } from "./table.ts";
import { type Root, Tables } from "./tables.ts";
import { type Timer, timers } from "./timers.ts";
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

/** All records of a table, or its difference from a base, which the reader must have. */
export type TableDocument =
  | { records: readonly StoredRecord[] }
  | { put: readonly StoredRecord[]; removed: readonly string[] };

/** A document that is not a world; `field` is the path of the wrong part. */
export class WorldDocumentError extends Error {
  override readonly name = "WorldDocumentError";
  readonly field: string;
  /** The name of a table that no collection of this server has; undefined if something else is wrong. */
  readonly unknownCollection: string | undefined;

  constructor(field: string, message: string, unknownCollection?: string) {
    super(message);
    this.field = field;
    this.unknownCollection = unknownCollection;
  }
}

/**
 * The value as JSON. With a base, tables are written as their difference from it. A table object that is the base's own is
 * left out without reading it: a table builds its records when it is first read, so one that never was costs nothing.
 */
export function encodeWorld(value: WorldValue, base?: Root): WorldDocument {
  const { root, clock, origin, requests, seed, secretKey } = value;
  return {
    seed,
    secret_key: secretKey,
    origin,
    clock: { mode: clock.mode, now: clock.at, rate: clock.rate },
    requests,
    draws: root.draws,
    tables: encodeTables(root, base),
  };
}

export function encodeTables(root: Root, base: Root | undefined): Record<string, TableDocument> {
  const tables: Record<string, TableDocument> = {};
  for (const [name, table] of root.tables) {
    const baseTable = base?.tables.get(name);
    if (baseTable === table) continue;
    tables[name] = baseTable === undefined ? { records: [...table.all()] } : encodeChanges(baseTable, table);
  }
  return tables;
}

function encodeChanges(baseTable: AnyTable, table: AnyTable): TableDocument {
  const put: StoredRecord[] = [];
  const removed: string[] = [];
  for (const { id, after } of baseTable.listChangesTo(table)) {
    if (after === undefined) removed.push(id);
    else put.push(after);
  }
  return { put, removed };
}

/**
 * Decodes a world of the collections that this server knows. Tables that the document does not name are the
 * base's, or empty. The clock shows the saved instant; a restore starts it from there.
 * @throws WorldDocumentError for a table or record that cannot exist; fields of records are not checked
 */
export function decodeWorld(
  document: WorldDocument,
  collections: readonly AnyCollection[],
  base?: Root,
): WorldValue {
  const tables = decodeTables(document.tables, collections, base);
  for (const timer of tables.get(timers.name)!.all() as Iterable<Timer>) requireTimer(timer, document.origin);
  const { mode, now, rate } = document.clock;
  return {
    root: { tables, draws: document.draws },
    // The second `now`, its wall instant, has no meaning: a restore replaces it.
    clock: makeClock(mode, now, now, rate),
    origin: document.origin,
    requests: document.requests,
    seed: document.seed,
    secretKey: document.secret_key,
  };
}

/** @throws WorldDocumentError */
export function decodeTables(
  documents: WorldDocument["tables"],
  collections: readonly AnyCollection[],
  base: Root | undefined,
): Tables {
  const collectionsByName = new Map(
    [...collections, timers].map((collection) => [collection.name, collection]),
  );
  for (const name of Object.keys(documents)) {
    if (!collectionsByName.has(name))
      throw new WorldDocumentError(`tables.${name}`, "is not a collection of this server", name);
  }
  const tables: AnyTable[] = [];
  for (const [name, collection] of collectionsByName) {
    const document = Object.hasOwn(documents, name) ? documents[name] : undefined;
    // The base comes from a fixture, so it lacks collections that only this sandbox declares.
    const baseTable = base && (base.tables.get(name) ?? Table.empty(collection));
    tables.push(
      document === undefined
        ? (baseTable ?? Table.empty(collection))
        : decodeTable(collection, document, baseTable),
    );
  }
  return Tables.of(tables);
}

function decodeTable(
  collection: AnyCollection,
  document: TableDocument,
  base: AnyTable | undefined,
): AnyTable {
  const path = `tables.${collection.name}`;
  const [key, records] = "records" in document ? ["records", document.records] : ["put", document.put];
  for (const [position, record] of records.entries())
    requireRecord(collection, record, `${path}.${key}[${position}]`);
  // Indexes read fields that a record may lack, and ids may clash. `size` builds the table, so both are detected now.
  if ("records" in document) {
    const table = new Table(collection, () => records);
    requireBuilt(path, "cannot be built", () => table.size);
    return table;
  }
  if (base === undefined)
    throw new WorldDocumentError(path, "contains only changes to records that are missing");
  let table = base;
  for (const id of document.removed) table = table.remove(id);
  for (const record of records) {
    const problem = `holds ${collection.getId(record)}, which cannot be stored`;
    table = requireBuilt(path, problem, () => table.put(record));
  }
  return table;
}

function requireBuilt<T>(path: string, problem: string, build: () => T): T {
  try {
    return build();
  } catch (error) {
    throw new WorldDocumentError(path, `${problem}: ${(error as Error).message}`);
  }
}

function requireRecord(collection: AnyCollection, record: unknown, path: string): void {
  if (typeof record !== "object" || record === null || Array.isArray(record)) {
    throw new WorldDocumentError(path, "must be a record");
  }
  const id = (record as Record<string, unknown>)[collection.idField];
  if (typeof id !== "string" || id === "") {
    throw new WorldDocumentError(`${path}.${collection.idField}`, "must be the id of the record");
  }
}

function requireTimer({ id, due, kind, subject }: Timer, origin: number): void {
  const path = `tables.${timers.name}`;
  if (!Number.isSafeInteger(due) || !TIMER_KINDS.includes(kind) || typeof subject !== "string") {
    throw new WorldDocumentError(path, `${id} is not a timer that this server knows`);
  }
  if (!isPossibleInstant(due, origin))
    throw new WorldDocumentError(path, `${id} is due outside the years 1 to 9999`);
}
