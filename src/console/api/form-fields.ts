import { tryParseJson } from "../../engine/contract/text.ts";
import { ControlError } from "./fetch-control.ts";
import { type JsonSchema, resolveSchema, type SchemaComponents, splitNull } from "./open-api.ts";

/** A property of an object, as forms and tables show it. */
export interface FormField {
  name: string;
  kind: "text" | "number" | "yesno" | "choice" | "json";
  /** Holds an ISO 8601 timestamp. */
  isInstant: boolean;
  isNullable: boolean;
  /** Values of an enum, or of the items of a list, as texts; without null. */
  choices: readonly string[];
  /** The values that `choices` shows as texts; they may be numbers, and include null. */
  values: readonly unknown[];
  /** The schema's description; else format, bounds and an example, in a few words. */
  hint: string | undefined;
}

export type Fields = Readonly<Record<string, unknown>>;

export function listFormFields(schema: JsonSchema, components: SchemaComponents): FormField[] {
  return Object.entries(resolveSchema(schema, components).properties ?? {}).map(([name, property]) =>
    toField(name, property, components),
  );
}

function toField(name: string, schema: JsonSchema, components: SchemaComponents): FormField {
  const { nonNull, isNullable } = splitNull(schema, components);
  const type = nonNull.enum || nonNull.const !== undefined ? "choice" : nonNull.type;
  const kind = KINDS[String(type)] ?? "json";
  const values = kind === "choice" ? (nonNull.enum ?? [nonNull.const]) : listChoices(nonNull.items);
  return {
    name,
    kind,
    isInstant: nonNull.format === "date-time",
    isNullable: isNullable || values.includes(null),
    choices: values.filter((value) => value !== null).map(String),
    values,
    hint: nonNull.description ?? makeHint(nonNull),
  };
}

/** The known values of a list's items, which may allow others too. */
function listChoices(items: JsonSchema | undefined): readonly unknown[] {
  return items?.enum ?? items?.anyOf?.find((one) => one.enum)?.enum ?? [];
}

const KINDS: Readonly<Record<string, FormField["kind"]>> = {
  choice: "choice",
  string: "text",
  integer: "number",
  number: "number",
  boolean: "yesno",
};

function makeHint({ format, minimum, maximum, examples }: JsonSchema): string | undefined {
  const bounds = [minimum !== undefined && `from ${minimum}`, maximum !== undefined && `to ${maximum}`];
  const parts = [
    format === "date-time" && "ISO 8601 timestamp",
    bounds.filter(Boolean).join(" "),
    typeof examples?.[0] === "string" && `for example ${examples[0]}`,
  ];
  return parts.filter(Boolean).join("; ") || undefined;
}

/** The choice, or text, of null in a field with choices. */
export const NULL_CHOICE = "null";

const hasChoices = ({ kind }: FormField) => kind === "choice" || kind === "yesno";

export function formatValue(value: unknown, field: FormField): string {
  const { kind } = field;
  if (value === null && hasChoices(field)) return NULL_CHOICE;
  if (value === undefined || (value === null && kind !== "json")) return "";
  return kind === "json" ? JSON.stringify(value, null, 2) : String(value);
}

/**
 * Parses a typed value. An invalid number stays text, and the server reports it.
 * @throws ControlError for invalid JSON, with `prefix` before the name of the field
 */
export function parseValue(text: string, field: FormField, prefix = ""): unknown {
  const { name, kind, isNullable } = field;
  if (text.trim() === "" && (isNullable || kind === "number" || kind === "json")) return null;
  if (isNullable && text === NULL_CHOICE && hasChoices(field)) return null;
  if (kind === "json") return requireJson(text, prefix + name, name);
  if (kind === "yesno") return text === "true";
  if (kind === "number") return toNumberOrText(text);
  return toChoiceValue(text, field);
}

/** The value that a choice stands for; any other text stays text. */
export function toChoiceValue(text: string, { values }: FormField): unknown {
  const index = values.findIndex((value) => String(value) === text);
  return index < 0 ? text : values[index];
}

/**
 * Parses typed JSON. `subject` starts the message.
 * @throws ControlError that names the field, as the server's errors do
 */
export function requireJson(text: string, field: string, subject = "This field"): unknown {
  const value = tryParseJson(text);
  if (value === undefined) throw toInputError(field, `${subject} is not valid JSON. Nothing was sent.`);
  return value;
}

/** An error of input that is not sent; a form shows it at the field, like the server's errors. */
export function toInputError(field: string, message: string): ControlError {
  return new ControlError(422, message, { field });
}

/** Trimmed inputs, without the empty ones. */
export function omitEmptyInputs<Name extends string>(inputs: Readonly<Record<Name, string>>) {
  const trimmed = Object.entries<string>(inputs).map(([name, text]) => [name, text.trim()]);
  return Object.fromEntries(trimmed.filter(([, text]) => text !== "")) as { [N in Name]?: string };
}

/** Invalid text stays text, in spite of the type, and the server reports it. */
export function toNumberOrText(text: string): number {
  const number = Number(text);
  return (text.trim() === "" || !Number.isFinite(number) ? text : number) as number;
}
