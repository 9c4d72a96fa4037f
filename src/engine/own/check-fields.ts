import { OwnFault } from "../contract/errors.ts";
import { findNearest } from "../contract/text.ts";

type Schema = Record<string, unknown>;

const BOUNDS = [
  ["minLength", "maxLength"],
  ["minimum", "maximum"],
  ["minItems", "maxItems"],
] as const;

/** Refuses what a compiler would: a key that a declaration does not have. @throws OwnFault */
export function checkKeys(value: object, keys: readonly string[], of: { noun: string; name: string }): void {
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  if (unknown === undefined) return;
  const meant = findNearest(unknown, keys);
  const hint = meant === undefined ? `; there are ${keys.join(", ")}` : ` (did you mean ${meant}?)`;
  throw new OwnFault(`${of.noun} ${of.name} has the unknown key ${unknown}${hint}`, { subject: of.name });
}

/**
 * Refuses declared fields that are not schemas, or that no value fits.
 * @param of the declaration, for the message
 * @throws OwnFault
 */
export function checkFields(fields: object, of: { noun: string; name: string }): void {
  for (const [name, field] of Object.entries(fields)) checkField(field, name, of);
}

function checkField(
  field: unknown,
  name: string,
  { noun, name: subject }: { noun: string; name: string },
): void {
  const wrong = (problem: string) => new OwnFault(`${noun} ${subject}: ${name} ${problem}`, { subject });
  if (typeof field !== "object" || field === null || Array.isArray(field))
    throw wrong(`is ${JSON.stringify(field) ?? typeof field}, not a schema such as string()`);
  const schema = field as Schema;
  for (const [low, high] of BOUNDS)
    if ((schema[low] as number) > (schema[high] as number))
      throw wrong(`fits no value: its smallest bound is ${schema[low]}, its largest ${schema[high]}`);
  if (Array.isArray(schema["enum"]) && schema["enum"].length === 0)
    throw wrong("fits no value: it lists none");
  const { properties, items } = schema;
  if (typeof properties === "object" && properties !== null)
    for (const [inner, one] of Object.entries(properties))
      checkField(one, `${name}.${inner}`, { noun, name: subject });
  if (items !== undefined) checkField(items, `${name}[]`, { noun, name: subject });
}

/** Refuses parameters that no text can be read as. @throws OwnFault */
export function checkParameters(
  parameters: object,
  { lists }: { lists: boolean },
  { noun, name: subject }: { noun: string; name: string },
): void {
  for (const [name, field] of Object.entries(parameters)) {
    const { type, items = {} } = field as { type?: unknown; items?: { type?: unknown } };
    const most = type === "array" && lists ? items.type : type;
    if (most !== "object" && most !== "array") continue;
    const problem = most === "array" && !lists ? "is a list" : "has objects or lists in it";
    throw new OwnFault(`${noun} ${subject}: ${name} ${problem}, which its place in the URL cannot carry`, {
      subject,
    });
  }
}
