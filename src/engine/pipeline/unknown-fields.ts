import type { TSchema } from "typebox";
import { pointerTo, toFieldName } from "../contract/invalid-field.ts";
import { toValidator } from "../contract/validator.ts";

export interface UnknownField {
  /** The path of the field, as in `inputs[0].note`. */
  field: string;
  /** The same as a JSON pointer. */
  pointer: string;
  value: unknown;
}

type Branches = TSchema & { properties?: Record<string, TSchema>; items?: TSchema; anyOf?: TSchema[] };

/** Body fields that the contract does not know (G09). */
export function findUnknownFields(schema: TSchema, value: unknown, pointer = ""): UnknownField[] {
  const { properties, items, anyOf } = schema as Branches;
  if (typeof value !== "object" || value === null) return [];
  if (anyOf !== undefined) return findUnknownToAll(anyOf, value, pointer);
  if (Array.isArray(value)) {
    if (items === undefined) return [];
    return value.flatMap((item, i) => findUnknownFields(items, item, pointerTo(pointer, String(i))));
  }
  if (properties === undefined) return [];
  const found: UnknownField[] = [];
  for (const [name, inner] of Object.entries(value)) {
    if (!Object.hasOwn(properties, name)) {
      const unknown = pointerTo(pointer, name);
      found.push({ field: toFieldName(unknown), pointer: unknown, value: inner });
    } else if (typeof inner === "object") {
      const deeper = findUnknownFields(properties[name]!, inner, pointerTo(pointer, name));
      for (const one of deeper) found.push(one);
    }
  }
  return found;
}

/** The fields of the alternative that accepts the value; a value that fits none was refused before. */
function findUnknownToAll(branches: readonly TSchema[], value: object, pointer: string): UnknownField[] {
  const taking = branches.find((branch) => toValidator(branch)(value));
  return taking === undefined ? [] : findUnknownFields(taking, value, pointer);
}

const MAX_NAMED = 5;
const MAX_NAME_LENGTH = 100;

/** One warning for any number of fields, since a client can send a hundred thousand. */
export function describeIgnored(what: "body field" | "query parameter", all: readonly string[]): string {
  const names = all.slice(0, MAX_NAMED).map((name) => name.slice(0, MAX_NAME_LENGTH));
  if (all.length === 1) return `unknown ${what} ${names[0]} was ignored`;
  const more = all.length - names.length;
  const named = names.join(", ") + (more > 0 ? ` and ${more} more` : "");
  return `${all.length} unknown ${what}s were ignored: ${named}`;
}
