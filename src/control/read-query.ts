import type { TObject } from "typebox";
import { checkInput } from "./check-input.ts";
import { unprocessable } from "./problem.ts";

type Property = { type?: string | string[]; default?: unknown };

/**
 * Typed query values with their defaults; integers and booleans are read strictly.
 * @throws Problem 422 for a key that is not known, sent twice, or of the wrong kind
 */
export function readQuery(schema: TObject | undefined, search: URLSearchParams): Record<string, unknown> {
  const properties = (schema?.properties ?? {}) as Record<string, Property>;
  // Without a prototype, so that `__proto__` is a key like any other, and refused as unknown.
  const values: Record<string, unknown> = Object.create(null);
  for (const [name, text] of search) {
    if (Object.hasOwn(values, name)) throw unprocessable(name, text, "was sent twice");
    values[name] = Object.hasOwn(properties, name) ? typed(properties[name]!, text) : text;
  }
  for (const name in properties) {
    const { default: initial } = properties[name]!;
    if (initial !== undefined && values[name] === undefined) values[name] = initial;
  }
  checkInput(closed(schema), values);
  return values;
}

function typed({ type }: Property, text: string): unknown {
  if ((type === "integer" || type === "number") && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === "boolean" && (text === "true" || text === "")) return true;
  return type === "boolean" && text === "false" ? false : text;
}

const NOTHING = { type: "object", properties: {}, additionalProperties: false } as unknown as TObject;
const closedSchemas = new WeakMap<TObject, TObject>();

function closed(schema: TObject | undefined): TObject {
  if (schema === undefined) return NOTHING;
  if ("additionalProperties" in schema) return schema;
  let strict = closedSchemas.get(schema);
  if (strict === undefined) {
    strict = { ...schema, additionalProperties: false } as TObject;
    closedSchemas.set(schema, strict);
  }
  return strict;
}
