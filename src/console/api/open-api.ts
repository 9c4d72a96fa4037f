import type { JsonSchema, SchemaComponents } from "./json-schema.ts";

/** Of the emulated API's OpenAPI document, what is read here. */
export interface OpenApi {
  paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  components: SchemaComponents;
  /** Each event by its name, with the schema of what is sent. */
  webhooks: Readonly<Record<string, { post: DocumentedEvent }>>;
}

export interface DocumentedEvent {
  summary: string;
  requestBody: { content: Readonly<Record<string, { schema: JsonSchema }>> };
}

/** The schema of an event's data. */
export function dataOf({ requestBody }: DocumentedEvent): JsonSchema {
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

export function operationsOf({ paths }: OpenApi): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );
}
