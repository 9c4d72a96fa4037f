import type { TObject, TSchema } from "typebox";
import { type AnyDeclaration, listSuccesses, type Success } from "../../engine/contract/operation.ts";
import type { JsonObject } from "../../engine/contract/schema.ts";
import { mapValues } from "../../engine/maps.ts";
import { toSite } from "../../engine/pipeline/plain-http.ts";

/** Describes a date in a query or body that has no other description. */
export const DATE_OR_INSTANT = "An ISO 8601 date (the whole UTC day) or date-time";

/** The base URLs of documents that are generated while no server runs: those of a server on this machine. */
export const LOCAL_SITE = toSite("http://127.0.0.1:4747");

/** The parts of an API's document, without its operations. */
interface DocumentedApi<O extends AnyDeclaration> {
  info: JsonObject;
  servers: readonly JsonObject[];
  security: readonly JsonObject[];
  components: {
    securitySchemes: JsonObject;
    /** Headers of every answer, by name. */
    headers: JsonObject;
    parameters?: JsonObject;
    schemas: JsonObject;
  };
  /** Additional members of an operation. */
  toExtraMembers: (operation: O) => JsonObject;
  toErrorResponses: (operation: O, components: DocumentComponents) => JsonObject;
  /** Members of an operation that a user's document describes, in place of those of its declaration. */
  copyDescribed?: (operation: O, components: DocumentComponents) => JsonObject | undefined;
  tags?: readonly string[];
  /** Members of the whole document. */
  toDocumentMembers?: (components: SchemaComponents) => JsonObject;
}

/** The components to which operations refer; writing operations adds to them. */
export interface DocumentComponents {
  schemas: SchemaComponents;
  responses: JsonObject;
  userComponents: {
    /** Users' documents; the names of the first one's components begin with `Own1.`. */
    documents: object[];
    /** By kind, such as `schemas`, then by name. */
    components: JsonObject;
    /** The names by place in a document. */
    names: Map<string, string>;
  };
}

/** An OpenAPI 3.1 document, computed from the declarations. */
export function toOpenApi<O extends AnyDeclaration>(
  api: DocumentedApi<O>,
  operations: readonly O[],
): JsonObject {
  const userComponents = { documents: [], components: {} as JsonObject, names: new Map<string, string>() };
  const components: DocumentComponents = { schemas: new SchemaComponents(), responses: {}, userComponents };
  const paths: Record<string, JsonObject> = {};
  for (const operation of operations) {
    const item = paths[operation.path] ?? {};
    paths[operation.path] = item;
    item[operation.method.toLowerCase()] = toOperationObject(api, operation, components);
  }
  const { schemas, ...others } = api.components;
  const more = api.toDocumentMembers?.(components.schemas);
  return {
    openapi: "3.1.0",
    info: { ...api.info, license: { name: "Apache-2.0", identifier: "Apache-2.0" } },
    servers: api.servers,
    tags: [...new Set([...operations.map(getTag), ...(api.tags ?? [])])].map((name) => ({ name })),
    security: api.security,
    paths,
    components: mergeComponents(
      others,
      Object.keys(components.responses).length > 0 ? { responses: components.responses } : {},
      { schemas: { ...components.schemas.schemas, ...schemas } },
      userComponents.components,
    ),
    ...more,
  };
}

function mergeComponents(...all: readonly JsonObject[]): JsonObject {
  const merged: Record<string, JsonObject> = {};
  for (const components of all)
    for (const [kind, named] of Object.entries(components))
      merged[kind] = { ...merged[kind], ...(named as JsonObject) };
  return merged;
}

/** The tag under which an operation is shown. */
export function getTag({ id }: AnyDeclaration): string {
  const end = id.indexOf(".");
  return end < 0 ? "own" : id.slice(0, end);
}

/** Adds a response that operations share, and returns a reference to it; `name` gets a number if another response has it. */
export function shareResponse(responses: JsonObject, name: string, response: JsonObject): JsonObject {
  const text = JSON.stringify(response);
  let key = name;
  for (let at = 2; responses[key] !== undefined && JSON.stringify(responses[key]) !== text; at++)
    key = `${name}${at}`;
  responses[key] = response;
  return { $ref: `#/components/responses/${key}` };
}

export function toPascalCase(words: string): string {
  return words.toLowerCase().replaceAll(/(?:^|[-_])(\w)/g, (_, letter: string) => letter.toUpperCase());
}

export function toHeaderRefs(headers: JsonObject): JsonObject {
  return mapValues(headers, (_, name) => ({ $ref: `#/components/headers/${name}` }));
}

function toOperationObject<O extends AnyDeclaration>(
  api: DocumentedApi<O>,
  operation: O,
  components: DocumentComponents,
): JsonObject {
  const { id, section, summary, description } = operation;
  const { schemas } = components;
  const headers = toHeaderRefs(api.components.headers);
  const described = api.copyDescribed?.(operation, components);
  return {
    operationId: id,
    tags: [getTag(operation)],
    summary,
    ...(description ? { description } : {}),
    "x-section": section,
    ...api.toExtraMembers(operation),
    parameters: listParameters(operation, schemas),
    ...(operation.body && !described ? { requestBody: toRequestBody(operation.body, schemas) } : {}),
    ...described,
    responses: {
      ...Object.fromEntries(
        (described === undefined ? listSuccesses(operation) : []).map((success) => [
          success.status,
          toSuccessResponse(success, headers, schemas),
        ]),
      ),
      ...api.toErrorResponses(operation, components),
      ...(described?.["responses"] as JsonObject | undefined),
    },
  };
}

