import { generateSync, type JsonSchema } from "json-schema-faker";
import { isJson, type Json } from "./open-document.ts";
import type { Schemas } from "./schemas.ts";

/** Deep enough for any answer that a page reads; a circle ends there. */
const MAX_DEPTH = 12;

/** A value that fits a schema; the same for the same seed. */
export function generateValue(schemas: Schemas, node: unknown, seed: number): unknown {
  const { schema, resolve } = schemas.forGenerator(node);
  return generateSync(schema as JsonSchema, {
    seed,
    refResolver: (ref) => resolve(ref) as JsonSchema,
    ...{ optionalsProbability: 0.8, useExamplesValue: true, useDefaultValue: true },
    ...{ maxDepth: MAX_DEPTH, refDepthMax: 3, maxDefaultItems: 3, failOnInvalidTypes: false },
    // Instants of the machine's present would differ from day to day.
    ...{ minDateTime: "2026-01-01T00:00:00.000Z", maxDateTime: "2026-12-31T00:00:00.000Z" },
  });
}

export interface Invention {
  schemas: Schemas;
  /** ISO 8601. */
  now: string;
  seed: number;
}

/**
 * The value of a field that no one gave: what the schema presets, else nothing, empty or zero; invented only where the
 * schema refuses that.
 */
export function inventField(node: unknown, invention: Invention): unknown {
  const { schemas, now, seed } = invention;
  const plain = schemas.plain(node);
  if (plain["default"] !== undefined) return plain["default"];
  if (plain["const"] !== undefined) return plain["const"];
  const types = schemas.types(node);
  if (types.has("null")) return null;
  if (Array.isArray(plain["enum"])) return plain["enum"][0];
  const fits = (value: unknown) =>
    schemas.validator(node, "answer")(value) ? value : generateValue(schemas, node, seed);
  if (types.has("array")) return fits([]);
  if (types.has("boolean")) return fits(false);
  if (types.has("integer") || types.has("number")) return fits(plain["minimum"] ?? 0);
  if (types.has("object")) return fits(completeObject({}, node, invention));
  if (types.has("string")) {
    if (plain["format"] === "date-time") return now;
    if (plain["format"] === "date") return now.slice(0, 10);
  }
  return generateValue(schemas, node, seed);
}

/** Adds the required properties that an object lacks, and those with a preset. */
export function completeObject(given: Json, node: unknown, invention: Invention): Json {
  const { schemas } = invention;
  const whole = { ...given };
  const required = schemas.required(node);
  for (const [name, schema] of schemas.properties(node)) {
    if (Object.hasOwn(whole, name) && whole[name] !== undefined) continue;
    if (
      required.has(name) ? !schemas.has(schema, "writeOnly") : schemas.plain(schema)["default"] !== undefined
    )
      whole[name] = inventField(schema, invention);
  }
  return whole;
}

/** The first example of a media type, a schema or a parameter, if it has one. */
export function findExample(
  media: Json,
  schemas: Schemas,
  follow: (node: Json) => Json,
): { value: unknown } | undefined {
  if (media["example"] !== undefined) return { value: media["example"] };
  const { examples, schema } = media;
  if (isJson(examples))
    for (const given of Object.values(examples)) {
      const example = isJson(given) ? follow(given) : {};
      if (example["value"] !== undefined) return { value: example["value"] };
    }
  const plain = schemas.plain(schema);
  if (plain["example"] !== undefined) return { value: plain["example"] };
  const [first] = Array.isArray(plain["examples"]) ? plain["examples"] : [];
  return first === undefined ? undefined : { value: first };
}
