import { isJsonObject, type JsonObject } from "../../engine/contract/schema.ts";
import type { DocumentPath } from "../../engine/documents/document-error.ts";

/** The kinds of objects that an OpenAPI document is made of, as far as they are read. */
type Kind =
  | "document"
  | "components"
  | "pathItem"
  | "operation"
  | "parameter"
  | "body"
  | "response"
  | "media"
  | "example"
  | "schema";
type Shape = "one" | "list" | "map";
type Children = Readonly<Record<string, readonly [Kind, Shape]>>;

/** The keywords of a schema that contain other schemas: one, a list, or a map of them. */
export const SUBSCHEMAS: Readonly<Record<Shape, readonly string[]>> = {
  one: [
    ...["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"],
    ...["unevaluatedProperties", "unevaluatedItems"],
  ],
  list: ["allOf", "anyOf", "oneOf", "prefixItems"],
  map: ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"],
};
const OPERATIONS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/** The parts of each kind, by key. Everything else, such as extensions and the values of examples, is not read. */
const GRAMMAR: Readonly<Record<Kind, Children>> = {
  document: { paths: ["pathItem", "map"], components: ["components", "one"] },
  components: {
    schemas: ["schema", "map"],
    responses: ["response", "map"],
    parameters: ["parameter", "map"],
    requestBodies: ["body", "map"],
    headers: ["parameter", "map"],
    pathItems: ["pathItem", "map"],
    examples: ["example", "map"],
    mediaTypes: ["media", "map"],
  },
  pathItem: {
    parameters: ["parameter", "list"],
    additionalOperations: ["operation", "map"],
    ...Object.fromEntries(OPERATIONS.map((method) => [method, ["operation", "one"] as const])),
  },
  operation: {
    parameters: ["parameter", "list"],
    requestBody: ["body", "one"],
    responses: ["response", "map"],
  },
  parameter: { schema: ["schema", "one"], content: ["media", "map"] },
  body: { content: ["media", "map"] },
  response: { content: ["media", "map"], headers: ["parameter", "map"] },
  media: { schema: ["schema", "one"], itemSchema: ["schema", "one"], examples: ["example", "map"] },
  example: {},
  schema: Object.fromEntries(
    Object.entries(SUBSCHEMAS).flatMap(([shape, keys]) =>
      keys.map((key) => [key, ["schema", shape as Shape] as const]),
    ),
  ),
};

export interface Place {
  kind: Kind;
  node: JsonObject;
  path: DocumentPath;
}

/** Visits each object of the document once, parents first. A schema may also be a boolean, which is left out. */
export function walk(place: Place, visit: (place: Place) => void): void {
  visit(place);
  const { kind, node, path } = place;
  if (typeof node["$ref"] === "string" && kind !== "schema") return;
  const children = GRAMMAR[kind];
  for (const key in node) {
    const rule = Object.hasOwn(children, key) ? children[key] : undefined;
    if (rule === undefined) continue;
    const [inner, shape] = rule;
    const value = node[key];
    if (shape === "one") {
      if (isJsonObject(value)) walk({ kind: inner, node: value, path: [...path, key] }, visit);
    } else if (Array.isArray(value)) {
      for (const [at, one] of value.entries())
        if (isJsonObject(one)) walk({ kind: inner, node: one, path: [...path, key, at] }, visit);
    } else if (shape === "map" && isJsonObject(value)) {
      for (const name in value) {
        const one = value[name];
        // Extensions may be beside paths and the responses of an operation.
        const mayHaveExtensions = kind === "document" || kind === "operation";
        if (isJsonObject(one) && !(mayHaveExtensions && name.startsWith("x-")))
          walk({ kind: inner, node: one, path: [...path, key, name] }, visit);
      }
    }
  }
}
