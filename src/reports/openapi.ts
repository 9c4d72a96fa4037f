import Type, { type TSchema } from "typebox";
import { ASSUMPTIONS } from "../contract/assumptions.ts";
import type { DeclaredApi } from "../contract/declared-api.ts";
import { type AnyOperation, type Success, successesOf } from "../contract/operation.ts";
import { assumedParts } from "../contract/provenance.ts";
import { ERROR_SCHEMAS, errorResponses } from "./openapi-errors.ts";
import { HEADER_REFS, STANDARD_HEADERS } from "./openapi-headers.ts";
import { DELIVERY_PARAMETERS, DELIVERY_SCHEMA, webhookObjects } from "./openapi-webhooks.ts";
import { SchemaComponents } from "./schema-components.ts";

type Json = Record<string, unknown>;

export const OpenApiDocument = Type.Unsafe<Json>({
  type: "object",
  required: ["openapi", "info", "paths"],
  description: "An OpenAPI 3.1 document",
});

/**
 * The OpenAPI 3.1 document of the emulated API, a pure function of the declarations. Whatever the
 * specification leaves open is marked `x-assumption` and `x-assumed` with the ids of the ledger.
 */
export function openApiDocument({ operations, events }: DeclaredApi, version: string): Json {
  const components = new SchemaComponents();
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    const item = paths[operation.path] ?? {};
    paths[operation.path] = item;
    item[operation.method.toLowerCase()] = operationObject(operation, components);
  }
  const webhooks = webhookObjects(events, components);
  return {
    openapi: "3.1.0",
    info: {
      title: "AI platform API, as Understudy emulates it",
      version,
      summary: "Generated from the declarations that the server itself runs on.",
      description:
        "Where the published reference is silent, operations carry `x-assumption`, and `x-assumed` for each part that it does not show; the fidelity ledger says what was chosen and which setting changes it.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [
      { url: "http://127.0.0.1:4747", description: "The `default` sandbox of a local server" },
      {
        url: "http://127.0.0.1:4747/_s/{sandbox}",
        description: "Any other sandbox",
        variables: { sandbox: { default: "default" } },
      },
    ],
    tags: [...new Set([...operations.map(tagOf), "events"])].map((name) => ({ name })),
    security: SECURITY,
    paths,
    webhooks,
    components: {
      securitySchemes: {
        apiKey: { type: "apiKey", in: "header", name: "api-key" },
        xApiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
        bearer: { type: "http", scheme: "bearer", description: "An API key or an access token (G01)" },
      },
      headers: STANDARD_HEADERS,
      parameters: DELIVERY_PARAMETERS,
      schemas: { ...components.schemas, ...ERROR_SCHEMAS, WebhookEvent: DELIVERY_SCHEMA },
    },
    "x-assumptions": Object.fromEntries(
      ASSUMPTIONS.map(({ id, topic, chosen }) => [id, `${topic}: ${chosen}`]),
    ),
  };
}

const SECURITY = [{ apiKey: [] }, { xApiKey: [] }, { bearer: [] }];

function tagOf({ id }: AnyOperation): string {
  return id.slice(0, id.indexOf("."));
}

function operationObject(operation: AnyOperation, components: SchemaComponents): Json {
  const { id, section, assumptions, summary, description } = operation;
  const assumed = assumedParts(operation);
  return {
    operationId: id,
    tags: [tagOf(operation)],
    summary,
    ...(description ? { description } : {}),
    "x-section": section,
    ...(assumptions?.length ? { "x-assumption": assumptions } : {}),
    ...(assumed.length > 0
      ? { "x-assumed": Object.fromEntries(assumed.map(({ part, assumption }) => [part, assumption])) }
      : {}),
    ...(operation.credentials === false ? { security: operation.identify ? [...SECURITY, {}] : [] } : {}),
    parameters: parametersOf(operation, components),
    ...(operation.body ? { requestBody: requestBody(operation, components) } : {}),
    responses: {
      ...Object.fromEntries(
        successesOf(operation).map((success) => [success.status, successResponse(success, components)]),
      ),
      ...errorResponses(operation),
    },
  };
}

function parametersOf({ params, query, headers }: AnyOperation, components: SchemaComponents): Json[] {
  const list = (
    schema: { properties: Record<string, TSchema>; required?: string[] } | undefined,
    place: string,
  ) =>
    Object.entries(schema?.properties ?? {}).map(([name, property]) => ({
      name,
      in: place,
      required: place === "path" || (schema?.required ?? []).includes(name),
      schema: components.place(property),
    }));
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

function requestBody({ body }: AnyOperation, components: SchemaComponents): Json {
  if (body!.kind === "json") {
    return {
      required: body!.optional !== true,
      content: { "application/json": { schema: components.place(body!.schema) } },
    };
  }
  if (body!.kind === "stream") {
    return { content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } } };
  }
  const fields = body!.fields as { properties?: Record<string, TSchema>; required?: string[] };
  const files = Object.entries(body!.files);
  return {
    required: true,
    content: {
      "multipart/form-data": {
        schema: {
          type: "object",
          properties: {
            ...Object.fromEntries(
              Object.entries(fields.properties ?? {}).map(([name, schema]) => [
                name,
                components.place(schema),
              ]),
            ),
            ...Object.fromEntries(files.map(([name]) => [name, { type: "string", format: "binary" }])),
          },
          required: [
            ...(fields.required ?? []),
            ...files.filter(([, file]) => file.required).map(([name]) => name),
          ],
        },
        ...(files.some(([, file]) => file.types)
          ? {
              encoding: Object.fromEntries(
                files
                  .filter(([, file]) => file.types)
                  .map(([name, file]) => [name, { contentType: file.types!.join(", ") }]),
              ),
            }
          : {}),
      },
    },
  };
}

function successResponse(success: Success, components: SchemaComponents): Json {
  const content = {
    ...(success.schema === undefined
      ? {}
      : { "application/json": { schema: components.place(success.schema) } }),
    ...Object.fromEntries(
      (success.content_types ?? []).map((type) => [type, { schema: { type: "string" } }]),
    ),
  };
  return {
    description: success.description ?? (success.status === 204 ? "Done; there is no body." : "Success"),
    headers: {
      ...HEADER_REFS,
      ...Object.fromEntries((success.headers ?? []).map((name) => [name, { schema: { type: "string" } }])),
    },
    ...(Object.keys(content).length > 0 ? { content } : {}),
  };
}
