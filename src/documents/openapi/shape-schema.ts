import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { isEmptyEnum } from "./check-schema.ts";
import { isPattern, type Schemas } from "./schemas.ts";

/** Optional properties are shown down to this depth; below it, only required ones. */
const MAX_DEPTH = 4;
/** Optional objects and lists are left out from this depth on. */
const MAX_NESTED_DEPTH = 2;
/** Most fields of one value; wide schemas that refer to each other would otherwise make answers of megabytes. */
const MAX_FIELDS = 400;
/** A circle of required properties has no end. */
const MAX_REQUIRED_DEPTH = 12;
const LARGE = 2 ** 31;
const SCALAR = [
  ...[
    "format",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
  ],
  ...["pattern"],
];

/**
 * The schema of one plausible value: alternatives are chosen, references are replaced, circles end, and the number of
 * fields is bounded. A generator then only invents values.
 */
export function shapeSchema(
  node: unknown,
  schemas: Schemas,
  { examples }: { examples: boolean },
): JsonObject {
  return new Shaping(schemas, examples).shape(node, { depth: 0, above: [] });
}

interface SchemaContext {
  depth: number;
  /** The schemas that contain this one. */
  above: readonly unknown[];
}

class Shaping {
  private readonly schemas: Schemas;
  private readonly examples: boolean;
  private fields = MAX_FIELDS;

  constructor(schemas: Schemas, examples: boolean) {
    this.schemas = schemas;
    this.examples = examples;
  }

  shape(node: unknown, { depth, above }: SchemaContext): JsonObject {
    const { schemas } = this;
    const plain = schemas.mergeKeywords(node);
    const declared = this.findDeclared(plain);
    if (declared !== undefined) return declared;
    const types = schemas.listTypes(node);
    if (depth > MAX_REQUIRED_DEPTH) return types.has("null") ? { const: null } : {};
    const inside = { depth, above: [...above, plain] };
    const branch = this.choose(plain, inside);
    if (branch !== undefined) inside.above.push(schemas.mergeKeywords(branch.node));
    const properties = new Map([...(branch?.properties ?? []), ...schemas.listProperties(node)]);
    if (properties.size > 0) {
      const required = new Set([...schemas.listRequired(node), ...(branch?.required ?? [])]);
      return this.shapeObject({ properties, required, fixed: branch?.fixed ?? new Map() }, inside);
    }
    if (branch !== undefined) return this.shape(branch.node, { depth: depth + 1, above: inside.above });
    if (types.has("array")) return this.shapeList(plain, inside);
    if (types.has("object")) return this.shapeMap(plain, inside);
    const [type] = [...types].filter((one) => one !== "null");
    if (type === undefined) return types.has("null") ? { const: null } : {};
    const scalar: JsonObject = { type };
    for (const key of SCALAR) if (plain[key] !== undefined) scalar[key] = plain[key];
    if (scalar["pattern"] !== undefined && !isPattern(scalar["pattern"])) delete scalar["pattern"];
    // Numbers beyond this are bounds of a format, and lose digits.
    for (const key of ["maximum", "exclusiveMaximum"])
      if ((scalar[key] as number) > LARGE) scalar[key] = LARGE;
    for (const key of ["minimum", "exclusiveMinimum"]) if ((scalar[key] as number) < -LARGE) scalar[key] = 0;
    return scalar;
  }

  /** The value that the document itself declares. */
  private findDeclared(plain: JsonObject): JsonObject | undefined {
    const { const: only, default: preset, example, examples, enum: values } = plain;
    const [first] = Array.isArray(examples) ? examples : [];
    const candidates = this.examples ? [only, example, first, preset] : [only];
    const value = candidates.find((one) => one !== undefined && one !== null);
    if (value !== undefined) return { const: value };
    if (!Array.isArray(values) || isEmptyEnum(plain)) return undefined;
    return { enum: values.filter((one) => one !== null || values.length === 1) };
  }

