import { type JsonSchema, resolved, type SchemaComponents } from "./json-schema.ts";

/** One field of an object that has a schema, as a form and a table treat it. */
export interface FormField {
  name: string;
  kind: "text" | "number" | "yesno" | "choice" | "json";
  /** An instant of ISO 8601. */
  instant: boolean;
  nullable: boolean;
  /** Of a choice; of JSON that is a list, what may stand in it. */
  choices: readonly string[];
  /** What may stand in it, in a few words. */
  hint: string | undefined;
}

export type Fields = Readonly<Record<string, unknown>>;

/** The properties of an object as fields, in their order. */
export function formFields(schema: JsonSchema, components: SchemaComponents): FormField[] {
  return Object.entries(resolved(schema, components).properties ?? {}).map(([name, property]) =>
    fieldOf(name, property, components),
  );
}

function fieldOf(name: string, schema: JsonSchema, components: SchemaComponents): FormField {
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
    hint: whole.description ?? one.description ?? hintOf(one, nullable),
  };
}

const KINDS: Readonly<Record<string, FormField["kind"]>> = {
  choice: "choice",
  string: "text",
  integer: "number",
  number: "number",
  boolean: "yesno",
};

/** What remains of `T | null`. */
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

function hintOf({ format, minimum, maximum, examples }: JsonSchema, nullable: boolean): string | undefined {
  const bounds = [minimum !== undefined && `from ${minimum}`, maximum !== undefined && `to ${maximum}`];
  const parts = [
    format === "date-time" ? "an instant in ISO 8601" : undefined,
    bounds.filter(Boolean).join(" "),
    typeof examples?.[0] === "string" ? `such as ${examples[0]}` : undefined,
    nullable ? "empty: null" : undefined,
  ];
  return parts.filter(Boolean).join("; ") || undefined;
}

/** A value as it is typed. */
export function textOf(value: unknown, { kind }: FormField): string {
  if (value === undefined || (value === null && kind !== "json")) return "";
  return kind === "json" ? JSON.stringify(value, null, 2) : String(value);
}

/**
 * What was typed as a value. A number that is none stays a text: the server says what is wrong with it.
 * @throws SyntaxError where JSON is asked for and it is none
 */
export function valueIn(text: string, { kind, nullable }: FormField): unknown {
  if (text.trim() === "" && (nullable || kind === "number" || kind === "json")) return null;
  if (kind === "json") return JSON.parse(text);
  if (kind === "yesno") return text === "true";
  if (kind === "number") return Number.isNaN(Number(text)) ? text : Number(text);
  return text;
}
