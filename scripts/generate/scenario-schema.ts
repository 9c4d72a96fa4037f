import type { Api } from "../../src/engine/contract/api.ts";
import { CATALOGUE } from "../../src/engine/contract/errors.ts";
import type { JsonObject } from "../../src/engine/contract/schema.ts";
import { ScenarioDocument } from "../../src/engine/faults/rule-document.ts";

/** The version of JSON Schema. */
export const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/**
 * The JSON Schema of scenario files for editors. It accepts more than `scenario check`, since no schema can describe
 * which codes an operation answers. Known words are offered as examples.
 */
export function createScenarioSchema({ operations, events }: Pick<Api, "operations" | "events">): JsonObject {
  const words: Readonly<Record<string, readonly string[]>> = {
    operation: operations.map(({ id }) => id),
    event: events.map(({ name }) => name),
    error: Object.keys(CATALOGUE),
  };
  // `x-type` is only for the library's types.
  const json = JSON.stringify(ScenarioDocument, (key, value) => (key === "x-type" ? undefined : value));
  const schema = addExamples(JSON.parse(json) as JsonObject, words);
  return { $schema: DIALECT, ...schema };
}

function addExamples(schema: JsonObject, words: Readonly<Record<string, readonly string[]>>): JsonObject {
  const properties = schema["properties"] as Record<string, JsonObject> | undefined;
  for (const [name, property] of Object.entries(properties ?? {})) {
    if (property["type"] === "string" && Object.hasOwn(words, name)) property["examples"] = words[name];
    addExamples(property, words);
    if (typeof property["items"] === "object") addExamples(property["items"] as JsonObject, words);
  }
  return schema;
}
