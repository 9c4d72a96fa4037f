import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import { generateBySchema } from "../../engine/own/generate-by-schema.ts";
import { hasUselessEnum } from "./check-schema.ts";
import type { OpenApiReading } from "./list-operations.ts";
import type { Schemas } from "./schemas.ts";
import { findSchemaOfKey, type ShapeOptions, shapeSchema } from "./shape-schema.ts";

/**
 * Tried in this order until a value fits. A value may fit two alternatives of a `oneOf`, which allows one: then one with fewer
 * fields or of another alternative is tried.
 */
const WAYS: readonly ShapeOptions[] = [
  { examples: true },
  ...[0, 1, 2].flatMap((alternative) => [{ alternative }, { alternative, requiredOnly: true }]),
];

/**
 * A value that fits a schema, if one is found; the same for the same seed. Examples within the schema are used if they fit.
 * @param given fields that the value, an object, must have
 */
export function generateValue(schemas: Schemas, node: unknown, seed: number, given?: JsonObject): unknown {
  const validate = schemas.compileValidator(node, "answer");
  const generate = (way: ShapeOptions) => {
    const value = generateBySchema(shapeSchema(node, schemas, way), seed);
    return isJsonObject(value) && given !== undefined ? { ...value, ...given } : value;
  };
  for (const way of WAYS) {
    const value = generate(way);
    if (validate(value)) return value;
  }
  return generate({});
}

export interface Invention {
  schemas: Schemas;
  /** ISO 8601. */
  now: string;
  seed: number;
  /** The fields as the client sent them, if the object holds them in stored form, such as instants as numbers. */
  sent?: JsonObject;
}

/**
 * The value of a field that is not given: the schema's default or constant, else null, its first enum value, an empty list,
 * false, now as Unix time, the minimum or zero, an object with what it requires, or now; generated only where none fits.
 */
export function inventField(node: unknown, invention: Invention): unknown {
  const { schemas, now, seed } = invention;
  const keywords = schemas.mergeKeywords(node);
  if (keywords["default"] !== undefined) return keywords["default"];
  if (keywords["const"] !== undefined) return keywords["const"];
  const types = schemas.listTypes(node);
  const keepIfValid = (value: unknown) =>
    schemas.compileValidator(node, "answer")(value) ? value : generateValue(schemas, node, seed);
  if (types.has("null")) return keepIfValid(null);
  if (Array.isArray(keywords["enum"]) && !hasUselessEnum(keywords)) return keywords["enum"][0];
  if (types.has("array")) return keepIfValid([]);
  if (types.has("boolean")) return keepIfValid(false);
  if (isUnixTime(node, schemas)) return toUnixTime(now);
  if (types.has("integer") || types.has("number")) return keepIfValid(keywords["minimum"] ?? 0);
  if (types.has("object")) return keepIfValid(completeObject({}, node, invention));
  if (types.has("string")) {
    if (keywords["format"] === "date-time") return now;
    if (keywords["format"] === "date") return now.slice(0, 10);
  }
  return generateValue(schemas, node, seed);
}

/** Whether a schema's values are seconds since 1970, by the formats that services give them. */
export const isUnixTime = (node: unknown, schemas: Schemas): boolean =>
  isNumeric(node, schemas) &&
  /^(unix-?time|timestamp|date-time)$/.test(String(schemas.mergeKeywords(node)["format"]));

/** @param now ISO 8601 */
export const toUnixTime = (now: string): number => Math.floor(Date.parse(now) / 1000);

/** Whether a value may be a number, and no text. */
export function isNumeric(node: unknown, schemas: Schemas): boolean {
  const types = schemas.listTypes(node);
  return (types.has("integer") || types.has("number")) && !types.has("string");
}

/** Objects deeper within a record stay as they were given. */
const MAX_DEPTH = 4;

/**
 * Adds the required properties that an object lacks, and those with a default, also to the objects in it.
 * @param outer if `node` is an alternative: the properties of the schemas around it
 */
export function completeObject(
  fields: JsonObject,
  node: unknown,
  invention: Invention,
  depth = 0,
  outer: ReadonlyMap<string, unknown> = new Map(),
): JsonObject {
  const { schemas } = invention;
  const complete = { ...fields };
  const required = schemas.listRequired(node);
  const properties = new Map(schemas.listProperties(node));
  const possibleFields = schemas.listPossibleFields(node);
  // A required field may be described outside of this alternative, or nowhere.
  for (const name of required)
    if (!possibleFields.has(name))
      properties.set(name, outer.get(name) ?? findSchemaOfKey(name, schemas.mergeKeywords(node)));
  for (const [name, schema] of properties) {
    const value = Object.hasOwn(complete, name) ? complete[name] : undefined;
    if (isJsonObject(value) && depth < MAX_DEPTH)
      complete[name] = completeObject(value, schema, invention, depth + 1);
    if (value !== undefined) continue;
    const isNeeded = required.has(name)
      ? !schemas.has(schema, "writeOnly")
      : schemas.mergeKeywords(schema)["default"] !== undefined;
    if (isNeeded) complete[name] = inventField(schema, invention);
  }
  // The object as it was sent; it may lack fields that the server sets.
  const sent = depth === 0 ? (invention.sent ?? complete) : complete;
  const alternative = schemas.findAlternative(node, sent);
  if (alternative === undefined || depth >= MAX_DEPTH) return complete;
  return completeObject(complete, alternative, invention, depth + 1, new Map([...outer, ...properties]));
}

/** The first example of a media type, parameter or header: its own, else that of its `schema`. */
export function findExample(
  media: JsonObject,
  { references, schemas }: Pick<OpenApiReading, "references" | "schemas">,
): { value: unknown } | undefined {
  if (media["example"] !== undefined) return { value: media["example"] };
  const { examples, schema } = media;
  if (isJsonObject(examples))
    for (const one of Object.values(examples)) {
      const example = isJsonObject(one) ? references.follow({ node: one, path: [] }).node : {};
      const value = example["value"] ?? example["dataValue"] ?? example["serializedValue"];
      if (value !== undefined) return { value };
    }
  const keywords = schemas.mergeKeywords(schema);
  if (keywords["example"] !== undefined) return { value: keywords["example"] };
  const [first] = Array.isArray(keywords["examples"]) ? keywords["examples"] : [];
  return first === undefined ? undefined : { value: first };
}
