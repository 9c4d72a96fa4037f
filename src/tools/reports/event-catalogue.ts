import { type Static, Type } from "typebox";
import { type AnyEvent, createSamplePayload, toDataSchema } from "../../engine/contract/event.ts";
import { ClosedObject, type JsonSchema } from "../../engine/contract/schema.ts";
import { capitalize } from "../../engine/contract/text.ts";
import { toPublishedSchema } from "./openapi-document.ts";
import { DECLARED_SCOPE, toField, toType, writeBlock } from "./schema-types.ts";

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

/** The payload of each event (interfaces.md 14, section 6.2). */
export function buildEventCatalogue(events: readonly AnyEvent[]): CataloguedEvent[] {
  return events.map((event) => ({
    name: event.name,
    section: event.section,
    summary: event.summary,
    fields: [...event.data],
    schema: {
      title: event.name,
      type: "object",
      ...describePayload({
        event: { const: event.name },
        data: toPublishedSchema(toDataSchema(event)),
      }),
    },
    sample: createSamplePayload(event),
  }));
}

/** The payload of section 6.2, with the schemas of what differs between events. */
export function describePayload(schemas: { event: object; data: object }) {
  const properties = {
    ...schemas,
    timestamp: { type: "string", format: "date-time" },
    webhook_id: { type: "string" },
    delivery_id: { type: "string", description: "The same on every attempt, to detect repetitions" },
  };
  return { required: Object.keys(properties), properties };
}

const PYTHON_TYPES: Readonly<Record<string, string>> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
  object: "dict[str, Any]",
};

const PYTHON_CONSTANTS: Readonly<Record<string, string>> = { true: "True", false: "False", null: "None" };

function toPythonLiteral(value: unknown): string {
  const text = JSON.stringify(value);
  return PYTHON_CONSTANTS[text] ?? text;
}

function toPythonType(field: JsonSchema): string {
  const literals = field.const === undefined ? field.enum : [field.const];
  if (literals) return `Literal[${literals.map(toPythonLiteral).join(", ")}]`;
  if (field.anyOf) return field.anyOf.map(toPythonType).join(" | ");
  const types = [field.type ?? "unknown"].flat().map((type) => {
    if (type === "array") return `list[${toPythonType(field.items ?? {})}]`;
    return PYTHON_TYPES[type] ?? "Any";
  });
  return types.join(" | ");
}

/** Types of all payloads for a receiver, in TypeScript or Python. */
export function writeEventTypes(events: readonly CataloguedEvent[], language: "ts" | "py"): string {
  return language === "ts" ? writeTypeScript(events) : writePython(events);
}

function writeTypeScript(events: readonly CataloguedEvent[]): string {
  const types = events.map((event) => {
    const fields = [
      toField("event", JSON.stringify(event.name)),
      toField("data", toType(getDataSchema(event), DECLARED_SCOPE)),
    ];
    return `/** ${event.summary} */\nexport interface ${toTypeName(event.name)} extends Delivered ${writeBlock(fields)}`;
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
    const { properties = {}, required = [] } = getDataSchema(event);
    const fields = Object.entries(properties).map(([field, schema]) => {
      const type = toPythonType(schema);
      return `    ${field}: ${required.includes(field) ? type : `NotRequired[${type}]`}`;
    });
    return `class ${name}Data(TypedDict):\n${fields.join("\n") || "    pass"}\n\n\nclass ${name}(TypedDict):\n    """${event.summary}"""\n\n    event: Literal["${event.name}"]\n    data: ${name}Data\n    timestamp: str\n    webhook_id: str\n    delivery_id: str`;
  });
  const union = `WebhookEvent = Union[\n${events.map(({ name }) => `    ${toTypeName(name)},`).join("\n")}\n]`;
  return [head, ...types, union].join("\n\n\n");
}

function getDataSchema({ schema }: CataloguedEvent): JsonSchema {
  return (schema as { properties: { data: JsonSchema } }).properties.data;
}

/** `file.processed` -> `FileProcessed`. */
function toTypeName(event: string): string {
  return event.split(/[._]/).map(capitalize).join("");
}
