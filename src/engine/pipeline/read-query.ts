import type { TSchema } from "typebox";
import { parseNumber } from "../contract/invalid-field.ts";
import { copyJson, getOwn } from "../maps.ts";

interface Property {
  type?: string;
  items?: Property;
  anyOf?: Property[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  "x-page"?: boolean;
}

type OutOfRange = "reject" | "clamp";

interface QueryOptions {
  /** For keys that the schema does not have. */
  unknown: "drop" | "keep";
  outOfRange: OutOfRange;
}

/**
 * Reads a query, with values of the types that the schema asks for. They are read strictly: `month=` and `month=1.5`
 * stay texts, so that validation refuses the sent text. A key sent twice becomes a list, which `findRepeatedName` finds
 * unless the schema asks for one.
 */
export function readQuery(
  schema: TSchema | undefined,
  search: string,
  options: QueryOptions,
): Record<string, unknown> {
  // Without a prototype, so that `__proto__` is a key like any other.
  const values: Record<string, unknown> = Object.create(null);
  if (search === "") return values;
  const properties = getProperties(schema);
  for (const [name, text] of new URLSearchParams(search)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined && options.unknown === "drop") continue;
    const value = property === undefined ? text : parseTyped(property, text, options.outOfRange);
    values[name] = name in values ? [values[name], value].flat() : value;
  }
  return values;
}

export function readTexts(schema: TSchema, texts: Record<string, string>): Record<string, unknown> {
  const properties = getProperties(schema);
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, parseTyped(properties[name] ?? {}, text, "reject")]),
  );
}

/** The first name that was sent several times although the schema asks for no list. */
export function findRepeatedName(
  schema: TSchema | undefined,
  values: Record<string, unknown>,
): string | undefined {
  const properties = getProperties(schema);
  return Object.keys(values).find(
    (name) => Array.isArray(values[name]) && properties[name]?.type !== "array",
  );
}

function parseTyped(property: Property, text: string, outOfRange: OutOfRange): unknown {
  const { type, items = {}, anyOf } = property;
  if (type === "array") return [parseTyped(items, text, outOfRange)];
  const valueType = anyOf?.find((one) => one.type !== "null");
  if (valueType !== undefined) return parseTyped(valueType, text, outOfRange);
  if (type === "number") return parseNumber(text) ?? text;
  if (type === "integer")
    return parseIntegerOrText(text, outOfRange === "clamp" && property["x-page"] === true);
  if (type !== "boolean") return text;
  if (text === "true" || text === "") return true;
  return text === "false" ? false : text;
}

/** Undefined for a text that is not an integer, or beyond 2^53 (G08). */
export function parseInteger(text: string): number | undefined {
  const value = /^-?\d{1,16}$/.test(text) ? Number(text) : undefined;
  return Number.isSafeInteger(value) ? value : undefined;
}

/** An integer, else the text, which validation refuses. */
function parseIntegerOrText(text: string, isClamped: boolean): number | string {
  const value = parseInteger(text);
  if (value !== undefined) return value;
  if (!isClamped || !/^-?\d+$/.test(text)) return text;
  return text.startsWith("-") ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER;
}

/** Whether a field is a page number that is brought within its bounds (G08). */
export function isClamped(schema: TSchema | undefined, name: string, outOfRange: OutOfRange): boolean {
  return outOfRange === "clamp" && getProperties(schema)[name]?.["x-page"] === true;
}

/** A copy with the schema's defaults, and with page numbers clamped to their bounds if the schema asks for it (G08). */
export function addDefaults<T>(schema: TSchema | undefined, value: T, outOfRange: OutOfRange): T {
  const properties = getProperties(schema);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const valueWithDefaults = { ...value } as Record<string, unknown>;
  for (const name in properties) {
    const property = properties[name]!;
    if (getOwn(valueWithDefaults, name) === undefined && property.default !== undefined)
      valueWithDefaults[name] = copyJson(property.default);
    if (outOfRange === "clamp" && property["x-page"] && Number.isInteger(valueWithDefaults[name])) {
      valueWithDefaults[name] = Math.min(
        property.maximum ?? Number.MAX_SAFE_INTEGER,
        Math.max(property.minimum ?? 0, valueWithDefaults[name] as number),
      );
    }
  }
  return valueWithDefaults as T;
}

const NO_PROPERTIES: Readonly<Record<string, Property>> = {};

function getProperties(schema: TSchema | undefined): Readonly<Record<string, Property>> {
  return (schema as { properties?: Record<string, Property> } | undefined)?.properties ?? NO_PROPERTIES;
}
