import { type Static, type TObject, type TProperties, type TSchema, type TUnsafe, Type } from "typebox";
import type { Collection, StoredRecord } from "../state/collection.ts";
import type { Factory, FactoryContext } from "./factory.ts";
import { convertInstants, isInternal, type PublicFieldSchema, toPublicField } from "./public-view.ts";
import type { BaseBuilder, FixtureData, FixtureReader } from "./resource.ts";

type Names = Readonly<Record<string, string>>;
type FixtureName<K, Renamed> = K extends keyof Renamed ? Renamed[K] & string : K;
type Value<S, NotNull> =
  PublicFieldSchema<S> extends infer F extends TSchema
    ? NotNull extends true
      ? NonNullable<Static<F>>
      : Static<F>
    : never;

type PublicFieldName<P, Omitted> = {
  [K in keyof P]: P[K] extends { "x-internal": true } ? never : Exclude<K, Omitted>;
}[keyof P];

type Entry<P, Omitted, Needed, NotNull, Renamed, More extends TProperties> = {
  [K in PublicFieldName<P, Omitted> as K extends Needed ? FixtureName<K, Renamed> : never]: Value<
    P[K],
    false
  >;
} & {
  [K in PublicFieldName<P, Omitted> as K extends Needed ? never : FixtureName<K, Renamed>]?: Value<
    P[K],
    K extends NotNull ? true : false
  >;
} & Static<TObject<More>>;

interface FormatOptions<Omitted, Needed, NotNull, Renamed, More> {
  /** The required fields of an entry, its id first; the factory fills the others. */
  required?: readonly Needed[];
  /** Fields that a fixture cannot give. */
  omit?: readonly Omitted[];
  /** Fields that a fixture cannot set to null; it leaves them out instead. */
  notNull?: readonly NotNull[];
  /** Shorter names that fixtures have for fields, by the stored name. */
  names?: Renamed;
  /** More keys of an entry, such as the records that belong to this one. */
  more?: More;
}

/** How a fixture writes a record of a collection. */
interface EntryFormat<E, R> {
  schema: TUnsafe<E>;
  /** The field that identifies an entry; its random values depend on it. */
  id: keyof E & string;
  /** The fields of an entry in their stored form; the factory fills the others. */
  toFields(entry: E, base: Pick<BaseBuilder, "toInstant">): Partial<R>;
}

/**
 * Derives the format of a fixture's entries from the stored schema: instants are ISO 8601 texts, fields outside
 * `required` are optional, and unknown keys are refused (interfaces.md 5).
 */
export function createEntryFormat<
  P extends TProperties,
  const Omitted extends keyof P & string = never,
  const Needed extends keyof P & string = never,
  const NotNull extends keyof P & string = never,
  const Renamed extends Names = Record<never, never>,
  More extends TProperties = Record<never, never>,
>(
  stored: TObject<P>,
  options: FormatOptions<Omitted, Needed, NotNull, Renamed, More>,
): EntryFormat<Entry<P, Omitted, Needed, NotNull, Renamed, More>, Static<TObject<P>>> {
  const { required = [], names = {} as Renamed, more } = options;
  const omitted = new Set<string>(options.omit);
  const notNull = new Set<string>(options.notNull);
  const fields: TProperties = {};
  const storedNames = new Map<string, string>();
  const publicFields = Object.entries(stored.properties).filter(
    ([name, field]) => !omitted.has(name) && !isInternal(field),
  );
  for (const [name, field] of publicFields) {
    const fixtureName = names[name] ?? name;
    storedNames.set(fixtureName, name);
    const value = notNull.has(name) ? removeNull(toPublicField(field)) : toPublicField(field);
    fields[fixtureName] = required.includes(name as Needed) ? value : Type.Optional(value);
  }
  const schema = Type.Object({ ...fields, ...more }, { additionalProperties: false });
  return {
    schema: Type.Unsafe(schema),
    id: (required[0] && (names[required[0]] ?? required[0])) as never,
    toFields(entry, base) {
      const storedFields: Record<string, unknown> = {};
      for (const [fixtureName, value] of Object.entries(entry)) {
        const name = storedNames.get(fixtureName);
        if (name !== undefined) storedFields[name] = value;
      }
      return convertInstants(stored, storedFields, (value) =>
        typeof value === "string" ? base.toInstant(value) : value,
      ) as never;
    },
  };
}

function removeNull(schema: TSchema): TSchema {
  const { anyOf = [] } = schema as { anyOf?: TSchema[] };
  return anyOf.find((part) => (part as { type?: string }).type !== "null") ?? schema;
}

export type FixtureEntry<T> = T extends EntryFormat<infer E, infer _R> ? E : never;

interface ListOptions<E, R extends StoredRecord, C extends StoredRecord>
  extends Pick<FixtureReader, "check" | "fieldGenerators" | "dependsOnSettings"> {
  entryFormat: EntryFormat<E, R>;
  factory: Factory<R>;
  /** The records that entries contain, such as the tracks of a music collection. */
  children?: { collection: Collection<C>; make: (entry: E, base: BaseBuilder) => readonly C[] };
}

