import type { TObject, TSchema } from "typebox";
import { isEqual, mapValues } from "../maps.ts";
import type { AnyCollection, StoredRecord } from "../state/collection.ts";
import type { Transaction, WorldReader } from "../state/transaction.ts";
import { invalidInput } from "./errors.ts";
import { createStateContext, type Factory } from "./factory.ts";
import { parseInstant } from "./instant.ts";
import { findInvalidField } from "./invalid-field.ts";
import { convertInstants, isInternal, removeInternalFields } from "./public-view.ts";
import { requireReferences } from "./references.ts";
import type { Resource, StateActor, StateRules } from "./resource.ts";
import { isJsonObject, replaceNumericIds, toPlainSchema } from "./schema.ts";
import { cutText } from "./text.ts";
import { makeAjv, provideValidator, toValidator } from "./validator.ts";

type Fields = Record<string, unknown>;

/** NUL and lone surrogates, which databases cut or replace in the keys of rows. */
const UNSTORABLE = /[\0\ud800-\udfff]/u;

/** A collection in its public form: instants are ISO 8601 texts, internal fields are hidden. */
export class PublicCollection {
  readonly collection: AnyCollection;
  // biome-ignore lint/suspicious/noExplicitAny: rules are typed where they are declared
  readonly rules: StateRules<any>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly factory: Factory<any>;
  readonly properties: Readonly<Record<string, TSchema>>;
  protected readonly internalNames: readonly string[];
  readonly recordSchema: TObject;
  protected readonly partialSchema: TObject;

  constructor(
    collection: AnyCollection,
    { state = {}, factories = {} }: Pick<Resource, "state" | "factories"> = {},
  ) {
    this.collection = collection;
    this.rules = state[collection.name] ?? {};
    // All collections of the state calls have one; records.test.ts checks it.
    this.factory = factories[collection.name]!;
    const { properties } = collection.schema as TObject;
    this.internalNames = Object.keys(properties).filter((name) => isInternal(properties[name]!));
    this.recordSchema = removeInternalFields(collection.schema);
    this.properties = this.recordSchema.properties;
    // No field is required: the server completes the record.
    const { required: _required, $id: _id, ...others } = this.recordSchema as TObject & { $id?: string };
    const fields = mapValues(this.properties, (field) => ({ ...field, default: undefined }));
    const schema = { ...others, properties: fields, additionalProperties: false } as unknown as TObject;
    this.partialSchema = schema;
    // A field at the top gets no default here. Fields within objects and lists do, since a call replaces these as a whole.
    provideValidator(schema, () => makeAjv({ useDefaults: true }).compile(toPlainSchema(schema)));
  }

  toPublic(record: object, world: Pick<WorldReader, "toIso">): Fields {
    const publicRecord = this.rules.toPublic?.(record, world as WorldReader) ?? record;
    return this.convertInstants(this.pickPublicFields(publicRecord), (value) =>
      toIso(value, world),
    ) as Fields;
  }

  protected convertInstants(value: unknown, convertInstant: (instant: unknown) => unknown): unknown {
    return convertInstants(this.collection.schema, value, convertInstant);
  }

  private pickPublicFields(record: object): object {
    if (this.internalNames.length === 0) return record;
    return Object.fromEntries(Object.entries(record).filter(([name]) => !this.internalNames.includes(name)));
  }

  /** Converts fields that `checkFields` accepted to their stored form. */
  toStored(fields: Fields, world: WorldReader): Fields {
    const stored = this.rules.fromPublic ? (this.rules.fromPublic(fields, world) as Fields) : fields;
    return this.convertInstants(stored, (value) => {
      if (typeof value !== "string") return value;
      const epochMs = parseInstant(value);
      if (epochMs !== undefined) return world.toInstant(epochMs);
      const field = Object.keys(fields).find((name) => fields[name] === value) ?? "body";
      throw this.createError(field, value, "must be an ISO 8601 timestamp");
    }) as Fields;
  }

  /**
   * Inserts a record with the given fields, which `checkFields` accepted; the others are derived from them, or generated.
   * @param stream of random numbers
   * @returns the stored record as the rules have completed it
   */
  insertRecord(tx: Transaction, input: Fields, actor: StateActor, stream: string): Fields {
    const { collection, rules } = this;
    const fields = this.toStored(input, tx);
    requireReferences(tx, collection, fields);
    const record = this.makeRecord(tx, fields, actor, stream);
    this.requireFreeId(tx, record[collection.idField]);
    return readAgain(tx, collection, rules.insert?.(tx, record, actor) ?? tx.insert(collection, record));
  }

  protected makeRecord(tx: Transaction, fields: Fields, actor: StateActor, stream: string): Fields {
    const { user_id: actor_id, organization_id: actor_organization_id, settings } = actor;
    const random = tx.random(`${stream}/${this.collection.name}`);
    const context = createStateContext(tx, { random, settings, actor_id, actor_organization_id });
    return this.factory(fields, context);
  }