function listParameters(
  { params, query, headers }: AnyDeclaration,
  components: SchemaComponents,
): JsonObject[] {
  const list = (schema: TObject | undefined, location: string) =>
    Object.entries(schema?.properties ?? {}).map(([name, property]) => {
      const { description, ...reference } = components.addSchema(property);
      const required = location === "path" || listRequired(schema).includes(name);
      return { name, in: location, ...(description ? { description } : {}), required, schema: reference };
    });
  return [
    ...list(params, "path"),
    ...list(query, "query"),
    ...Object.entries(headers ?? {}).map(([name, description]) => ({
      name,
      in: "header",
      description,
      schema: { type: "string" },
    })),
  ];
}

/** The fields that a client must send; it may leave out those with a default. */
function listRequired(schema: TSchema | undefined): string[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, JsonObject>;
    required?: string[];
  };
  return required.filter((name) => properties[name]?.["default"] === undefined);
}

function toRequestBody(body: NonNullable<AnyDeclaration["body"]>, components: SchemaComponents): JsonObject {
  if (body.kind === "json") {
    const schema = components.addSchema(body.schema);
    // A named schema is only a reference here and keeps its required fields.
    const { required: _required, ...optionalFields } = schema;
    const required = listRequired(schema);
    const sentSchema = required.length > 0 ? { ...schema, required } : optionalFields;
    return { required: !body.optional, content: { "application/json": { schema: sentSchema } } };
  }
  if (body.kind === "stream") {
    return { content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } } };
  }
  const fields = body.fields as Partial<TObject>;
  const files = Object.entries(body.files);
  const properties = mapValues(fields.properties ?? {}, (one) => components.addSchema(one));
  const binary = mapValues(body.files, () => ({ type: "string", format: "binary" }));
  const encoding = files.flatMap(([name, { types }]) =>
    types ? [[name, { contentType: types.join(", ") }]] : [],
  );
  const schema = {
    type: "object",
    properties: { ...properties, ...binary },
    required: [...listRequired(fields), ...files.filter(([, file]) => file.required).map(([name]) => name)],
  };
  const form = { schema, ...(encoding.length > 0 && { encoding: Object.fromEntries(encoding) }) };
  return { required: true, content: { "multipart/form-data": form } };
}

function toSuccessResponse(success: Success, headers: JsonObject, components: SchemaComponents): JsonObject {
  const { schema, variants, events } = success;
  const content = {
    ...(schema && {
      "application/json": {
        schema: components.addSchema(schema),
        ...(variants && toSchemasByValue(variants, components)),
      },
    }),
    ...Object.fromEntries(
      (success.content_types ?? []).map((type) => [
        type,
        { schema: { type: "string" }, ...(events && { "x-event-data": components.addSchema(events) }) },
      ]),
    ),
  };
  return {
    description: success.description ?? (success.status === 204 ? "Done; there is no body." : "Success"),
    headers: {
      ...headers,
      ...Object.fromEntries((success.headers ?? []).map((name) => [name, { schema: { type: "string" } }])),
    },
    ...(Object.keys(content).length > 0 ? { content } : {}),
  };
}

function toSchemasByValue(
  { parameter, schemas }: NonNullable<Success["variants"]>,
  components: SchemaComponents,
): JsonObject {
  const references = mapValues(schemas, (schema) => components.addSchema(schema));
  return { "x-schema-by": { parameter, schemas: references } };
}

/** Our own keywords of schemas, which do not belong in the document. */
const INTERNAL_KEYWORDS = new Set([
  ...["x-instant", "x-page", "x-refers-to", "x-keys-refer-to", "x-internal", "x-type"],
  ...["x-events", "x-optional"],
  ...["$id", "~kind", "~optional"],
]);

/** A schema without our own keywords. */
export function toPublishedSchema(schema: TSchema): object {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => (INTERNAL_KEYWORDS.has(key) ? undefined : value)),
  ) as object;
}

/** Moves schemas that have a title or `$id` to components/schemas, and replaces them by references. */
export class SchemaComponents {
  readonly schemas: JsonObject = {};
  private readonly names = new Map<TSchema, string>();

  addSchema(schema: TSchema): JsonObject {
    const { title, $id } = schema as { title?: string; $id?: string };
    const name = title ?? $id;
    if (name === undefined || !/^[A-Za-z][A-Za-z0-9]*$/.test(name)) return this.inline(schema);
    const isTaken = this.schemas[name] !== undefined && this.names.get(schema) !== name;
    if (isTaken) return this.inline(schema);
    if (this.schemas[name] === undefined) {
      this.names.set(schema, name);
      this.schemas[name] = {};
      this.schemas[name] = this.inline(schema);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  private inline(schema: TSchema): JsonObject {
    const copy: JsonObject = {};
    for (const [key, value] of Object.entries(schema)) {
      if (INTERNAL_KEYWORDS.has(key)) continue;
      if (key === "format" && value === "date-or-instant") {
        copy["description"] ??= DATE_OR_INSTANT;
      } else copy[key] = this.convertValue(key, value);
    }
    return copy;
  }

  private convertValue(key: string, value: unknown): unknown {
    if (key === "properties" || key === "patternProperties") {
      return mapValues(value as Record<string, TSchema>, (inner) => this.addSchema(inner));
    }
    if (key === "items" || (key === "additionalProperties" && typeof value === "object"))
      return this.addSchema(value as TSchema);
    if (key === "anyOf" || key === "oneOf" || key === "allOf")
      return (value as TSchema[]).map((inner) => this.addSchema(inner));
    return value;
  }
}