/** Creates the reader of a key that is simply a list of a collection's records. */
export function createListReader<R extends StoredRecord, E extends object, C extends StoredRecord>(
  collection: Collection<R>,
  { entryFormat, factory, children, ...rest }: ListOptions<E, R, C>,
): FixtureReader {
  const { name } = collection;
  return {
    ...rest,
    keys: { [name]: Type.Array(entryFormat.schema) },
    addRecords(fixture, base) {
      const entries = readEntries(fixture, name, entryFormat);
      base.fill(collection, () =>
        entries.map((entry) =>
          factory(entryFormat.toFields(entry, base), base.createContext(name, String(entry[entryFormat.id]))),
        ),
      );
      if (children)
        base.fill(children.collection, () => entries.flatMap((entry) => children.make(entry, base)));
    },
  };
}

/** The entries under a key of a fixture; empty without the key. `_entryFormat` gives their type. */
export function readEntries<E, R>(
  fixture: FixtureData,
  key: string,
  _entryFormat: EntryFormat<E, R>,
): readonly E[] {
  return (fixture[key] ?? []) as readonly E[];
}

/** The organization of each record under a key, by its id; the first one for a record that names none. */
export function readOrganizations(fixture: FixtureData, key: string): Map<string, string> {
  type Fields = { id: string; organization_id?: string };
  const [first] = (fixture["organizations"] ?? []) as Fields[];
  const records = (fixture[key] ?? []) as Fields[];
  return new Map(records.map(({ id, organization_id = first?.id ?? "" }) => [id, organization_id]));
}

/** Reports the values of an entry that its status rules out; null, 0 and an empty text are no values. */
export function reportContradictions<E extends object>(
  entry: E,
  status: string,
  fields: readonly (keyof E & string)[],
  report: (field: keyof E & string, message: string) => void,
): void {
  for (const field of fields)
    if (entry[field])
      report(field, `${field} contradicts the status ${status}: omit it, or give another status`);
}

/** The entries under a key, and further ones with nothing but an id up to the total of `generate:`. */
export function readOrGenerate<E extends { id: string }, R>(
  fixture: FixtureData,
  key: string,
  entryFormat: EntryFormat<E, R>,
  prefix: string,
): E[] {
  const entries = readEntries(fixture, key, entryFormat);
  const missing = Number(fixture.generate?.[key] ?? 0) - entries.length;
  return [...entries, ...generateIds(prefix, missing, entries).map((id) => ({ id }) as E)];
}

/** Ids for generated records; a fixture that was written by a generation may have some of them already. */
export function generateIds(prefix: string, count: number, entries: readonly { id: string }[]): string[] {
  const taken = new Set(entries.map(({ id }) => id));
  const ids: string[] = [];
  for (let i = 0; ids.length < count; i++) {
    const id = `${prefix}gen${String(i).padStart(7, "0")}`;
    if (!taken.has(id)) ids.push(id);
  }
  return ids;
}

/** A record's id, made of its number; a random one if an entry of the fixture has that id already. */
export function toFreeId(
  id: string,
  taken: ReadonlySet<string | undefined>,
  { createId }: Pick<FactoryContext, "createId">,
): string {
  return taken.has(id) ? createId(id.slice(0, id.indexOf("_") + 1)) : id;
}

/** Reads a key whose values, by organization, are lists or numbers; `generate:` may ask for more. */
export function readByOrganization<E, R>(
  fixture: FixtureData,
  key: string,
  _entryFormat: EntryFormat<E, R>,
): { organization_id: string; entries: readonly E[]; count: number }[] {
  const byOwner = (fixture[key] ?? {}) as Record<string, number | E[]>;
  const totals = (fixture.generate?.[key] ?? {}) as Record<string, number>;
  return [...new Set([...Object.keys(byOwner), ...Object.keys(totals)])].map((organization_id) => {
    const { entries, count } = toEntriesAndCount(byOwner[organization_id] ?? 0);
    return { organization_id, entries, count: Math.max(count, totals[organization_id] ?? 0) };
  });
}

/** The entries of a list and their number; for the number of records to generate, no entries. */
export function toEntriesAndCount<E>(listOrCount: number | readonly E[]): {
  entries: readonly E[];
  count: number;
} {
  return typeof listOrCount === "number"
    ? { entries: [], count: listOrCount }
    : { entries: listOrCount, count: listOrCount.length };
}

/**
 * The time between a record's children, the first of them a time after the record, so that the last is in the past.
 * `created_at` is relative to the fixture's epoch, so negative for a record of the past.
 */
export function toInterval(created_at: number, count: number, longest: number): number {
  const interval = Math.floor(-created_at / (count + 1));
  return interval < 1 ? longest : Math.min(longest, interval);
}
