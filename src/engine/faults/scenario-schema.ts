import type { TSchema } from "typebox";
import type { DeclaredApi } from "../contract/declared-api.ts";
import { CATALOGUE } from "../contract/errors.ts";
import { ScenarioDocument } from "./rules/rule-schema.ts";

type Json = Record<string, unknown>;

/**
 * The JSON Schema of scenario files for editors: what `scenario check` accepts is a part of what it accepts,
 * since which code an operation answers no schema can say. Known words are offered as examples.
 */
export function scenarioSchemaText({ operations, events }: DeclaredApi): string {
  const words: Readonly<Record<string, readonly string[]>> = {
    operation: operations.map(({ id }) => id),
    event: events.map(({ name }) => name),
    error: Object.keys(CATALOGUE),
  };
  const schema = withExamples(
    JSON.parse(JSON.stringify(ScenarioDocument as TSchema, withoutOwnNotes)) as Json,
    words,
  );
  return `${JSON.stringify({ $schema: "https://json-schema.org/draft/2020-12/schema", ...schema }, null, 2)}\n`;
}

/** `x-type` is for the library's types alone. */
function withoutOwnNotes(key: string, value: unknown): unknown {
  return key === "x-type" ? undefined : value;
}

function withExamples(schema: Json, words: Readonly<Record<string, readonly string[]>>): Json {
  const properties = schema["properties"] as Record<string, Json> | undefined;
  for (const [name, property] of Object.entries(properties ?? {})) {
    if (property["type"] === "string" && Object.hasOwn(words, name)) property["examples"] = words[name];
    withExamples(property, words);
    if (typeof property["items"] === "object") withExamples(property["items"] as Json, words);
  }
  return schema;
}
