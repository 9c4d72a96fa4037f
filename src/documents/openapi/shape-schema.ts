import { generateSync, type JsonSchema } from "json-schema-faker";
import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { hasUselessEnum } from "./check-schema.ts";
import { convertExclusiveBounds, isPattern, type Schemas, toRegExp } from "./schemas.ts";

/** Optional properties are shown above this depth; from it on, only required ones. */
const MAX_DEPTH = 4;
/** Optional objects and lists are left out from this depth on. */
const MAX_NESTED_DEPTH = 2;
/** Maximum number of fields in one value; wide schemas that refer to each other would otherwise make answers of megabytes. */
const MAX_FIELDS = 400;
/** At this depth everything ends, since required properties that contain each other never would. */
const MAX_REQUIRED_DEPTH = 12;
const MAX_NUMBER = 2 ** 31;
const SCALAR_KEYWORDS = [
  "format",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
];

export interface ShapeOptions {
  /** Whether the document's examples and defaults are used. */
  examples?: boolean;
  /** Whether required properties alone are shown. */
  requiredOnly?: boolean;
  /** The position of the chosen alternative among the usable ones; beyond the last, it counts from the first again. */
  alternative?: number;
}

/**
 * The schema of one plausible value: alternatives are chosen, references are replaced, circles end, and the number of
 * fields is bounded. A generator then only invents values.
 */
export function shapeSchema(node: unknown, schemas: Schemas, options: ShapeOptions): JsonObject {
  return new SchemaShaper(schemas, options).shape(node, { depth: 0, ancestors: [] });
}

interface SchemaContext {
  depth: number;
  /** The schemas that contain this one, compared by identity: `mergeKeywords` returns the same object for a schema each time. */
  ancestors: readonly JsonObject[];
}

interface ObjectParts {
  properties: ReadonlyMap<string, unknown>;
  required: ReadonlySet<string>;
  /** The shapes of properties that have one value only. */
  fixed: ReadonlyMap<string, unknown>;
}

class SchemaShaper {
  private readonly schemas: Schemas;
  private readonly options: ShapeOptions;
  private fieldsLeft = MAX_FIELDS;

  constructor(schemas: Schemas, options: ShapeOptions) {
    this.schemas = schemas;
    this.options = options;
  }

  shape(node: unknown, { depth, ancestors }: SchemaContext): JsonObject {
    const { schemas } = this;
    const keywords = schemas.mergeKeywords(node);
    const ownValue = this.findDeclaredShape(keywords);
    if (ownValue !== undefined) return ownValue;
    const types = schemas.listTypes(node);
    if (depth > MAX_REQUIRED_DEPTH) return types.has("null") ? { const: null } : {};
    // For the schemas inside this one.
    const inside = { depth, ancestors: [...ancestors, keywords] };
    const branch = this.chooseAlternative(keywords, inside);
    const isAncestor = (one: JsonObject) => ancestors.some((ancestor) => isSame(ancestor, one));
    // A nullable schema that contains itself ends as null.
    if (types.has("null") && isAncestor(branch === undefined ? keywords : schemas.mergeKeywords(branch.node)))
      return { const: null };
    if (branch !== undefined) inside.ancestors.push(schemas.mergeKeywords(branch.node));
    const properties = new Map([...(branch?.properties ?? []), ...schemas.listProperties(node)]);
    if (properties.size > 0) {
      const required = new Set([...schemas.listRequired(node), ...(branch?.required ?? [])]);
      for (const name of required)
        if (!properties.has(name)) properties.set(name, findSchemaOfKey(name, keywords));
      const { maxProperties = Number.POSITIVE_INFINITY } = keywords as { maxProperties?: number };
      const optional = [...properties.keys()].filter((name) => !required.has(name));
      for (const name of optional.slice(Math.max(0, maxProperties - required.size))) properties.delete(name);
      return this.shapeObject({ properties, required, fixed: branch?.fixed ?? new Map() }, inside);
    }
    if (branch !== undefined)
      return this.shape(branch.node, { depth: depth + 1, ancestors: inside.ancestors });
    if (types.has("array")) return this.shapeList(keywords, inside);
    if (types.has("object")) return this.shapeMap(keywords, inside);
    const [type] = [...types].filter((one) => one !== "null");
    // A schema without a type gets an object: FastAPI writes such a schema for an answer that is not described.
    if (type === undefined) return { const: types.has("null") ? null : {} };
    const scalar: JsonObject = { type };
    for (const key of SCALAR_KEYWORDS) if (keywords[key] !== undefined) scalar[key] = keywords[key];
    convertExclusiveBounds(scalar);
    if (scalar["pattern"] !== undefined && !isPattern(scalar["pattern"])) delete scalar["pattern"];
    limitBounds(scalar);
    return scalar;
  }