  /** The first alternative that is neither null nor within itself. */
  private choose(plain: JsonObject, { above }: SchemaContext) {
    const { schemas } = this;
    const key = Array.isArray(plain["oneOf"]) ? "oneOf" : "anyOf";
    const branches = Array.isArray(plain[key]) ? (plain[key] as unknown[]) : [];
    const usable = branches.filter((branch) => !isNull(schemas.listTypes(branch)));
    const node = usable.find((branch) => !above.includes(schemas.mergeKeywords(branch))) ?? usable[0];
    if (node === undefined) return undefined;
    const names = schemas.nameChoice(plain, key, node);
    const fixed = new Map<string, unknown>();
    if (names !== undefined) fixed.set(names.property, { const: names.value });
    return { node, properties: schemas.listProperties(node), required: schemas.listRequired(node), fixed };
  }

  private shapeObject(
    {
      properties,
      required,
      fixed,
    }: {
      properties: ReadonlyMap<string, unknown>;
      required: ReadonlySet<string>;
      fixed: ReadonlyMap<string, unknown>;
    },
    { depth, above }: SchemaContext,
  ): JsonObject {
    const shaped: JsonObject = {};
    for (const [name, schema] of properties) {
      if (this.schemas.has(schema, "writeOnly")) continue;
      if (!required.has(name) && !this.isWorthShowing(schema, depth, above)) continue;
      this.fields -= 1;
      shaped[name] = fixed.get(name) ?? this.shape(schema, { depth: depth + 1, above });
    }
    for (const name of required) if (!properties.has(name)) shaped[name] = fixed.get(name) ?? {};
    return { type: "object", properties: shaped, required: Object.keys(shaped), additionalProperties: false };
  }

  private isWorthShowing(schema: unknown, depth: number, above: readonly unknown[]): boolean {
    if (this.fields <= 0 || depth >= MAX_DEPTH) return false;
    const { schemas } = this;
    const plain = schemas.mergeKeywords(schema);
    if (above.includes(plain) || above.includes(schemas.mergeKeywords(plain["items"]))) return false;
    const isNested =
      schemas.listProperties(schema).size > 0 ||
      schemas.listTypes(schema).has("array") ||
      plain["anyOf"] !== undefined ||
      plain["oneOf"] !== undefined;
    return !isNested || depth < MAX_NESTED_DEPTH;
  }

  private shapeList(
    { items, prefixItems, minItems, maxItems, uniqueItems }: JsonObject,
    { depth, above }: SchemaContext,
  ): JsonObject {
    const least = typeof minItems === "number" ? minItems : 0;
    const most = typeof maxItems === "number" ? maxItems : Number.POSITIVE_INFINITY;
    if (Array.isArray(prefixItems)) {
      const shapes = prefixItems.map((one) => this.shape(one, { depth: depth + 1, above }));
      return { type: "array", prefixItems: shapes, minItems: shapes.length, maxItems: shapes.length };
    }
    if (most === 0) return { const: [] };
    const ends = this.fields <= 0 || depth > MAX_DEPTH || above.includes(this.schemas.mergeKeywords(items));
    if (ends && least === 0) return { const: [] };
    const shape = this.shape(items, { depth: depth + 1, above });
    const isFixed = uniqueItems === true && (shape["const"] !== undefined || shape["type"] === "boolean");
    const count = ends ? least : Math.min(most, Math.max(least, isFixed ? 1 : 2));
    return {
      type: "array",
      items: shape,
      minItems: count,
      maxItems: count,
      ...(uniqueItems === true && { uniqueItems }),
    };
  }

  /** A map has as many keys as it needs at least. */
  private shapeMap(
    { additionalProperties, minProperties }: JsonObject,
    { depth, above }: SchemaContext,
  ): JsonObject {
    const names = Array.from(
      { length: typeof minProperties === "number" ? minProperties : 0 },
      (_, at) => `key${at + 1}`,
    );
    const value = isJsonObject(additionalProperties)
      ? this.shape(additionalProperties, { depth: depth + 1, above })
      : { type: "string" };
    return {
      type: "object",
      properties: Object.fromEntries(names.map((name) => [name, value])),
      required: names,
    };
  }
}

const isNull = (types: ReadonlySet<string>) => types.size === 1 && types.has("null");
