import { parseInstant } from "../../engine/contract/instant.ts";
import type { JsonSchema } from "../../engine/contract/schema.ts";

/** Whether the value is an ISO 8601 timestamp in UTC, as the reference's conventions require of every timestamp. */
export function isTimestamp(value: unknown): boolean {
  return typeof value === "string" && /T.*(Z|[+-]00:?00)$/.test(value) && parseInstant(value) !== undefined;
}

/** The places of the texts that a schema declares as timestamps, each with its value. */
export function listTimestamps(
  { format, items, properties, anyOf = [] }: JsonSchema,
  value: unknown,
  place = "",
): [place: string, value: string][] {
  if (typeof value === "string") {
    const isDeclared = [format, ...anyOf.map((one) => one.format)].includes("date-time");
    return isDeclared ? [[place, value]] : [];
  }
  if (typeof value !== "object" || value === null) return [];
  const fields = properties ?? anyOf.find((one) => one.properties)?.properties ?? {};
  return Object.entries(value).flatMap(([name, inner]) => {
    const schema = Array.isArray(value) ? items : Object.hasOwn(fields, name) ? fields[name] : undefined;
    return schema === undefined ? [] : listTimestamps(schema, inner, `${place}/${name}`);
  });
}