  /** The shape of the value, or of the enum, that the document itself declares. */
  private findDeclaredShape(keywords: JsonObject): JsonObject | undefined {
    const { const: constant, default: defaultValue, example, examples, enum: values } = keywords;
    const [first] = Array.isArray(examples) ? examples : [];
    const candidates = this.options.examples ? [constant, example, first, defaultValue] : [constant];
    const value = candidates.find((one) => one !== undefined && one !== null);
    if (value !== undefined) return { const: value };
    if (!Array.isArray(values) || hasUselessEnum(keywords)) return undefined;
    return { enum: values.filter((one) => one !== null || values.length === 1) };
  }

  /** The chosen alternative of a schema: never null, and if possible none that contains this schema. */
  private chooseAlternative(keywords: JsonObject, { ancestors }: SchemaContext) {
    const { schemas } = this;
    const key = Array.isArray(keywords["oneOf"]) ? "oneOf" : "anyOf";
    const branches = Array.isArray(keywords[key]) ? (keywords[key] as unknown[]) : [];
    const usable = branches.filter((branch) => !isNull(schemas.listTypes(branch)));
    const outer = usable.filter((branch) => !ancestors.includes(schemas.mergeKeywords(branch)));
    const candidates = outer.length > 0 ? outer : usable;
    const node = candidates[(this.options.alternative ?? 0) % candidates.length];
    if (node === undefined) return undefined;
    const selector = schemas.findDiscriminatorValue(keywords, key, node);
    const fixed = new Map<string, unknown>();
    if (selector !== undefined) fixed.set(selector.property, { const: selector.value });
    return { node, properties: schemas.listProperties(node), required: schemas.listRequired(node), fixed };
  }

  private shapeObject(
    { properties, required, fixed }: ObjectParts,
    { depth, ancestors }: SchemaContext,
  ): JsonObject {
    const shaped: JsonObject = {};
    for (const [name, schema] of properties) {
      if (this.schemas.has(schema, "writeOnly")) continue;
      if (!required.has(name) && !this.isWorthShowing(schema, depth, ancestors)) continue;
      this.fieldsLeft -= 1;
      shaped[name] = fixed.get(name) ?? this.shape(schema, { depth: depth + 1, ancestors });
    }
    return { type: "object", properties: shaped, required: Object.keys(shaped), additionalProperties: false };
  }

  private isWorthShowing(schema: unknown, depth: number, ancestors: readonly JsonObject[]): boolean {
    if (this.options.requiredOnly || this.fieldsLeft <= 0 || depth >= MAX_DEPTH) return false;
    const { schemas } = this;
    const keywords = schemas.mergeKeywords(schema);
    if (ancestors.includes(keywords) || ancestors.includes(schemas.mergeKeywords(keywords["items"])))
      return false;
    const isNested =
      schemas.listProperties(schema).size > 0 ||
      schemas.listTypes(schema).has("array") ||
      keywords["anyOf"] !== undefined ||
      keywords["oneOf"] !== undefined;
    return !isNested || depth < MAX_NESTED_DEPTH;
  }

  private shapeList(
    { items, prefixItems, minItems, maxItems, uniqueItems }: JsonObject,
    { depth, ancestors }: SchemaContext,
  ): JsonObject {
    const least = typeof minItems === "number" ? minItems : 0;
    const most = typeof maxItems === "number" ? maxItems : Number.POSITIVE_INFINITY;
    if (Array.isArray(prefixItems)) {
      const length = Math.min(most, Math.max(least, prefixItems.length));
      const nodes = Array.from({ length }, (_, at) => (at < prefixItems.length ? prefixItems[at] : items));
      const shapes = nodes.map((one) => this.shape(one, { depth: depth + 1, ancestors }));
      return { type: "array", prefixItems: shapes, minItems: shapes.length, maxItems: shapes.length };
    }
    if (most === 0) return { const: [] };
    const mustEnd =
      this.fieldsLeft <= 0 || depth > MAX_DEPTH || ancestors.includes(this.schemas.mergeKeywords(items));
    if (mustEnd && least === 0) return { const: [] };
    const shape = this.shape(items, { depth: depth + 1, ancestors });
    const mayBeEqual = shape["const"] !== undefined || shape["type"] === "boolean";
    const usualCount = uniqueItems === true && mayBeEqual ? 1 : 2;
    const count = mustEnd ? least : Math.min(most, Math.max(least, usualCount));
    return {
      type: "array",
      items: shape,
      minItems: count,
      maxItems: count,
      ...(uniqueItems === true && { uniqueItems }),
    };
  }

