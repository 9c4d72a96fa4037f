import type { TSchema } from "typebox";
import type { JsonSchema } from "./schema.ts";

type ConvertInstant = (instant: unknown) => unknown;
type Converter = (value: unknown, convert: ConvertInstant) => unknown;

/**
 * Finds the instants of a schema once (`Instant()` of contract/schema.ts), and applies a conversion to them. Changed
 * values are copied, others are shared.
 */
export function createInstantConverter(schema: TSchema): Converter {
  return compileConverter(schema as unknown as JsonSchema) ?? ((value) => value);
}

function compileConverter(schema: JsonSchema): Converter | undefined {
  if (schema["x-instant"] === true) return (value, convert) => convert(value);
  const steps = [
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])].map(compileConverter),
    convertObject(schema),
    convertArray(schema),
  ].filter((step) => step !== undefined);
  if (steps.length === 0) return undefined;
  // A branch that does not apply finds nothing to convert, so that all may be tried in turn.
  return (value, convert) => steps.reduce((current, step) => step(current, convert), value);
}

function convertObject({ properties = {}, patternProperties = {} }: JsonSchema): Converter | undefined {
  const named = new Map<string, Converter>();
  for (const [name, schema] of Object.entries(properties)) {
    const converter = compileConverter(schema);
    if (converter) named.set(name, converter);
  }
  const patterned = Object.entries(patternProperties)
    .map(([pattern, schema]) => ({ pattern: new RegExp(pattern), converter: compileConverter(schema) }))
    .filter(({ converter }) => converter !== undefined);
  if (named.size === 0 && patterned.length === 0) return undefined;
  return (value, convert) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const copy: Record<string, unknown> = { ...value };
    for (const name in copy) {
      const converter = named.get(name) ?? patterned.find(({ pattern }) => pattern.test(name))?.converter;
      if (converter) copy[name] = converter(copy[name], convert);
    }
    return copy;
  };
}

function convertArray({ items }: JsonSchema): Converter | undefined {
  const converter = items && compileConverter(items);
  if (!converter) return undefined;
  return (value, convert) => (Array.isArray(value) ? value.map((item) => converter(item, convert)) : value);
}
