import isEqual from "fast-deep-equal";
import type { TObject, TSchema } from "typebox";
import type { AnyCollection } from "../state/collection.ts";
import type { WorldReader } from "../state/transaction.ts";
import { invalidInput } from "./errors.ts";
import type { Factory } from "./factory.ts";
import { parseInstant } from "./instant.ts";
import { findInvalidField } from "./invalid-field.ts";
import { convertInstants, isInternal, removeInternalFields } from "./public-view.ts";
import type { Resource, StateRules } from "./resource.ts";
import { isJsonObject } from "./schema.ts";
import { toValidator } from "./validator.ts";

type Fields = Record<string, unknown>;

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
    this.partialSchema = { ...others, additionalProperties: false } as unknown as TObject;
  }

  toPublic(record: object, world: Pick<WorldReader, "toIso">): Fields {
    const publicRecord = this.rules.toPublic?.(record, world as WorldReader) ?? record;
    return this.convert(this.pickPublicFields(publicRecord), (value) => toIso(value, world)) as Fields;
  }

  protected convert(value: unknown, convertInstant: (instant: unknown) => unknown): unknown {
    return convertInstants(this.collection.schema, value, convertInstant);
  }

  private pickPublicFields(record: object): object {
    if (this.internalNames.length === 0) return record;
    return Object.fromEntries(Object.entries(record).filter(([name]) => !this.internalNames.includes(name)));
  }

  /** Converts fields that `checkFields` accepted to their stored form. */
  toStored(fields: Fields, world: WorldReader): Fields {
    const stored = this.rules.fromPublic ? (this.rules.fromPublic(fields, world) as Fields) : fields;
    return this.convert(stored, (value) => {
      if (typeof value !== "string") return value;
      const instant = parseInstant(value);
      if (instant === undefined)
        throw this.createError(findFieldName(fields, value), value, "must be an ISO 8601 timestamp");
      return world.toInstant(instant);
    }) as Fields;
  }

  /** @throws what `createError` returns, for the first field that is unknown or does not fit */
  checkFields(fields: unknown): void {
    this.validate(this.partialSchema, fields);
  }

  /** @throws the same, for a whole record in its public form */
  checkRecord(record: object): void {
    this.validate(this.recordSchema, record);
  }

  /**
   * Refuses given values that the changed record does not have, since they contradict another field. Values as before the
   * change are accepted: a client may send a whole record back. Maps such as `spent` keep entries not given.
   * @throws what `createError` returns
   */
  requireGivenValuesKept(given: Fields, changed: Fields, world: WorldReader, before?: Fields): void {
    const givenValues = this.convert(given, (value) =>
      typeof value === "string" ? world.toIso(world.toInstant(parseInstant(value)!)) : value,
    ) as Fields;
    for (const [name, value] of Object.entries(givenValues)) {
      const actual = changed[name] ?? null;
      if (isWithin(value, actual) || (before !== undefined && isEqual(value, before[name]))) continue;
      const actualText = JSON.stringify(actual).slice(0, 80);
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

  private validate(schema: TObject, value: unknown): void {
    const validate = toValidator(schema);
    if (validate(value)) return;
    const { field, value: found, message } = findInvalidField(value, validate.errors!);
    throw this.createError(field, found, message);
  }
}

export function toIso(value: unknown, world: Pick<WorldReader, "toIso">): unknown {
  return typeof value === "number" ? world.toIso(value) : value;
}

function findFieldName(fields: Fields, value: unknown): string {
  return Object.keys(fields).find((name) => fields[name] === value) ?? "body";
}

function isWithin(given: unknown, actual: unknown): boolean {
  // Amounts are stored in millionths.
  if (typeof given === "number" && typeof actual === "number") return Math.abs(given - actual) < 1e-6;
  if (!isJsonObject(given) || !isJsonObject(actual)) return isEqual(given, actual);
  return Object.entries(given).every(([name, value]) => isWithin(value, actual[name]));
}
