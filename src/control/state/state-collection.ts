import Type, { type TObject, type TSchema } from "typebox";
import type { Api } from "../../engine/contract/api.ts";
import type { Factory } from "../../engine/contract/factory.ts";
import { parseInstant } from "../../engine/contract/instant.ts";
import { instantConverter } from "../../engine/contract/instant-fields.ts";
import { isInternal, withoutInternal } from "../../engine/contract/public-view.ts";
import type { Resource, StateRules } from "../../engine/contract/resource.ts";
import { nearest } from "../../engine/contract/text.ts";
import { toValidator } from "../../engine/contract/validator.ts";
import { FIRST_INSTANT, LAST_INSTANT } from "../../engine/state/clock.ts";
import type { AnyCollection } from "../../engine/state/collection.ts";
import type { Transaction, WorldReader } from "../../engine/state/transaction.ts";
import { checkInput } from "../check-input.ts";
import { unknownName, unprocessable } from "../problem.ts";

type Fields = Record<string, unknown>;

/** A collection as the state calls use it: the factory of its records, its rules, and its public form. */
export class StateCollection {
  readonly collection: AnyCollection;
  // biome-ignore lint/suspicious/noExplicitAny: rules are typed where they are declared
  readonly rules: StateRules<any>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly factory: Factory<any>;
  readonly properties: Readonly<Record<string, TSchema>>;
  private readonly convert: ReturnType<typeof instantConverter>;
  private readonly internal: readonly string[];
  private readonly whole: TObject;
  /** The fields that only the server sees. */
  private readonly own: TObject;
  private readonly someFields: TObject;

  constructor(
    collection: AnyCollection,
    { state = {}, factories = {} }: Pick<Resource, "state" | "factories"> = {},
  ) {
    this.collection = collection;
    this.rules = state[collection.name] ?? {};
    // All collections of the state calls have one; records.test.ts checks it.
    this.factory = factories[collection.name]!;
    this.convert = instantConverter(collection.schema);
    const { properties } = collection.schema as TObject;
    this.internal = Object.keys(properties).filter((name) => isInternal(properties[name]!));
    this.whole = withoutInternal(collection.schema);
    this.own = Type.Object(Object.fromEntries(this.internal.map((name) => [name, properties[name]!])));
    this.properties = this.whole.properties;
    // No field is required: the server completes the record.
    const { required: _required, $id: _id, ...some } = this.whole as TObject & { $id?: string };
    this.someFields = { ...some, additionalProperties: false } as unknown as TObject;
  }

  /** Converts instants to ISO 8601 texts, and leaves out internal fields. */
  toPublic(record: object, world: WorldReader): Fields {
    const shown = this.withoutOwn(this.rules.toPublic?.(record, world) ?? record);
    return this.convert(shown, (value) => toIso(value, world)) as Fields;
  }

  private withoutOwn(record: object): object {
    if (this.internal.length === 0) return record;
    return Object.fromEntries(Object.entries(record).filter(([name]) => !this.internal.includes(name)));
  }

  /** For fields that `check` accepted. */
  toStored(fields: Fields, world: WorldReader): Fields {
    const given = this.rules.fromPublic ? (this.rules.fromPublic(fields, world) as Fields) : fields;
    return this.convert(given, (value) => {
      if (typeof value !== "string") return value;
      const instant = parseInstant(value);
      if (instant === undefined)
        throw unprocessable(findName(fields, value), value, "must be an ISO 8601 timestamp");
      return world.relative(instant);
    }) as Fields;
  }

  /** @throws Problem 422 naming the first field that is unknown or does not fit */
  check(fields: unknown): void {
    checkInput(this.someFields, fields);
  }

  /**
   * A stored instant is a whole number, and within the years of a timestamp; no other number is too large to count with.
   * @throws Problem 422
   */
  requireStoredNumbers(record: object, world: Transaction): void {
    this.convert(record, (value) => {
      if (value === null || value === undefined) return value;
      const at = typeof value === "number" ? world.absolute(value) : Number.NaN;
      if (!Number.isSafeInteger(at) || at < FIRST_INSTANT || at > LAST_INSTANT)
        throw unprocessable(
          "body",
          value,
          `has ${JSON.stringify(value)}, which is not an instant of the years 1 to 9999`,
        );
      return value;
    });
    JSON.stringify(record, (name, value: unknown) => {
      if (typeof value === "number" && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER))
        throw unprocessable(name, value, "is too large");
      return value;
    });
  }

  /** Compiles the validator of whole records, so that the first record does not wait for it. */
  prepare(): void {
    toValidator(this.whole);
  }

  /** The same for a whole stored record, in its public and its stored form. */
  checkWhole(record: object, world: Transaction): void {
    checkInput(this.whole, this.toPublic(record, world));
    if (this.internal.length > 0)
      checkInput(
        this.own,
        this.convert(record, (at) => toIso(at, world)),
      );
  }
}

function toIso(value: unknown, world: WorldReader): unknown {
  return typeof value === "number" ? world.iso(value) : value;
}

function findName(fields: Fields, value: unknown): string {
  return Object.keys(fields).find((name) => fields[name] === value) ?? "body";
}

const byResources = new WeakMap<readonly Resource[], ReadonlyMap<string, StateCollection>>();

/** The collections of the state calls, by name; without internal ones. */
export function stateCollections(resources: readonly Resource[]): ReadonlyMap<string, StateCollection> {
  let found = byResources.get(resources);
  if (found === undefined) {
    found = new Map(
      resources.flatMap((resource) =>
        resource.collections
          .filter(({ internal }) => internal !== true)
          .map((collection) => [collection.name, new StateCollection(collection, resource)] as const),
      ),
    );
    byResources.set(resources, found);
  }
  return found;
}

/** @throws Problem 404 */
export function stateCollection({ resources }: Pick<Api, "resources">, name: string): StateCollection {
  const known = stateCollections(resources);
  const found = known.get(name);
  if (found === undefined) throw unknownName("collection", name, known.keys());
  return found;
}

/**
 * Equality filters on fields of the public form, as texts: `true`, `null`, `42` and timestamps are compared by how they
 * are written. Undefined without filters.
 * @throws Problem 422 for a field that the collection does not have
 */
export function matcherFor(
  state: StateCollection,
  filters: Readonly<Record<string, string>>,
  tx: Transaction,
): ((record: object) => boolean) | undefined {
  const wanted = Object.entries(filters);
  if (wanted.length === 0) return undefined;
  const known = Object.keys(state.properties);
  for (const [name, text] of wanted) {
    if (!known.includes(name)) {
      throw unprocessable(
        name,
        text,
        `is not a field of ${state.collection.name}, nor limit or offset`,
        nearest(name, [...known, "limit", "offset"]),
      );
    }
  }
  return (record) => {
    const shown = state.toPublic(record, tx);
    return wanted.every(([name, text]) => toText(shown[name]) === text);
  };
}

function toText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined ? "null" : JSON.stringify(value);
}
