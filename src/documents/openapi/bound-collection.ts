import { invalidInput } from "../../engine/contract/errors.ts";
import type { FactoryContext } from "../../engine/contract/factory.ts";
import {
  appendStep,
  findInvalidField,
  type InvalidField,
  toFieldName,
} from "../../engine/contract/invalid-field.ts";
import type { Call } from "../../engine/contract/operation.ts";
import { PublicCollection } from "../../engine/contract/public-collection.ts";
import type { Reference } from "../../engine/contract/references.ts";
import { removeWithDependents } from "../../engine/contract/removal.ts";
import type { Resource, StateActor } from "../../engine/contract/resource.ts";
import { isJsonObject, type JsonObject, type JsonSchema } from "../../engine/contract/schema.ts";
import { getOwn, mapValues } from "../../engine/maps.ts";
import type { AnyCollection } from "../../engine/state/collection.ts";
import type { Transaction, WorldReader } from "../../engine/state/transaction.ts";
import { completeObject, generateValue, isNumeric, isUnixTime, toUnixTime } from "./generate-value.ts";
import { matches } from "./list-records.ts";
import { type CollectionSpec, CREATED_NAMES, isStoredInstant, UPDATED_NAMES } from "./own-collection.ts";
import { isSameName } from "./page-names.ts";
import { RecordIds } from "./record-ids.ts";
import { RecordRules } from "./record-rules.ts";
import type { Schemas } from "./schemas.ts";

/** Values that clients send as the id of a new record, which has none yet. */
const NO_IDS: readonly unknown[] = [0, null, "", "00000000-0000-0000-0000-000000000000"];

/** A collection as bound operations use it: the reference's own, without a `spec`, or one that the document declares. */
export class BoundCollection extends PublicCollection {
  readonly spec: CollectionSpec | undefined;
  readonly fieldSchemas: Readonly<Record<string, JsonSchema>>;
  /** The names of `fieldSchemas`. */
  readonly fieldNames: ReadonlySet<string>;
  readonly outerIdFields: ReadonlySet<string>;
  readonly recordRules: RecordRules;
  private readonly schemas: Schemas;
  private readonly instants: readonly string[];
  /** The times that the server sets and that are numbers of seconds. */
  private readonly unixTimes: readonly string[];
  readonly ids: RecordIds;
  private readonly hasNumericId: boolean;

  constructor(
    collection: AnyCollection,
    { spec, resource, schemas }: { spec?: CollectionSpec; resource?: Resource; schemas: Schemas },
  ) {
    super(collection, resource);
    this.spec = spec;
    this.schemas = schemas;
    this.fieldSchemas = (collection.schema as JsonSchema).properties!;
    const names = Object.keys(this.fieldSchemas);
    this.instants = names.filter((field) => isStoredInstant(this.fieldSchemas[field]!));
    const described = schemas.listPossibleFields(spec?.schema);
    this.unixTimes = names.filter(
      (field) =>
        (CREATED_NAMES.test(field) || UPDATED_NAMES.test(field)) && isUnixTime(described.get(field), schemas),
    );
    this.fieldNames = new Set(names);
    this.outerIdFields = spec?.outerIdFields ?? new Set();
    const storedOtherwise = new Set([collection.idField, ...this.instants]);
    this.recordRules = new RecordRules(spec?.schema, { schemas, storedOtherwise });
    this.ids = new RecordIds(collection, spec, schemas);
    this.hasNumericId = spec !== undefined && isNumeric(described.get(spec.idField), schemas);
  }

  /** The collection of the owner that a field names; undefined for other fields. */
  findOwner(field: string): string | undefined {
    const reference = this.findReference(field);
    return reference?.owned === true ? reference.collection : undefined;
  }

  /** The declaration by which a field names a record; undefined for other fields. */
  findReference(field: string): Reference | undefined {
    return this.fieldSchemas[field]?.["x-refers-to"] as Reference | undefined;
  }

  /** The field that a request names so, or in another style (`userId` for `user_id`); else the name. */
  findField(name: string): string {
    if (this.fieldNames.has(name)) return name;
    return [...this.fieldNames].find((field) => isSameName(field, name)) ?? name;
  }

  getId(record: object): string {
    return this.collection.getId(record);
  }

  /** A field's value, by which records are sorted. */
  getValue(record: object, field: string): unknown {
    const value = (record as JsonObject)[field];
    return this.hasNumericId && field === this.collection.idField ? Number(value) : value;
  }

