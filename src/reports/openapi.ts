import type { TSchema } from "typebox";
import { ASSUMPTIONS } from "../contract/assumptions.ts";
import { codeInB, type Envelope, envelopeFor } from "../contract/envelopes.ts";
import { CATALOGUE, type ErrorCode } from "../contract/errors.ts";
import type { AnyEvent } from "../contract/event.ts";
import { type AnyOperation, errorCodesOf, type Success, successesOf } from "../contract/operation.ts";
import { DELIVERY_PARAMETERS, DELIVERY_SCHEMA, webhookObjects } from "./openapi-webhooks.ts";
import { SchemaComponents } from "./schema-components.ts";

type Json = Record<string, unknown>;

/**
 * The OpenAPI 3.1 document of the emulated API, a pure function of the declarations. Whatever the
 * specification leaves open is marked `x-assumption` with the ids of the ledger.
 */
export function openApiDocument(
  operations: readonly AnyOperation[],
  version: string,
  events: readonly AnyEvent[] = [],
): Json {
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
        "Operations and fields carry `x-assumption` where the published reference is silent; the fidelity ledger says what was chosen and which setting changes it.",
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
  return {
    operationId: id,
    tags: [tagOf(operation)],
    summary,
    ...(description ? { description } : {}),
    "x-section": section,
    ...(assumptions?.length ? { "x-assumption": assumptions } : {}),
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

/** One response per status, with the codes that may stand in it. */
function errorResponses(operation: AnyOperation): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodesOf(operation)) {
    const { status } = CATALOGUE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  byStatus.set(500, ["INTERNAL_ERROR"]);
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, codes]) => [status, errorResponse(operation, status, codes)]),
  );
}

function errorResponse(operation: AnyOperation, status: number, codes: ErrorCode[]): Json {
  const own = operation.envelope ?? "A";
  const envelopes = [...new Set(codes.map((code) => envelopeFor({ code, status }, own, "operation")))];
  const schemas = envelopes.map((envelope) => errorSchema(operation, envelope, codes));
  return {
    description: codes.map((code) => `\`${code}\`: ${CATALOGUE[code].message}`).join(" "),
    "x-error-codes": codes,
    headers: {
      ...HEADER_REFS,
      ...(status === 429 ? { "Retry-After": { schema: { type: "integer" } } } : {}),
    },
    content: { "application/json": { schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas } } },
  };
}

function errorSchema(operation: AnyOperation, envelope: Envelope, codes: ErrorCode[]): Json {
  const ref = { $ref: `#/components/schemas/Error${envelope}` };
  if (envelope === "C") return ref;
  const spelled = codes.map((code) => (envelope === "B" ? codeInB(code, operation.spellings) : code));
  return { allOf: [ref, { properties: { error: { properties: { code: { enum: spelled } } } } }] };
}

const text = { type: "string" };
const ERROR_SCHEMAS: Json = {
  ErrorA: {
    type: "object",
    description: "Section 7.1",
    required: ["success", "error"],
    properties: {
      success: { const: false },
      error: {
        type: "object",
        required: ["code", "message", "system_message", "type", "status", "details", "trace_id", "timestamp"],
        properties: {
          code: text,
          message: text,
          system_message: text,
          type: { enum: ["client_error", "authentication_error", "authorization_error", "server_error"] },
          status: { type: "integer" },
          details: { type: "object" },
          trace_id: text,
          timestamp: { type: "string", format: "date-time" },
        },
      },
    },
  },
  ErrorB: {
    type: "object",
    description: "Section 7.2",
    required: ["error"],
    properties: {
      error: {
        type: "object",
        required: ["message", "type", "code"],
        properties: { message: text, type: text, code: text, param: text },
      },
    },
  },
  ErrorC: {
    type: "object",
    description: "Section 7.3",
    required: ["detail", "status_code", "error_type"],
    properties: { detail: text, status_code: { type: "integer" }, error_type: text },
  },
};

const STANDARD_HEADERS: Json = {
  "x-request-id": { description: "Unique id of the request; also the trace id of errors", schema: text },
  "service-api-version": { description: "Version of the API in date form", schema: text },
  "service-organization": { description: "Organization that the request acted in", schema: text },
  "service-processing-ms": { description: "Server time in milliseconds", schema: text },
  "X-RateLimit-Limit": { description: "Requests per minute of the plan", schema: { type: "integer" } },
  "X-RateLimit-Remaining": { description: "Requests left in this window", schema: { type: "integer" } },
  "X-RateLimit-Reset": { description: "End of the window, Unix seconds", schema: { type: "integer" } },
  "x-ratelimit-limit-requests": { description: "As X-RateLimit-Limit", schema: { type: "integer" } },
  "x-ratelimit-remaining-requests": { description: "As X-RateLimit-Remaining", schema: { type: "integer" } },
  "x-ratelimit-reset-requests": { description: "Time to the end of the window, such as `41s`", schema: text },
  "x-ratelimit-limit-tokens": { description: "Tokens per minute (G07)", schema: { type: "integer" } },
  "x-ratelimit-remaining-tokens": { description: "Tokens left in this window", schema: { type: "integer" } },
  "x-ratelimit-reset-tokens": { description: "As x-ratelimit-reset-requests", schema: text },
  "X-Sandbox-Decision": { description: "Understudy's own: what decided this answer", schema: text },
};

const HEADER_REFS = Object.fromEntries(
  Object.keys(STANDARD_HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);
