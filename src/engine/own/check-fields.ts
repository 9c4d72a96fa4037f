import { OwnOperationError } from "../contract/errors.ts";
import { findNearest } from "../contract/text.ts";

type Schema = Record<string, unknown>;

const BOUNDS = [
  ["minLength", "maxLength"],
  ["minimum", "maximum"],
  ["minItems", "maxItems"],
] as const;

/** Refuses keys that a declaration does not have, as a compiler would. @throws OwnOperationError */
export function checkKeys(
  value: object,
  keys: readonly string[],
  declaration: { noun: string; name: string },
): void {
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  if (unknown === undefined) return;
  const nearest = findNearest(unknown, keys);
  const hint = nearest === undefined ? `; there are ${keys.join(", ")}` : ` (did you mean ${nearest}?)`;
  throw new OwnOperationError(
    `${declaration.noun} ${declaration.name} has the unknown key ${unknown}${hint}`,
    { subject: declaration.name },
  );
}

/**
 * Refuses declared fields that are not schemas, or that no value fits.
 * @param declaration for the message
 * @throws OwnOperationError
 */
export function checkFields(fields: object, declaration: { noun: string; name: string }): void {
  for (const [name, field] of Object.entries(fields)) checkField(field, name, declaration);
}

function checkField(
  field: unknown,
  name: string,
  { noun, name: subject }: { noun: string; name: string },
): void {
  const createError = (problem: string) =>
    new OwnOperationError(`${noun} ${subject}: ${name} ${problem}`, { subject });
  if (typeof field !== "object" || field === null || Array.isArray(field))
    throw createError(`is ${JSON.stringify(field) ?? typeof field}, not a schema such as string()`);
  const schema = field as Schema;
  for (const [low, high] of BOUNDS)
    if ((schema[low] as number) > (schema[high] as number))
      throw createError(`fits no value: its minimum is ${schema[low]}, and its maximum ${schema[high]}`);
  if (Array.isArray(schema["enum"]) && schema["enum"].length === 0)
    throw createError("fits no value: it lists none");
  const { properties, items } = schema;
  if (typeof properties === "object" && properties !== null)
    for (const [propertyName, property] of Object.entries(properties))
      checkField(property, `${name}.${propertyName}`, { noun, name: subject });
  if (items !== undefined) checkField(items, `${name}[]`, { noun, name: subject });
}

/** Refuses parameters whose values a text cannot express. @throws OwnOperationError */
export function checkParameters(
  parameters: object,
  { allowsLists }: { allowsLists: boolean },
  { noun, name: subject }: { noun: string; name: string },
): void {
  for (const [name, field] of Object.entries(parameters)) {
    const { type, items = {} } = field as { type?: unknown; items?: { type?: unknown } };
    const valueType = type === "array" && allowsLists ? items.type : type;
    if (valueType !== "object" && valueType !== "array") continue;
    const problem = valueType === "array" && !allowsLists ? "is a list" : "has objects or lists in it";
    throw new OwnOperationError(
      `${noun} ${subject}: ${name} ${problem}, which its place in the URL cannot carry`,
      { subject },
    );
  }
}
