import type { TObject } from "typebox";
import type { Api } from "../../engine/contract/api.ts";
import { parseInstant } from "../../engine/contract/instant.ts";
import { mapCollections, PublicCollection, toIso } from "../../engine/contract/public-collection.ts";
import type { Resource } from "../../engine/contract/resource.ts";
import type { JsonSchema } from "../../engine/contract/schema.ts";
import { findNearest, foldCase } from "../../engine/contract/text.ts";
import { toValidator } from "../../engine/contract/validator.ts";
import { toTextMatcher } from "../../engine/faults/rule.ts";
import { getOrAdd } from "../../engine/maps.ts";
import { isPossibleInstant } from "../../engine/state/clock.ts";
import type { AnyCollection } from "../../engine/state/collection.ts";
import type { Transaction } from "../../engine/state/transaction.ts";
import { checkInput } from "../check-input.ts";
import { conflict, unknownName, unprocessable } from "../problem.ts";

/** A collection for the state calls of the control API, whose errors are problems. */
export class StateCollection extends PublicCollection {
  /** The fields that only the server sees. */
  private readonly internalSchema: TObject;
  /** The schema of the public form, with any event name. */
  private readonly lenientSchema: TObject;

  constructor(collection: AnyCollection, resource: Pick<Resource, "state" | "factories"> = {}) {
    super(collection, resource);
    const { properties, required = [] } = collection.schema as TObject & { required?: string[] };
    this.lenientSchema = acceptAnyEvent(this.recordSchema);
    this.internalSchema = {
      type: "object",
      properties: Object.fromEntries(this.internalNames.map((name) => [name, properties[name]!])),
      required: required.filter((name) => this.internalNames.includes(name)),
    } as unknown as TObject;
  }

  protected override createError(field: string, value: unknown, message: string): Error {
    return unprocessable(field, value, message);
  }

  protected override createErrorOfTakenId(id: unknown): Error {
    return conflict(
      "id-in-use",
      `There is a record "${id}" in ${this.collection.name} already`,
      "change it, choose another id, or omit the id to have one generated",
    );
  }

  protected override validate(schema: TObject, value: unknown): void {
    checkInput(schema, value);
  }

  /**
   * Requires instants to be whole milliseconds in the years 1 to 9999, and other numbers to be at most the largest safe
   * integer. In the body of a call they always are, in a file they need not be.
   * @throws Problem 422
   */
  requireNumbersInRange(record: object, world: Transaction): void {
    // Visits the instants, and changes none.
    this.convertInstants(record, (value) => {
      if (value === null || value === undefined) return value;
      if (typeof value !== "number" || !isPossibleInstant(value, world.origin))
        throw unprocessable(
          "body",
          value,
          `has ${JSON.stringify(value)}, which is not an instant of the years 1 to 9999`,
        );
      return value;
    });
    JSON.stringify(record, (_name, value: unknown) => {
      if (typeof value === "number" && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER))
        throw unprocessable("body", value, `has ${value}, which is too large`);
      return value;
    });
  }

  /** Compiles the validator of whole records, so that the first record does not wait for it. */
  prepare(): void {
    toValidator(this.lenientSchema);
  }

  /**
   * Checks a whole stored record: its public form, and the internal fields that this form leaves out.
   * @throws Problem 422
   */
  checkWhole(record: object, world: Transaction): void {
    checkInput(this.lenientSchema, this.toPublic(record, world));
    if (this.internalNames.length > 0)
      checkInput(
        this.internalSchema,
        this.convertInstants(record, (at) => toIso(at, world)),
      );
  }
}

/** Accepts any event name, since a stored webhook may name a user's own event that is no longer declared. */
export function acceptAnyEvent(schema: TObject): TObject {
  const text = JSON.stringify(schema);
  if (!text.includes('"x-events"')) return schema;
  return JSON.parse(text, (_, part) =>
    part?.["x-events"] === true ? { anyOf: [part, { type: "string" }] } : part,
  ) as TObject;
}

const collectionsByResources = new WeakMap<readonly Resource[], ReadonlyMap<string, StateCollection>>();

/** The collections of the state calls, by name; without internal ones. */
export function listStateCollections(resources: readonly Resource[]): ReadonlyMap<string, StateCollection> {
  return getOrAdd(collectionsByResources, resources, () =>
    mapCollections(resources, (one, resource) => new StateCollection(one, resource)),
  );
}

/** @throws Problem 404 */
export function requireStateCollection({ resources }: Pick<Api, "resources">, name: string): StateCollection {
  const collections = listStateCollections(resources);
  const collection = collections.get(name);
  if (collection === undefined) throw unknownName("collection", name, collections.keys());
  return collection;
}

/**
 * Creates a predicate for records; undefined without filters and words.
 * @param filters values of fields in the public form, compared as text: `true`, `null`, `42`, a timestamp
 * @param contains words that the record must contain, in upper or lower case
 * @throws Problem 422 for a field that the collection does not have, and for one whose values are lists or maps
 */
export function createMatcher(
  state: StateCollection,
  { filters, contains }: { filters: Readonly<Record<string, string>>; contains: string },
  tx: Transaction,
): ((record: object) => boolean) | undefined {
  const equalities = Object.entries(filters);
  const words = foldCase(contains).split(/\s+/).filter(Boolean);
  if (equalities.length === 0 && words.length === 0) return undefined;
  const properties = state.properties as Record<string, JsonSchema>;
  const fieldNames = Object.keys(properties);
  for (const [name, text] of equalities) {
    if (!fieldNames.includes(name)) {
      throw unprocessable(
        name,
        text,
        `is not a field of ${state.collection.name}, nor limit, offset or contains`,
        findNearest(name, [...fieldNames, "limit", "offset", "contains"]),
      );
    }
    if (text !== "null" && isListOrMap(properties[name]!)) {
      const filterable = fieldNames.filter((field) => !isListOrMap(properties[field]!));
      throw unprocessable(
        name,
        text,
        `is a list or a map, which cannot be filtered; use contains=, or filter by ${filterable.join(", ")}`,
      );
    }
  }
  return (record) => {
    const publicRecord = state.toPublic(record, tx);
    if (!equalities.every(([name, text]) => isShownAs(publicRecord[name], text))) return false;
    const recordText = words.length === 0 ? "" : foldCase(Object.values(publicRecord).map(toText).join("\n"));
    return words.every((word) => recordText.includes(word));
  };
}

/** Whether every value of a field is a list or a map, or null. */
function isListOrMap({ type, anyOf }: JsonSchema): boolean {
  if (anyOf !== undefined)
    return anyOf.every((part) => part.type === "null" || isListOrMap(part)) && anyOf.some(isListOrMap);
  const types = [type ?? "any"].flat().filter((name) => name !== "null");
  return types.length > 0 && types.every((name) => name === "array" || name === "object");
}

/** Clients write a boolean, a number or an instant in their own form, such as `True` in Python. */
function isShownAs(value: unknown, text: string): boolean {
  if (typeof value === "boolean" || typeof value === "number") return toTextMatcher(value)(text);
  const instant = parseInstant(text);
  return toText(value) === text || (instant !== undefined && parseInstant(value) === instant);
}

function toText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined ? "null" : JSON.stringify(value);
}
