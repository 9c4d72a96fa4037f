import { appendStep, getValue, toFieldName, toSteps } from "../contract/invalid-field.ts";
import type { JsonSchema } from "../contract/schema.ts";
import { cutText } from "../contract/text.ts";
import { toValidator } from "../contract/validator.ts";

interface UnknownField {
  /** The path of the field, as in `inputs[0].note`. */
  field: string;
  /** The same as a JSON pointer. */
  pointer: string;
  value: unknown;
}

/** Body fields that the contract does not know (G09). */
export function findUnknownFields(schema: object, value: unknown, pointer = ""): UnknownField[] {
  const { properties, additionalProperties, items, anyOf } = schema as JsonSchema;
  if (typeof value !== "object" || value === null) return [];
  if (anyOf !== undefined) return findUnknownInAlternatives(anyOf, value, pointer);
  if (Array.isArray(value)) {
    if (items === undefined) return [];
    return value.flatMap((item, i) => findUnknownFields(items, item, appendStep(pointer, String(i))));
  }
  if (properties === undefined) return [];
  const unknownFields: UnknownField[] = [];
  for (const [name, inner] of Object.entries(value)) {
    if (!Object.hasOwn(properties, name)) {
      if (additionalProperties) continue;
      const fieldPointer = appendStep(pointer, name);
      unknownFields.push({ field: toFieldName(fieldPointer), pointer: fieldPointer, value: inner });
    } else if (typeof inner === "object") {
      const deeper = findUnknownFields(properties[name]!, inner, appendStep(pointer, name));
      for (const field of deeper) unknownFields.push(field);
    }
  }
  return unknownFields;
}

/** Finds unknown fields by the alternative that accepts the value; a value that fits none was refused before. */
function findUnknownInAlternatives(
  alternatives: readonly object[],
  value: object,
  pointer: string,
): UnknownField[] {
  const accepting = alternatives.find((alternative) => toValidator(alternative)(value));
  return accepting === undefined ? [] : findUnknownFields(accepting, value, pointer);
}

/** A copy of a body without these fields. */
export function omitFields(body: unknown, fields: readonly UnknownField[]): unknown {
  const copy = structuredClone(body);
  for (const { pointer } of fields) {
    const parent = getValue(copy, pointer.slice(0, pointer.lastIndexOf("/"))) as Record<string, unknown>;
    delete parent[toSteps(pointer).at(-1)!];
  }
  return copy;
}

const MAX_NAMED = 5;
const MAX_NAME_LENGTH = 100;

/** One warning for any number of fields, since a client can send a hundred thousand. */
export function describeIgnored(kind: "body field" | "query parameter", ignored: readonly string[]): string {
  const names = ignored.slice(0, MAX_NAMED).map((name) => cutText(name, MAX_NAME_LENGTH));
  if (ignored.length === 1) return `unknown ${kind} ${names[0]} was ignored`;
  const unlisted = ignored.length - names.length;
  const listed = names.join(", ") + (unlisted > 0 ? ` and ${unlisted} more` : "");
  return `${ignored.length} unknown ${kind}s were ignored: ${listed}`;
}