  /** Gives a map its required keys, and invented ones up to `minProperties` that fit its patterns. */
  private shapeMap(keywords: JsonObject, { depth, ancestors }: SchemaContext): JsonObject {
    const { patternProperties, propertyNames, minProperties, required } = keywords;
    const least = typeof minProperties === "number" ? minProperties : 0;
    const names = new Set(Array.isArray(required) ? (required as string[]) : []);
    const { pattern: namePattern, enum: allowedNames } = this.schemas.mergeKeywords(propertyNames);
    const patterns = [...Object.keys(patternProperties ?? {}), namePattern].filter(isPattern) as string[];
    for (const name of Array.isArray(allowedNames) ? (allowedNames as string[]) : [])
      if (names.size < least) names.add(name);
    for (let seed = 1; names.size < least && seed <= least + MAX_NAME_TRIES; seed++) {
      const name = patterns.length === 0 ? `key${seed}` : toName(patterns[seed % patterns.length]!, seed);
      if (name !== undefined) names.add(name);
    }
    const shapeValue = (name: string) =>
      this.shape(findSchemaOfKey(name, keywords), { depth: depth + 1, ancestors });
    const properties = Object.fromEntries([...names].map((name) => [name, shapeValue(name)]));
    return { type: "object", properties, required: [...names] };
  }
}

/** The schema of a key that `properties` lacks; any text if nothing describes it. */
export function findSchemaOfKey(
  name: string,
  { patternProperties, additionalProperties }: JsonObject,
): JsonObject {
  const byPattern = Object.entries((patternProperties ?? {}) as JsonObject);
  const match = byPattern.find(([pattern]) => isPattern(pattern) && toRegExp(pattern).test(name));
  const schema = match?.[1] ?? additionalProperties;
  return isJsonObject(schema) ? schema : { type: "string" };
}

/** Bounds beyond MAX_NUMBER only describe a format such as int64, and numbers near them lose digits. */
function limitBounds(scalar: JsonObject): void {
  const read = (key: string, otherwise: number) => (scalar[key] as number | undefined) ?? otherwise;
  const lower = Math.max(read("minimum", -Infinity), read("exclusiveMinimum", -Infinity));
  const upper = Math.min(read("maximum", Infinity), read("exclusiveMaximum", Infinity));
  for (const key of ["maximum", "exclusiveMaximum"])
    if (read(key, 0) > MAX_NUMBER && lower < MAX_NUMBER) scalar[key] = MAX_NUMBER;
  for (const key of ["minimum", "exclusiveMinimum"])
    if (read(key, 0) < -MAX_NUMBER && upper > -MAX_NUMBER) scalar[key] = upper > 0 ? 0 : -MAX_NUMBER;
  // For a missing bound, the generator takes -1000 or 1000, even if the given bound is outside of that.
  const range = Math.max(1000, 2 * read("multipleOf", 0));
  if (lower >= 1000 && upper === Infinity) scalar["maximum"] = lower + range;
  if (upper <= -1000 && lower === -Infinity) scalar["minimum"] = upper - range;
}

const MAX_NAME_TRIES = 50;

/** A name that matches a pattern, such as `x-abcd` for `^x-`; undefined if the generator makes none. */
function toName(pattern: string, seed: number): string | undefined {
  // Without these characters, a pattern still fits if letters follow.
  const isPrefix = !/[$|]/.test(pattern);
  const schema = { type: "string", pattern: isPrefix ? `${pattern}[a-z]{4}` : pattern };
  const name = String(generateSync(schema as JsonSchema, { seed }));
  return toRegExp(pattern).test(name) ? name : undefined;
}

/** Whether two schemas are the same, or one is the other with `nullable`: that is a copy with the same object of properties. */
const isSame = (one: JsonObject, other: JsonObject) =>
  one === other || (one["properties"] !== undefined && one["properties"] === other["properties"]);

const isNull = (types: ReadonlySet<string>) => types.size === 1 && types.has("null");
