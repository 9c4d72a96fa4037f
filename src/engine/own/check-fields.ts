import { OwnFault } from "../contract/own-fault.ts";

type Schema = Record<string, unknown>;

const BOUNDS = [
  ["minLength", "maxLength"],
  ["minimum", "maximum"],
  ["minItems", "maxItems"],
] as const;

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
