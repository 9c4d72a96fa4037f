import type { Static, TObject, TSchema } from "typebox";
import type { TimerKind } from "./timer-kinds.ts";

/** What every stored record is: JSON values only, instants as milliseconds since the sandbox's origin. */
export type StoredRecord = object;

export interface IndexSpec<R> {
  /**
   * The lists this record stands in; several where a list can be narrowed by equality filters. A field's name
   * stands for one list per value of it, such as the messages of each thread; null stands in none.
   */
  groups: (keyof R & string) | ((record: R) => readonly string[]);
  /** Ascending; ties are broken by id ascending (G28). Newest first: the negated instant. */
  order: (record: R) => number | string;
}

/** An index as tables keep it. */
export interface Index<R> {
  groups: (record: R) => readonly string[];
  order: IndexSpec<R>["order"];
  /** The field whose values name the lists: who belongs to a record is found by it without a scan. */
  field: string | undefined;
}

export interface CollectionSpec<
  R extends StoredRecord,
  N extends string = string,
  S extends TSchema = TSchema,
> {
  /** The name under which the control API's state calls reach it (interfaces 4). */
  name: N;
  /** The identifier prefix of section 2.1, such as `dept_`. */
  prefix: string;
  /** The field that holds the public id. */
  idField: keyof R & string;
  /** The record's public form; fields made with `Instant()` are converted at the border. */
  schema: S;
  indexes?: Record<string, IndexSpec<R>>;
  /** The kind of the timer that may stand under a record's id; it goes with the record. */
  timer?: TimerKind;
  /** Kept out of the state calls: timers, sessions of uploads, spent tokens. */
  internal?: boolean;
  /** Internal, yet one of a sandbox's records where they are limited: clients can make any number of them. */
  counted?: boolean;
  /** Its records are things still to be done: whoever stores one is what causes it (interfaces 10). */
  work?: boolean;
}

export interface Collection<R extends StoredRecord, N extends string = string, S extends TSchema = TSchema>
  extends Omit<CollectionSpec<R, N, S>, "indexes"> {
  readonly indexes: Readonly<Record<string, Index<R>>>;
  /** The names of its indexes, and the indexes in the same order: tables keep theirs in a list. */
  readonly indexNames: readonly string[];
  readonly indexList: readonly Index<R>[];
  readonly idOf: (record: R) => string;
}

/**
 * Declares a table of the world. The returned handle types every access:
 * `world.get(departments, "dept_eng")` is a `Department | undefined`. What is stored follows from the schema,
 * unless it is said to be something else.
 */
export function collection<const N extends string, S extends TObject>(
  spec: CollectionSpec<Static<S>, N, S>,
): Collection<Static<S>, N, S>;
export function collection<R extends StoredRecord>(spec: CollectionSpec<R>): Collection<R>;
export function collection<R extends StoredRecord>(spec: CollectionSpec<R>): Collection<R> {
  const indexNames = Object.keys(spec.indexes ?? {});
  const indexList = Object.values(spec.indexes ?? {}).map(indexOf);
  return {
    ...spec,
    indexes: Object.fromEntries(indexNames.map((name, at) => [name, indexList[at]!])),
    indexNames,
    indexList,
    idOf: (record) => record[spec.idField] as string,
  };
}

function indexOf<R>({ groups, order }: IndexSpec<R>): Index<R> {
  if (typeof groups === "function") return { groups, order, field: undefined };
  const lists = (record: R) => {
    const value = record[groups] as string | null;
    return value === null ? [] : [value];
  };
  return { groups: lists, order, field: groups };
}

// biome-ignore lint/suspicious/noExplicitAny: a registry holds collections of every record type
export type AnyCollection = Collection<any>;
