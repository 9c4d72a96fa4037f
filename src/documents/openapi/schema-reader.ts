import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { getOrAdd, isEqual } from "../../engine/maps.ts";
import { listOwnTypes } from "./check-schema.ts";
import type { References } from "./references.ts";

/** Reads what the keywords of a schema say together, following references and `allOf`; each schema is read once. */
export class SchemaReader {
  protected readonly references: References;
  /** In OpenAPI 3.0 a reference hides what is beside it. */
  protected readonly hidesSiblings: boolean;
  private readonly cache = {
    types: new Map<JsonObject, Set<string>>(),
    properties: new Map<JsonObject, ReadonlyMap<string, unknown>>(),
    fields: new Map<JsonObject, ReadonlyMap<string, unknown>>(),
    required: new Map<JsonObject, Set<string>>(),
    merged: new Map<JsonObject, JsonObject>(),
  };

  constructor(references: References, version: string) {
    this.references = references;
    this.hidesSiblings = version.startsWith("3.0");
  }

  /** The types that a value may have, including those of its alternatives; empty if any type is allowed. */
  listTypes(node: unknown): ReadonlySet<string> {
    return readOnce(this.cache.types, node, (schema) => {
      const types = new Set<string>();
      for (const part of this.listParts(schema, ["allOf", "anyOf", "oneOf"])) {
        for (const type of listOwnTypes(part)) types.add(type);
        if (part["nullable"] === true) types.add("null");
      }
      // As in `{ nullable: true }` and `anyOf: [{}, { type: string }]`, which take any value.
      const isOnlyNull = types.size === 1 && types.has("null");
      const takesAny = isOnlyNull || this.listAlternatives(schema).some((one) => this.isUnrestricted(one));
      return takesAny && this.mergeKeywords(schema)["type"] === undefined ? new Set<string>() : types;
    });
  }

  /** Whether a value other than null may have a type of both schemas; lists, also by the types of their items. */
  doTypesOverlap(one: unknown, other: unknown, seen: ReadonlySet<unknown> = new Set()): boolean {
    const [types, otherTypes] = [this.listTypes(one), this.listTypes(other)];
    if (types.size === 0 || otherTypes.size === 0) return true;
    const shared = [...types].filter((type) =>
      NUMBERS.has(type) ? [...NUMBERS].some((number) => otherTypes.has(number)) : otherTypes.has(type),
    );
    const others = shared.filter((type) => type !== "null");
    // A list that contains lists like itself overlaps: both may be empty.
    if (others.join() !== "array" || seen.has(one)) return others.length > 0;
    const [items, otherItems] = [one, other].map((node) => this.mergeKeywords(node)["items"]);
    return this.doTypesOverlap(items, otherItems, new Set([...seen, one]));
  }

  /** The properties of an object by name, with those of `allOf`, without those of alternatives. */
  listProperties(node: unknown): ReadonlyMap<string, unknown> {
    return readOnce(this.cache.properties, node, (schema) => {
      const byName = new Map<string, unknown>();
      for (const { properties } of this.listParts(schema, ["allOf"]))
        if (isJsonObject(properties)) for (const name in properties) byName.set(name, properties[name]);
      return byName;
    });
  }

  /** The properties, and those of the alternatives; a property in which alternatives differ takes any value. */
  listPossibleFields(node: unknown): ReadonlyMap<string, unknown> {
    return readOnce(this.cache.fields, node, (schema) => this.collectFields(schema, new Set()));
  }

  /** @param seen the schemas whose fields are collected already: an alternative may lead back to its schema */
  private collectFields(schema: unknown, seen: Set<unknown>): Map<string, unknown> {
    seen.add(schema);
    const properties = this.listProperties(schema);
    const fields = new Map(properties);
    for (const branch of this.listAlternatives(schema)) {
      if (seen.has(branch)) continue;
      for (const [name, one] of this.collectFields(branch, seen)) {
        const differs = fields.has(name) && !isEqual(fields.get(name), one);
        if (!properties.has(name)) fields.set(name, differs ? {} : one);
      }
    }
    return fields;
  }

  listAlternatives(node: unknown): readonly unknown[] {
    const { oneOf, anyOf } = this.mergeKeywords(node);
    return [oneOf, anyOf].flatMap((branches) => (Array.isArray(branches) ? branches : []));
  }

  /** The names that an object must have. */
  listRequired(node: unknown): ReadonlySet<string> {
    return readOnce(this.cache.required, node, (schema) => {
      const parts = this.listParts(schema, ["allOf"]);
      return new Set(parts.flatMap(({ required }) => (required ?? []) as string[]));
    });
  }

  /**
   * The keywords of a schema and of its parts, in one schema without references and `allOf`. Of a keyword in several parts
   * the last counts, also of `properties` and `required`, which `listProperties` and `listRequired` combine.
   */
  mergeKeywords(node: unknown): JsonObject {
    return readOnce(this.cache.merged, node, (schema) => {
      if (isLeaf(schema, ["allOf"])) return schema;
      const parts = this.listParts(schema, ["allOf"]).filter(hasKeywords);
      // The same object for each reference to it, so that circles are seen.
      if (parts.length === 1 && parts[0]!["allOf"] === undefined) return parts[0]!;
      const { $ref: _reference, allOf: _parts, ...merged } = Object.assign({}, ...parts) as JsonObject;
      return merged;
    });
  }

  private isUnrestricted(node: unknown): boolean {
    return Object.keys(this.mergeKeywords(node)).every((key) => key === "title" || key === "description");
  }

  /** Whether a keyword such as `readOnly` is true. */
  has(node: unknown, keyword: string): boolean {
    return this.mergeKeywords(node)[keyword] === true;
  }

  protected resolve(node: JsonObject): unknown {
    return typeof node["$ref"] === "string" ? this.references.find(node["$ref"])?.node : undefined;
  }

  /** A schema with those that it refers to and consists of; the schema itself comes last, so that its keywords win. */
  private listParts(schema: JsonObject, keys: readonly string[]): JsonObject[] {
    if (isLeaf(schema, keys)) return [schema];
    const seen = new Set<JsonObject>();
    const parts: JsonObject[] = [];
    const add = (node: unknown): void => {
      if (!isJsonObject(node) || seen.has(node)) return;
      seen.add(node);
      const target = this.resolve(node);
      add(target);
      for (const key of keys) if (Array.isArray(node[key])) node[key].forEach(add);
      // A reference of OpenAPI 3.0 hides the rest, but `nullable` is often meant.
      if (target === undefined || !this.hidesSiblings) parts.push(node);
      else if (node["nullable"] === true) parts.push({ nullable: true });
    };
    add(schema);
    return parts;
  }
}

const NUMBERS: ReadonlySet<string> = new Set(["integer", "number"]);
const EMPTY_SCHEMA: JsonObject = {};

const isLeaf = (schema: JsonObject, keys: readonly string[]) =>
  schema["$ref"] === undefined && keys.every((key) => schema[key] === undefined);

const hasKeywords = (part: JsonObject) => Object.keys(part).some((key) => key !== "$ref" && key !== "allOf");

function readOnce<T>(cache: Map<JsonObject, T>, node: unknown, read: (schema: JsonObject) => T): T {
  const schema = isJsonObject(node) ? node : EMPTY_SCHEMA;
  return getOrAdd(cache, schema, () => read(schema));
}