  /** Changes given fields, which `checkFields` accepted; the rules keep the API's invariants. @returns as `insertRecord` */
  updateRecord(tx: Transaction, before: StoredRecord, input: Fields, actor: StateActor): Fields {
    const { collection, rules } = this;
    const fields = this.toStored(input, tx);
    requireReferences(tx, collection, fields);
    const publicBefore = this.toPublic(before, tx);
    const after = { ...before, ...fields };
    const written = rules.update?.(tx, before, after, actor, fields) ?? tx.put(collection, after);
    const updated = readAgain(tx, collection, written);
    const changed = this.toPublic(updated, tx);
    const findInvalid = (record: Fields) => rules.findInvalid?.(record, { isWhole: true });
    const invalid = findInvalid(changed);
    // A record that broke a rule before may still be changed.
    if (invalid !== undefined && findInvalid(publicBefore) === undefined)
      throw this.createError(invalid.field, invalid.value, invalid.message);
    this.requireGivenValuesKept(input, changed, tx, publicBefore);
    return updated;
  }

  protected requireFreeId(tx: Transaction, id: unknown): void {
    if (id === undefined) return;
    if (UNSTORABLE.test(String(id)))
      throw this.createError(this.collection.idField, id, "must not contain NUL or a lone surrogate");
    if (tx.get(this.collection, String(id)) !== undefined) throw this.createErrorOfTakenId(id);
  }

  protected createErrorOfTakenId(id: unknown): Error {
    return this.createError(this.collection.idField, id, "is in use already");
  }

  /**
   * Checks the fields of a record, which may be a part of it. Also adds defaults to them, and makes texts of numeric ids.
   * @throws what `createError` returns, for the first field that is unknown or does not fit
   */
  checkFields(fields: unknown): void {
    if (isJsonObject(fields)) replaceNumericIds(fields, this.properties);
    this.validate(this.partialSchema, fields);
    const invalid = this.rules.findInvalid?.(fields as Fields);
    if (invalid !== undefined) throw this.createError(invalid.field, invalid.value, invalid.message);
  }

  /** Checks a whole record in its public form against its schema. @throws what `createError` returns */
  checkRecord(record: object): void {
    this.validate(this.recordSchema, record);
  }

  /**
   * Refuses a given value that the changed record does not have: another field determines it. A value as before the change
   * is accepted, since a client may send a whole record back. In maps such as `spent`, only the given entries are compared.
   * @throws what `createError` returns
   */
  requireGivenValuesKept(given: Fields, changed: Fields, world: WorldReader, before?: Fields): void {
    const givenValues = this.convertInstants(given, (value) =>
      typeof value === "string" ? world.toIso(world.toInstant(parseInstant(value)!)) : value,
    ) as Fields;
    for (const [name, value] of Object.entries(givenValues)) {
      const actual = changed[name] ?? null;
      if (isWithin(value, actual) || (before !== undefined && isEqual(value, before[name]))) continue;
      const actualText = cutText(JSON.stringify(actual), 80);
      throw this.createError(
        name,
        given[name],
        `contradicts the record's other fields, with which it is ${actualText}`,
      );
    }
  }

  protected createError(field: string, value: unknown, message: string): Error {
    return invalidInput(field, value, `${field} of ${this.collection.name} ${message}`);
  }

  protected validate(schema: TObject, value: unknown): void {
    const validate = toValidator(schema);
    if (validate(value)) return;
    const { field, value: found, message } = findInvalidField(value, validate.errors!);
    throw this.createError(field, found, message);
  }
}

/** What `create` makes of each collection, by name; without internal ones. */
export function mapCollections<T>(
  resources: readonly Resource[],
  create: (collection: AnyCollection, resource: Resource) => T,
): ReadonlyMap<string, T> {
  const entries = resources.flatMap((resource) =>
    resource.collections
      .filter(({ internal }) => internal !== true)
      .map((one) => [one.name, create(one, resource)] as const),
  );
  return new Map(entries);
}

/** The record as stored after its rules have changed it further. */
function readAgain(tx: Transaction, collection: AnyCollection, record: StoredRecord): Fields {
  return (tx.get(collection, collection.getId(record)) ?? record) as Fields;
}

export function toIso(value: unknown, world: Pick<WorldReader, "toIso">): unknown {
  return typeof value === "number" ? world.toIso(value) : value;
}

function isWithin(given: unknown, actual: unknown): boolean {
  // Amounts are stored in millionths.
  if (typeof given === "number" && typeof actual === "number") return Math.abs(given - actual) < 1e-6;
  if (!isJsonObject(given) || !isJsonObject(actual)) return isEqual(given, actual);
  return Object.entries(given).every(([name, value]) => isWithin(value, actual[name]));
}