  find(world: WorldReader, id: unknown): object | undefined {
    return world.get(this.collection, String(id)) as object | undefined;
  }

  /** Whether a record is softly deleted. */
  isDeleted(record: object): boolean {
    const soft = this.spec?.soft;
    return soft !== undefined && (record as JsonObject)[soft] != null;
  }

  override toPublic(record: object, world: WorldReader): JsonObject {
    const publicFields = { ...super.toPublic(record, world) };
    const { idField } = this.collection;
    if (this.hasNumericId) publicFields[idField] = Number(publicFields[idField]);
    for (const name of this.outerIdFields) delete publicFields[name];
    return publicFields;
  }

  override toStored(fields: JsonObject, world: WorldReader): JsonObject {
    const storedFields = super.toStored(fields, world);
    for (const name of this.outerIdFields)
      if (storedFields[name] !== undefined) storedFields[name] = String(storedFields[name]);
    if (this.spec !== undefined) return storedFields;
    return Object.fromEntries(Object.entries(storedFields).filter(([name]) => this.fieldNames.has(name)));
  }

  /** Whether fields of a record have these values, or one of several. */
  hasValues(record: object, conditions: JsonObject, world: WorldReader): boolean {
    return Object.entries(conditions).every(([field, expected]) => {
      const isInstant = this.instants.includes(field);
      return matches((record as JsonObject)[field], isInstant ? toInstants(expected, world) : expected);
    });
  }

  protected override createError(field: string, value: unknown, message: string): Error {
    return invalidInput(field, value, `${field} ${message}`);
  }

  /** @throws ApiError INVALID_INPUT for an id in use */
  create(call: Call, fields: JsonObject): object {
    const { world } = call;
    const { collection, spec, factory, rules } = this;
    const { idField } = collection;
    const storedFields = this.toStored(fields, world);
    if (NO_IDS.includes(storedFields[idField])) delete storedFields[idField];
    const id = storedFields[idField];
    this.requireFreeId(world, id);
    if (spec === undefined && factory !== undefined) {
      const actor = this.toActor(call);
      const record = this.makeRecord(world, storedFields, actor, "own");
      return rules.insert ? rules.insert(world, record, actor) : world.insert(collection, record);
    }
    const newId =
      id === undefined
        ? this.ids.create({
            world,
            getRandom: () => world.random(collection.name),
            createNewestFirstId: (prefix) => world.createNewestFirstId(prefix),
          })
        : String(id);
    const record: JsonObject = { ...storedFields, [idField]: newId };
    for (const field of this.instants)
      if (record[field] === undefined && (CREATED_NAMES.test(field) || UPDATED_NAMES.test(field)))
        record[field] = world.now;
    for (const field of this.unixTimes) record[field] ??= toUnixTime(world.toIso(world.now));
    const whole = this.complete(record, fields, world) as JsonObject;
    return world.insert(collection, this.recordRules.complete(whole, world.random(collection.name)));
  }

  /**
   * @param bodyFields of a replacement: the fields that its body may have, none if it may have any. Those that `changes` lacks
   * are removed, unless a record needs them or only the server sets them.
   */
  update(call: Call, before: object, changes: JsonObject, bodyFields?: ReadonlyMap<string, unknown>): object {
    const { world } = call;
    const fields = this.toStored(changes, world);
    const base =
      bodyFields !== undefined && this.spec !== undefined
        ? this.keepFields(before as JsonObject, bodyFields)
        : before;
    const after: JsonObject = { ...base, ...fields };
    for (const field of this.instants) if (UPDATED_NAMES.test(field)) after[field] = world.now;
    for (const field of this.unixTimes)
      if (UPDATED_NAMES.test(field)) after[field] = toUnixTime(world.toIso(world.now));
    for (const field in after) if (after[field] === undefined) delete after[field];
    if (this.spec === undefined && this.rules.update)
      return this.rules.update(world, before, after, this.toActor(call), fields);
    if (bodyFields === undefined || this.spec === undefined)
      return world.put(this.collection, after as object);
    return world.put(this.collection, this.complete(after, changes, world));
  }

  /** Gives a field this stored value; without one, invents it if it is required. */
  replaceField(world: Transaction, record: JsonObject, { name, value }: { name: string; value: unknown }) {
    const { [name]: _, ...others } = record;
    const fields = value === undefined ? others : { ...record, [name]: value };
    return world.put(this.collection, this.complete(fields, fields, world));
  }

