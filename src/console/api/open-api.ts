/** The parts of a JSON Schema (2020-12, as in OpenAPI 3.1) that the console reads. */
export interface JsonSchema {
  $ref?: string;
  type?: string | readonly string[];
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly JsonSchema[];
  oneOf?: readonly JsonSchema[];
  allOf?: readonly JsonSchema[];
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  items?: JsonSchema;
  if?: JsonSchema;
  else?: JsonSchema;
  format?: string;
  contentMediaType?: string;
  description?: string;
  default?: unknown;
  /** OpenAPI 3.0 has this in place of `examples`. */
  example?: unknown;
  examples?: readonly unknown[];
  readOnly?: boolean;
  writeOnly?: boolean;
  minimum?: number;
  maximum?: number;
}

export interface SchemaComponents {
  schemas: Readonly<Record<string, JsonSchema>>;
  /** Responses and bodies that operations share. */
  responses?: Readonly<Record<string, DocumentedResponse>>;
  requestBodies?: Readonly<Record<string, DocumentedBody>>;
}

/** The parts of the control API's document that the console reads. */
export interface ControlDescription {
  components: SchemaComponents;
  paths: Readonly<
    Record<string, { get: { responses: Record<string, { content: Content<ControlContent> }> } }>
  >;
}

interface ControlContent {
  /** The schema by the value of a path parameter, such as the collection. */
  "x-schema-by"?: { schemas: Record<string, JsonSchema> };
}

/** Follows a `$ref`, and joins the parts of `allOf`. */
export function resolveSchema(schema: JsonSchema, components: SchemaComponents): JsonSchema {
  if (schema.$ref === undefined && schema.allOf === undefined) return schema;
  const parts: JsonSchema[] = [];
  const visited = new Set<JsonSchema>();
  // Each part once: schemas of users' documents may share their parts, and refer to each other in circles.
  const add = (part: JsonSchema, depth: number): void => {
    if (visited.has(part) || depth > MAX_DEPTH) return;
    visited.add(part);
    const { $ref, allOf = [], ...rest } = part;
    const target = $ref === undefined ? undefined : components.schemas[$ref.split("/").at(-1)!];
    if (target !== undefined) add(target, depth + 1);
    for (const one of allOf) add(one, depth + 1);
    parts.push(rest);
  };
  add(schema, 0);
  return { ...Object.assign({}, ...parts), ...joinParts(parts) };
}

/** Deeper than any schema that a person wrote. */
const MAX_DEPTH = 200;

function joinParts(parts: readonly JsonSchema[]): Pick<JsonSchema, "properties" | "required"> {
  const required = [...new Set(parts.flatMap((part) => part.required ?? []))];
  return {
    ...(parts.some(({ properties }) => properties) && {
      properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    }),
    ...(required.length > 0 && { required }),
  };
}

/**
 * `T` of `T | null`, and whether null is allowed. If several other types are allowed, `nonNull` names none of them: it has
 * the keywords beside them, or the type "several".
 */
export function splitNull(schema: JsonSchema, components: SchemaComponents) {
  const resolved = resolveSchema(schema, components);
  if (Array.isArray(resolved.type)) {
    const types = resolved.type.filter((type) => type !== "null");
    const type: string = types.length === 1 ? types[0]! : "several";
    return { nonNull: { ...resolved, type } as JsonSchema, isNullable: types.length < resolved.type.length };
  }
  const { anyOf, oneOf, ...rest } = resolved;
  const alternatives = anyOf ?? oneOf ?? [];
  const others = alternatives.filter(({ type }) => type !== "null");
  const nonNull = others.length === 1 ? resolveSchema({ allOf: [others[0]!, rest] }, components) : rest;
  return { nonNull, isNullable: others.length < alternatives.length };
}

/** The parts of the emulated API's OpenAPI document that the console reads. */
export interface OpenApi {
  paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  components: SchemaComponents;
  /** Events by name, with the schema of their payload. */
  webhooks: Readonly<Record<string, { post: DocumentedEvent }>>;
}

type Content<Schema> = Readonly<Record<string, Schema>>;

/** `application/json`, also with parameters, and types such as `application/merge-patch+json`. */
export function isJsonType(type: string): boolean {
  return /^application\/([^;]+\+)?json\b/.test(type);
}

interface DocumentedEvent {
  summary: string;
  requestBody: { content: Content<{ schema: JsonSchema }> };
}

export function getDataSchema({ requestBody }: DocumentedEvent): JsonSchema {
  const { allOf = [] } = requestBody.content["application/json"]!.schema;
  return allOf.findLast(({ properties }) => properties?.["data"])?.properties?.["data"] ?? {};
}

interface DocumentedOperation<Body = DocumentedBody> {
  operationId: string;
  summary: string;
  description?: string;
  "x-section": string;
  /** The file or document that declares the operation, if it is a user's own. */
  "x-own"?: string;
  parameters?: readonly Parameter[];
  requestBody?: Body;
  responses: Readonly<Record<string, DocumentedResponse>>;
}

interface Parameter {
  name: string;
  in: "path" | "query" | "header" | "cookie";
  required?: boolean;
  description?: string;
  schema?: JsonSchema;
  style?: string;
  explode?: boolean;
}

interface DocumentedBody {
  $ref?: string;
  content?: Content<{ schema?: JsonSchema }>;
}

interface DocumentedResponse {
  $ref?: string;
  description: string;
  "x-error-codes"?: readonly string[];
  content?: Content<{ schema?: JsonSchema }>;
}

export interface Operation extends DocumentedOperation<{ content: Content<{ schema: JsonSchema }> }> {
  method: string;
  path: string;
}

export function listOperations({ paths, components }: OpenApi): Operation[] {
  const follow = <T extends { $ref?: string }>(shared: Readonly<Record<string, T>> | undefined, one: T): T =>
    shared?.[one.$ref?.split("/").at(-1) ?? ""] ?? one;
  const resolve = ([status, response]: [string, DocumentedResponse]) =>
    [status, follow(components.responses, response)] as const;
  const resolveBody = (body: DocumentedBody) => {
    const types = Object.entries(follow(components.requestBodies, body).content ?? {});
    // A media type without a schema allows everything.
    return { content: Object.fromEntries(types.map(([type, { schema = {} }]) => [type, { schema }])) };
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody, ...operation }]) => ({
      ...operation,
      ...(requestBody && { requestBody: resolveBody(requestBody) }),
      responses: Object.fromEntries(Object.entries(operation.responses).map(resolve)),
      method: method.toUpperCase(),
      path,
    })),
  );
}
