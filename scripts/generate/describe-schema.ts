import type { JsonSchema } from "../../src/engine/contract/schema.ts";
import { EVENT_NAMES, type EventName } from "../../src/engine/resources/events.ts";
import { DATE_OR_INSTANT } from "../../src/tools/reports/openapi-document.ts";

export function toLink(record: string): string {
  return `[${record}](#${record.toLowerCase()})`;
}

/** The type of a field and what it means. */
export function describeSchema(schema: JsonSchema): string {
  const text = schema.description?.replaceAll("\n", " ");
  const type = describeType(schema);
  if (text === DATE_OR_INSTANT) return "date";
  if (text === undefined) return type === "text" ? "" : type;
  return type === "text" ? text : `${type}. ${text}`;
}

/** A schema in words: `text`, `list of [Department](#department)`, `integer, 1 to 100`, `object of ...`. */
export function describeType(schema: JsonSchema): string {
  const { $ref, anyOf, oneOf, allOf, type } = schema;
  if ($ref !== undefined) return toLink($ref.slice($ref.lastIndexOf("/") + 1));
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return [...new Set(choices.map(describeType))].join(" or ");
  if (allOf !== undefined && type === undefined) return allOf.map(describeType).join(" with ");
  if (schema.const !== undefined) return quote(schema.const);
  if (schema.enum !== undefined) return describeEnum(schema.enum) + describeDefault(schema);
  if (type === "array")
    return `list of ${describeType(schema.items ?? {})}${describeBounds(schema.minItems, schema.maxItems, "items")}`;
  if (type === "object" || schema.properties !== undefined) return describeObject(schema);
  if (type === "string") return describeText(schema);
  const words = type === undefined ? "anything" : [type].flat().join(" or ");
  return words + describeBounds(schema.minimum, schema.maximum, "") + describeDefault(schema);
}

/** Links to the list of all events instead of repeating it. */
function describeEnum(values: readonly unknown[]): string {
  const others = values.filter((value) => !EVENT_NAMES.includes(value as EventName)).map(quote);
  const hasAllEvents = values.length === others.length + EVENT_NAMES.length;
  const listed = hasAllEvents
    ? ["[event names](reference/service-api.md#6.1)", ...others]
    : values.map(quote);
  return listed.join(", ");
}

function describeObject({ properties }: JsonSchema): string {
  const names = Object.entries(properties ?? {}).map(([name, shape]) => {
    const isPlain = shape.properties === undefined && shape.$ref === undefined && shape.items === undefined;
    return isPlain ? `\`${name}\`` : `\`${name}\`: ${describeType(shape)}`;
  });
  return names.length === 0 ? "object" : `{${names.join(", ")}}`;
}

function describeText(schema: JsonSchema): string {
  if (schema.format === "date-time") return "instant";
  if (schema.format !== undefined) return schema.format;
  // The pattern of an id such as `usr_ada`, or of several kinds: `(usr|org)`.
  const [, kind] = /^\^(.+)_\[A-Za-z0-9_-\]\{1,120\}\$$/.exec(schema.pattern ?? "") ?? [];
  if (kind !== undefined)
    return kind
      .replace(/^\((.*)\)$/, "$1")
      .split("|")
      .map((one) => quote(`${one}_…`))
      .join(" or ");
  const patternText = schema.pattern === undefined ? "" : ` matching ${quote(schema.pattern)}`;
  return `text${patternText}${describeBounds(schema.minLength, schema.maxLength, "characters")}${describeDefault(schema)}`;
}

function describeDefault(schema: JsonSchema): string {
  return schema.default === undefined
    ? ""
    : `, default ${quote(schema.default === "" ? '""' : schema.default)}`;
}

function describeBounds(least: number | undefined, most: number | undefined, unitName: string): string {
  if (unitName !== "" && least === 1 && most === undefined) return ", not empty";
  const unit = unitName === "" ? "" : ` ${unitName}`;
  const format = (value: number) =>
    value > Number.MAX_SAFE_INTEGER / 2 ? undefined : value.toLocaleString("en");
  const [from, to] = [least, most].map((value) => (value === undefined ? undefined : format(value)));
  if (from !== undefined && to !== undefined) return `, ${from} to ${to}${unit}`;
  if (to !== undefined) return `, at most ${to}${unit}`;
  return from === undefined || from === "0" ? "" : `, at least ${from}${unit}`;
}

function quote(value: unknown): string {
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}
