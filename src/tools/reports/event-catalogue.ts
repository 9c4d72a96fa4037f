import { type Static, Type } from "typebox";
import { type AnyEvent, createSamplePayload, toDataSchema } from "../../engine/contract/event.ts";
import { ClosedObject, type JsonSchema } from "../../engine/contract/schema.ts";
import { capitalize } from "../../engine/contract/text.ts";
import { toPublishedSchema } from "./openapi-document.ts";

export const CataloguedEvent = ClosedObject(
  {
    name: Type.String(),
    section: Type.String(),
    summary: Type.String(),
    fields: Type.Array(Type.String(), { description: "Of its data, in the order of sending" }),
    schema: Type.Unsafe<Record<string, unknown>>({
      type: "object",
      description: "JSON Schema of the payload",
    }),
    sample: Type.Unsafe<Record<string, unknown>>({ type: "object", description: "Always the same one" }),
  },
  {
    $id: "CataloguedEvent",
    examples: [
      {
        name: "user.created",
        section: "6.1",
        summary: "A user was created",
        fields: ["user_id", "email", "created_at"],
        schema: { type: "object" },
        sample: { event: "user.created" },
      },
    ],
  },
);
export type CataloguedEvent = Static<typeof CataloguedEvent>;

/** The payload of each event (interfaces 14, section 6.2). */
export function buildEventCatalogue(events: readonly AnyEvent[]): CataloguedEvent[] {
  return events.map((event) => ({
    name: event.name,
    section: event.section,
    summary: event.summary,
    fields: [...event.data],
    schema: toPayloadSchema(event),
    sample: createSamplePayload(event),
  }));
}

function toPayloadSchema(event: AnyEvent): Record<string, unknown> {
  const text = { type: "string" };
  const properties = {
    event: { const: event.name },
    data: toPublishedSchema(toDataSchema(event)),
    timestamp: { type: "string", format: "date-time" },
    webhook_id: text,
    delivery_id: { ...text, description: "The same on every attempt, to detect repetitions" },
  };
  return {
    title: event.name,
    type: "object",
    required: Object.keys(properties),
    properties: JSON.parse(JSON.stringify(properties)),
  };
}

/** The names of JSON's types in one language. */
interface Language {
  types: Readonly<Record<string, string>>;
  any: string;
  literals: (values: readonly string[]) => string;
  list: (item: string) => string;
}

const TYPESCRIPT: Language = {
  types: {
    string: "string",
    integer: "number",
    number: "number",
    boolean: "boolean",
    null: "null",
    object: "Record<string, unknown>",
  },
  any: "unknown",
  literals: (values) => values.join(" | "),
  list: (item) => (item.includes(" ") ? `(${item})[]` : `${item}[]`),
};

const PYTHON: Language = {
  types: {
    string: "str",
    integer: "int",
    number: "float",
    boolean: "bool",
    null: "None",
    object: "dict[str, Any]",
  },
  any: "Any",
  literals: (values) => `Literal[${values.join(", ")}]`,
  list: (item) => `list[${item}]`,
};

function toTypeText(field: JsonSchema, language: Language): string {
  const literals = field.const === undefined ? field.enum : [field.const];
  if (literals) return language.literals(literals.map((one) => JSON.stringify(one)));
  if (field.anyOf) return field.anyOf.map((one) => toTypeText(one, language)).join(" | ");
  const types = [field.type ?? "unknown"].flat().map((type) => {
    if (type === "array") return language.list(toTypeText(field.items ?? {}, language));
    return language.types[type] ?? language.any;
  });
  return types.join(" | ");
}

/** Types of all payloads for a receiver, in TypeScript or Python. */
export function writeEventTypes(events: readonly CataloguedEvent[], language: "ts" | "py"): string {
  return language === "ts" ? writeTypeScript(events) : writePython(events);
}

function writeTypeScript(events: readonly CataloguedEvent[]): string {
  const types = events.map((event) => {
    const fields = listFields(event, TYPESCRIPT).map(
      ({ name, type, optional }) => `    ${name}${optional ? "?" : ""}: ${type};`,
    );
    return `/** ${event.summary} */\nexport interface ${toTypeName(event.name)} extends Delivered {\n  event: "${event.name}";\n  data: {\n${fields.join("\n")}\n  };\n}`;
  });
  const union = events.map(({ name }) => `  | ${toTypeName(name)}`).join("\n");
  const base =
    "/** Every payload has these; `delivery_id` is the same on every attempt. */\nexport interface Delivered {\n  timestamp: string;\n  webhook_id: string;\n  delivery_id: string;\n}";
  return [base, ...types, `export type WebhookEvent =\n${union};`].join("\n\n");
}

function writePython(events: readonly CataloguedEvent[]): string {
  const head = "from typing import Any, Literal, NotRequired, TypedDict, Union";
  const types = events.map((event) => {
    const name = toTypeName(event.name);
    const fields = listFields(event, PYTHON).map(
      (field) => `    ${field.name}: ${field.optional ? `NotRequired[${field.type}]` : field.type}`,
    );
    return `class ${name}Data(TypedDict):\n${fields.join("\n") || "    pass"}\n\n\nclass ${name}(TypedDict):\n    """${event.summary}"""\n\n    event: Literal["${event.name}"]\n    data: ${name}Data\n    timestamp: str\n    webhook_id: str\n    delivery_id: str`;
  });
  const union = `WebhookEvent = Union[\n${events.map(({ name }) => `    ${toTypeName(name)},`).join("\n")}\n]`;
  return [head, ...types, union].join("\n\n\n");
}

function listFields({ schema }: CataloguedEvent, language: Language) {
  const { data } = (
    schema as { properties: { data: { properties?: Record<string, JsonSchema>; required?: string[] } } }
  ).properties;
  return Object.entries(data.properties ?? {}).map(([name, field]) => ({
    name,
    type: toTypeText(field, language),
    optional: data.required?.includes(name) !== true,
  }));
}

/** `file.processed` -> `FileProcessed`. */
function toTypeName(event: string): string {
  return event.split(/[._]/).map(capitalize).join("");
}
