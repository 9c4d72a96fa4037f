import { ControlError } from "./fetch-control.ts";
import { type JsonSchema, resolved, type SchemaComponents } from "./open-api.ts";

/** A property of an object, as forms and tables show it. */
export interface FormField {
  name: string;
  kind: "text" | "number" | "yesno" | "choice" | "json";
  /** Holds an ISO 8601 timestamp. */
  instant: boolean;
  nullable: boolean;
  /** Values of an enum, or of the items of a list. */
  choices: readonly string[];
  /** Format, bounds and an example, in a few words. */
  hint: string | undefined;
}

export type Fields = Readonly<Record<string, unknown>>;

export function formFields(schema: JsonSchema, components: SchemaComponents): FormField[] {
  return Object.entries(resolved(schema, components).properties ?? {}).map(([name, property]) =>
    toField(name, property, components),
  );
}

function toField(name: string, schema: JsonSchema, components: SchemaComponents): FormField {
  const whole = resolved(schema, components);
  const { one, nullable } = withoutNull(whole, components);
  const type = one.enum || one.const !== undefined ? "choice" : one.type;
  const kind = KINDS[String(type)] ?? "json";
  return {
    name,
    kind,
    instant: one.format === "date-time",
    nullable,
    choices: (kind === "choice" ? (one.enum ?? [one.const]) : (one.items?.enum ?? [])).map(String),
    hint: whole.description ?? one.description ?? makeHint(one, nullable),
  };
}

const KINDS: Readonly<Record<string, FormField["kind"]>> = {
  choice: "choice",
  string: "text",
  integer: "number",
  number: "number",
  boolean: "yesno",
};

/** Removes `null` from a schema. */
function withoutNull(
  schema: JsonSchema,
  components: SchemaComponents,
): { one: JsonSchema; nullable: boolean } {
  if (Array.isArray(schema.type)) {
    const types = schema.type.filter((type) => type !== "null");
    const type = types.length === 1 ? types[0]! : "several";
    return { one: { ...schema, type }, nullable: types.length < schema.type.length };
  }
  if (schema.anyOf === undefined) return { one: schema, nullable: false };
  const others = schema.anyOf.filter(({ type }) => type !== "null");
  const one = others.length === 1 ? resolved(others[0]!, components) : {};
  return { one, nullable: others.length < schema.anyOf.length };
}

function makeHint({ format, minimum, maximum, examples }: JsonSchema, nullable: boolean): string | undefined {
  const bounds = [minimum !== undefined && `from ${minimum}`, maximum !== undefined && `to ${maximum}`];
  const parts = [
    format === "date-time" ? "ISO 8601 timestamp" : undefined,
    bounds.filter(Boolean).join(" "),
    typeof examples?.[0] === "string" ? `for example ${examples[0]}` : undefined,
    nullable ? "empty means null" : undefined,
  ];
  return parts.filter(Boolean).join("; ") || undefined;
}

/** A value as editable text. */
export function formatValue(value: unknown, { kind }: FormField): string {
  if (value === undefined || (value === null && kind !== "json")) return "";
  return kind === "json" ? JSON.stringify(value, null, 2) : String(value);
}

/**
 * Parses a typed value. An invalid number stays text, and the server reports it.
 * @throws SyntaxError for invalid JSON
 */
export function parseValue(text: string, { kind, nullable }: FormField): unknown {
  if (text.trim() === "" && (nullable || kind === "number" || kind === "json")) return null;
  if (kind === "json") return JSON.parse(text);
  if (kind === "yesno") return text === "true";
  if (kind === "number") return Number.isNaN(Number(text)) ? text : Number(text);
  return text;
}

/**
 * Parses typed JSON.
 * @throws ControlError that names the field, as the server's errors do
 */
export function parsedJson(text: string, field: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notJson(field, "This field");
  }
}

/** `subject` starts the message. */
export function notJson(field: string, subject: string): ControlError {
  const detail = `${subject} is not valid JSON. Nothing was sent.`;
  return new ControlError(422, detail, {
    type: "urn:understudy:problem:invalid-json",
    title: "Invalid JSON",
    status: 422,
    detail,
    field,
  });
}
