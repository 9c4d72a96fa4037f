import Type, { type Static } from "typebox";
import { type AnyEvent, dataSchema, samplePayload } from "../../engine/contract/event.ts";
import { Closed } from "../../engine/contract/schema.ts";

export const CataloguedEvent = Closed(
  {
    name: Type.String(),
    section: Type.String(),
    summary: Type.String(),
    fields: Type.Array(Type.String(), { description: "Of its data, in the order in which they are sent" }),
    schema: Type.Unsafe<Record<string, unknown>>({
      type: "object",
      description: "JSON Schema of what is sent",
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

/** What webhooks are sent, by event (interfaces 14): the whole payload of section 6.2, the data its own. */
export function eventCatalogue(events: readonly AnyEvent[]): CataloguedEvent[] {
  return events.map((event) => ({
    name: event.name,
    section: event.section,
    summary: event.summary,
    fields: [...event.data],
    schema: payloadSchema(event),
    sample: samplePayload(event),
  }));
}

function payloadSchema(event: AnyEvent): Record<string, unknown> {
  const text = { type: "string" };
  const properties = {
    event: { const: event.name },
    data: dataSchema(event) as object,
    timestamp: { type: "string", format: "date-time" },
    webhook_id: text,
    delivery_id: { ...text, description: "The same on every attempt; for telling repetitions" },
  };
  return {
    title: event.name,
    type: "object",
    required: Object.keys(properties),
    properties: JSON.parse(JSON.stringify(properties)),
  };
}

/** Types of all payloads for a receiver, in TypeScript or Python. */
export function eventTypes(events: readonly CataloguedEvent[], language: "ts" | "py"): string {
  return language === "ts" ? typeScript(events) : python(events);
}

interface Field {
  type?: string | readonly string[];
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly Field[];
  items?: Field;
}

function dataOf({ schema }: CataloguedEvent): {
  properties: Record<string, Field>;
  required: readonly string[];
} {
  const { properties } = schema as {
    properties: { data: { properties?: Record<string, Field>; required?: string[] } };
  };
  return { properties: properties.data.properties ?? {}, required: properties.data.required ?? [] };
}

function typeScript(events: readonly CataloguedEvent[]): string {
  const types = events.map((event) => {
    const { properties, required } = dataOf(event);
    const fields = Object.entries(properties).map(
      ([name, field]) => `    ${name}${required.includes(name) ? "" : "?"}: ${inTypeScript(field)};`,
    );
    return `/** ${event.summary} */\nexport interface ${typeName(event.name)} extends Delivered {\n  event: "${event.name}";\n  data: {\n${fields.join("\n")}\n  };\n}`;
  });
  const union = events.map(({ name }) => `  | ${typeName(name)}`).join("\n");
  const base =
    "/** Every payload has these; `delivery_id` is the same on every attempt. */\nexport interface Delivered {\n  timestamp: string;\n  webhook_id: string;\n  delivery_id: string;\n}";
  return [base, ...types, `export type WebhookEvent =\n${union};`].join("\n\n");
}

function inTypeScript(field: Field): string {
  if (field.const !== undefined) return JSON.stringify(field.const);
  if (field.enum) return field.enum.map((one) => JSON.stringify(one)).join(" | ");
  if (field.anyOf) return field.anyOf.map(inTypeScript).join(" | ");
  return [field.type ?? "unknown"]
    .flat()
    .map((type) =>
      type === "array" ? `${wrapped(inTypeScript(field.items ?? {}))}[]` : (TS_TYPES[type] ?? "unknown"),
    )
    .join(" | ");
}

const wrapped = (type: string) => (type.includes(" ") ? `(${type})` : type);

const TS_TYPES: Readonly<Record<string, string>> = {
  string: "string",
  integer: "number",
  number: "number",
  boolean: "boolean",
  null: "null",
  object: "Record<string, unknown>",
};

function python(events: readonly CataloguedEvent[]): string {
  const head = "from typing import Any, Literal, NotRequired, TypedDict, Union";
  const types = events.map((event) => {
    const { properties, required } = dataOf(event);
    const name = typeName(event.name);
    const fields = Object.entries(properties).map(([field, schema]) => {
      const type = inPython(schema);
      return `    ${field}: ${required.includes(field) ? type : `NotRequired[${type}]`}`;
    });
    return `class ${name}Data(TypedDict):\n${fields.join("\n") || "    pass"}\n\n\nclass ${name}(TypedDict):\n    """${event.summary}"""\n\n    event: Literal["${event.name}"]\n    data: ${name}Data\n    timestamp: str\n    webhook_id: str\n    delivery_id: str`;
  });
  const union = `WebhookEvent = Union[\n${events.map(({ name }) => `    ${typeName(name)},`).join("\n")}\n]`;
  return [head, ...types, union].join("\n\n\n");
}

function inPython(field: Field): string {
  const literal = field.const === undefined ? field.enum : [field.const];
  if (literal) return `Literal[${literal.map((one) => JSON.stringify(one)).join(", ")}]`;
  if (field.anyOf) return field.anyOf.map(inPython).join(" | ");
  return [field.type ?? "unknown"]
    .flat()
    .map((type) => (type === "array" ? `list[${inPython(field.items ?? {})}]` : (PY_TYPES[type] ?? "Any")))
    .join(" | ");
}

const PY_TYPES: Readonly<Record<string, string>> = {
  string: "str",
  integer: "int",
  number: "float",
  boolean: "bool",
  null: "None",
  object: "dict[str, Any]",
};

/** `file.processed` -> `FileProcessed`. */
function typeName(event: string): string {
  return event
    .split(/[._]/)
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join("");
}

/** The catalogue as a page of the documentation. */
export function eventsPage(events: readonly CataloguedEvent[]): string {
  const rows = events.map(
    ({ name, summary, fields }) =>
      `| [\`${name}\`](#${name.replace(".", "")}) | ${summary} | ${fields.join(", ")} |`,
  );
  const parts = events.map(
    ({ name, section, summary, sample }) =>
      `## ${name}\n\n${summary} (section ${section}).\n\n\`\`\`json\n${JSON.stringify(sample, null, 2)}\n\`\`\``,
  );
  return `# Events\n\n<!-- generated from the declarations by npm run generate -->\n\nWhat webhooks are sent, with a sample of each; \`understudy events NAME --schema\` prints its JSON Schema, \`understudy events\n--types ts\` (or \`py\`) types of all of them. How they are signed, retried and received is told in [Webhooks](webhooks.md),\nhow each framework verifies a signature in [Signatures](signatures.md); receivers to start from are under [receivers](receivers/README.md).\n\n| event | tells that | data |\n|---|---|---|\n${rows.join("\n")}\n\n${parts.join("\n\n")}\n`;
}
