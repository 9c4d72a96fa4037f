import type { Static, TObject, TSchema } from "typebox";
import type { TimerKind } from "./clock.ts";

/** JSON values only; instants are milliseconds since the sandbox's origin. */
export type StoredRecord = object;

export interface IndexSpec<R> {
  /**
   * The groups that contain a record, each an ordered list: several if a list has equality filters. A field's name means
   * one group for each of its values, such as the messages of each thread; a record with null or without it is in none.
   */
  groups: (keyof R & string) | ((record: R) => readonly string[]);
  /** Ascending; ties are broken by id ascending (G28). Newest first: the negated instant. */
  order: (record: R) => number | string;
  /** The field whose values the function `groups` returns (none if it is null or absent). */
  field?: string;
}

/** An index as tables store it. */
export interface Index<R> {
  groups: (record: R) => readonly string[];
  order: IndexSpec<R>["order"];
  /** The field whose values are the names of the groups: records that refer to another are found without a scan. */
  field: string | undefined;
  /** Its position among the indexes of its collection. */
  position: number;
}

interface CollectionSpec<R extends StoredRecord, N extends string = string, S extends TSchema = TSchema> {
  /** The name under which the control API's state calls reach it (interfaces.md 4). */
  name: N;
  /** The identifier prefix of section 2.1, such as `dept_`. Default: the beginning of the id's pattern, if it has one. */
  prefix?: string;
  /** The field that contains the public id. Default: `id`. */
  idField?: keyof R & string;
  /** Requests and answers have `Instant()` fields as timestamps, and no `internal()` ones. */
  schema: S;
  indexes?: Record<string, IndexSpec<R>>;
  /** The kind of timer that has a record's id as its subject; it is removed with the record. */
  timer?: TimerKind;
  /** Not available to state calls: timers, upload sessions, refresh tokens. */
  internal?: boolean;
  /** Internal, but counted against a limit of records: clients can make any number of them. */
  countsTowardLimit?: boolean;
  /** Records describe work for later, such as a delivery; the change that stores one is the cause of its work (interfaces.md 10). */
  describesLaterWork?: boolean;
}

export interface Collection<R extends StoredRecord, N extends string = string, S extends TSchema = TSchema>
  extends Omit<CollectionSpec<R, N, S>, "indexes"> {
  readonly prefix: string;
  readonly idField: keyof R & string;
  readonly indexes: Readonly<Record<string, Index<R>>>;
  readonly indexList: readonly Index<R>[];
  readonly getId: (record: R) => string;
}

/**
 * Declares a table of the world. The returned handle types every access: `world.get(departments, "dept_eng")` is a
 * `Department | undefined`. The type of the records follows from the schema, unless it is given.
 */
export function collection<const N extends string, S extends TObject>(
  spec: CollectionSpec<Static<S>, N, S>,
): Collection<Static<S>, N, S>;
export function collection<R extends StoredRecord>(spec: CollectionSpec<R>): Collection<R>;
export function collection<R extends StoredRecord>(spec: CollectionSpec<R>): Collection<R> {
  const { idField = "id" as keyof R & string } = spec;
  const entries = Object.entries(spec.indexes ?? {});
  const indexes = Object.fromEntries(
    entries.map(([name, index], position) => [name, toIndex(index, position)]),
  );
  return {
    ...spec,
    prefix: spec.prefix ?? findPrefix(spec.schema, idField),
    idField,
    indexes,
    indexList: Object.values(indexes),
    getId: (record) => record[idField] as string,
  };
}

function toIndex<R>({ groups, order, field }: IndexSpec<R>, position: number): Index<R> {
  if (typeof groups === "function") return { groups, order, field, position };
  const listGroups = (record: R) => {
    const value = record[groups] as string | null | undefined;
    return value == null ? [] : [value];
  };
  return { groups: listGroups, order, field: groups, position };
}

/** The group of the records that pass these filters; undefined filters nothing. */
export function toFilterGroup(owner: string, ...filters: readonly (string | undefined)[]): string {
  return [owner, ...filters.map((filter) => filter ?? "")].join("|");
}

/** Groups for each combination of the filters that a record fits, so that no list is scanned. */
export function listFilterGroups(owner: string, ...values: readonly string[]): string[] {
  let groups = [owner];
  for (const value of values) groups = groups.flatMap((group) => [`${group}|`, `${group}|${value}`]);
  return groups;
}

// biome-ignore lint/suspicious/noExplicitAny: a registry holds collections of every record type
export type AnyCollection = Collection<any>;

function findPrefix(schema: TSchema, idField: string): string {
  const { properties = {} } = schema as { properties?: Record<string, { pattern?: string }> };
  return /^\^([a-z]+_)/.exec(properties[idField]?.pattern ?? "")?.[1] ?? "";
}
