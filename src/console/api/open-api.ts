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
  patternProperties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  items?: JsonSchema;
  if?: JsonSchema;
  else?: JsonSchema;
  format?: string;
  pattern?: string;
  description?: string;
  default?: unknown;
  examples?: readonly unknown[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
}

export interface SchemaComponents {
  schemas: Readonly<Record<string, JsonSchema>>;
}

/** The parts of the control API's document that the console reads. */
export interface ControlDescription {
  components: SchemaComponents;
  paths: Readonly<
    Record<
      string,
      {
        get: {
          responses: Record<
            string,
            {
              content: Record<string, { "x-schema-by"?: { schemas: Record<string, JsonSchema> } }>;
            }
          >;
        };
      }
    >
  >;
}

/** Follows a `$ref`. */
export function resolved(schema: JsonSchema, { schemas }: SchemaComponents): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...rest } = schema;
  return { ...schemas[$ref.split("/").at(-1)!], ...rest };
}

/** The parts of the emulated API's OpenAPI document that the console reads. */
export interface OpenApi {
  paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  components: SchemaComponents;
  /** Events by name, with the schema of their payload. */
  webhooks: Readonly<Record<string, { post: DocumentedEvent }>>;
}

export interface DocumentedEvent {
  summary: string;
  requestBody: { content: Readonly<Record<string, { schema: JsonSchema }>> };
}

/** Schema of the `data` of an event's payload. */
export function eventData({ requestBody }: DocumentedEvent): JsonSchema {
  const { allOf = [] } = requestBody.content["application/json"]!.schema;
  return allOf.findLast(({ properties }) => properties?.["data"])?.properties?.["data"] ?? {};
}

export interface DocumentedOperation {
  operationId: string;
  tags: readonly string[];
  summary: string;
  description?: string;
  "x-section": string;
  parameters?: readonly Parameter[];
  requestBody?: { content: Readonly<Record<string, { schema: JsonSchema }>> };
  responses: Readonly<Record<string, DocumentedResponse>>;
}

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required?: boolean;
  description?: string;
  schema: JsonSchema;
}

export interface DocumentedResponse {
  description: string;
  "x-error-codes"?: readonly string[];
  content?: Readonly<Record<string, { schema?: JsonSchema }>>;
}

export interface Operation extends DocumentedOperation {
  method: string;
  path: string;
}

export function listOperations({ paths }: OpenApi): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );
}
