import type { TSchema } from "typebox";
import { validatorOf } from "../contract/validator.ts";

export interface UnknownField {
  /** With its path, as in `inputs[0].note`. */
  field: string;
  value: unknown;
}

type Branches = TSchema & { properties?: Record<string, TSchema>; items?: TSchema; anyOf?: TSchema[] };

/** Body fields that the contract does not know (G09). */
export function unknownFields(schema: TSchema, value: unknown, path = ""): UnknownField[] {
  const { properties, items, anyOf } = schema as Branches;
  if (typeof value !== "object" || value === null) return [];
  if (anyOf !== undefined) return unknownToAll(anyOf, value, path);
  if (Array.isArray(value)) {
    return items === undefined ? [] : value.flatMap((item, i) => unknownFields(items, item, `${path}[${i}]`));
  }
  if (properties === undefined) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const field = path === "" ? name : `${path}.${name}`;
    if (!Object.hasOwn(properties, name)) return [{ field, value: inner as unknown }];
    return unknownFields(properties[name]!, inner, field);
  });
}

/** Of alternatives, the one that takes the value knows its fields; what fits none is refused before. */
function unknownToAll(branches: readonly TSchema[], value: object, path: string): UnknownField[] {
  const taking = branches.find((branch) => validatorOf(branch)(value));
  return taking === undefined ? [] : unknownFields(taking, value, path);
}