  /** Invents values for required fields that a record lacks, and orders the fields as the schema does. */
  private complete(record: JsonObject, sent: JsonObject, world: Transaction): object {
    const fields = completeObject(record, this.spec?.schema, {
      schemas: this.schemas,
      now: world.toIso(world.now),
      seed: world.random(this.collection.name).uint32(),
      sent,
    });
    const orderedFields: JsonObject = {};
    for (const name of this.fieldNames) {
      const value = getOwn(fields, name);
      if (value !== undefined) orderedFields[name] = value;
    }
    // Invented instants are in their public form.
    return this.convertInstants({ ...orderedFields, ...fields }, (at) =>
      typeof at === "string" ? world.toInstant(Date.parse(at)) : at,
    ) as object;
  }

  /**
   * Replaces a value that was invented for a field by one that fits the document's schema, which says more than the
   * collection's.
   */
  replaceUnfit(field: string, invented: unknown, { random }: Pick<FactoryContext, "random">): unknown {
    const { schemas } = this;
    const node = schemas.listPossibleFields(this.spec?.schema).get(field);
    const hasStoredForm = this.instants.includes(field) || this.findReference(field) !== undefined;
    if (node === undefined || hasStoredForm) return invented;
    const fits = schemas.compileValidator(node, "answer")(invented);
    return fits ? invented : generateValue(schemas, node, random.uint32());
  }

  /**
   * The first of the given fields that does not fit the document's schema, which says more than the collection's; else the
   * rule about whole records that they break. If they are not the whole record, only a rule that no further fields can satisfy.
   */
  findInvalid(fields: JsonObject, { isWhole = false } = {}): InvalidField | undefined {
    const { schemas, collection } = this;
    for (const [name, value] of Object.entries(fields)) {
      const node = schemas.listPossibleFields(this.spec?.schema).get(name);
      if (name === collection.idField || name === this.spec?.soft || node === undefined) continue;
      const validate = schemas.compileValidator(node, "answer");
      if (validate(value)) continue;
      const invalid = findInvalidField(value, validate.errors!);
      const pointer = appendStep("", name) + invalid.pointer;
      return { ...invalid, pointer, field: toFieldName(pointer) };
    }
    return this.recordRules.findInvalid(fields, isWhole);
  }

  /** The fields that stay when a client replaces a record without sending them. */
  private keepFields(record: JsonObject, bodyFields: ReadonlyMap<string, unknown>): JsonObject {
    const required = this.schemas.listRequired(this.spec?.schema);
    const stays = ([name]: [string, unknown]) =>
      this.isSetByServer(name) || required.has(name) || (bodyFields.size > 0 && !bodyFields.has(name));
    return Object.fromEntries(Object.entries(record).filter(stays));
  }

  isSetByServer(field: string): boolean {
    if (field === this.collection.idField) return true;
    if (this.spec === undefined) return false;
    const { belongs_to, schema } = this.spec;
    const node = this.schemas.listPossibleFields(schema).get(field);
    return (
      Object.hasOwn(belongs_to, field) ||
      this.instants.includes(field) ||
      this.internalNames.includes(field) ||
      node === undefined ||
      this.schemas.has(node, "readOnly")
    );
  }

  /** The value of a field that a patch removes: null where a record can have that, else nothing. */
  getRemovedValue(field: string): null | undefined {
    const node = this.schemas.listPossibleFields(this.spec?.schema).get(field);
    return this.spec === undefined || this.schemas.listTypes(node).has("null") ? null : undefined;
  }

  remove(call: Call, record: object): void {
    this.rules.beforeRemove?.(call.world, record, this.toActor(call));
    removeWithDependents(call.world, this.collection, this.getId(record));
  }

  /** Sets fields without the collection's rules, and so without the events and audit entries of a state call. */
  set(world: Transaction, record: object, fields: JsonObject): object {
    return world.put(this.collection, { ...record, ...this.toStored(fields, world) });
  }

  private toActor({ principal, settings }: Call): StateActor {
    const { user_id, organization_id } = principal ?? {};
    return { user_id, organization_id, silent: false, settings };
  }
}

function toInstants(expected: unknown, world: WorldReader): unknown {
  if (Array.isArray(expected)) return expected.map((one) => toInstants(one, world));
  if (isJsonObject(expected)) return mapValues(expected, (one) => toInstants(one, world));
  return typeof expected === "string" ? world.toInstant(Date.parse(expected)) : expected;
}
