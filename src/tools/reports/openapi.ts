import type { Api } from "../../engine/contract/api.ts";
import { ASSUMPTIONS } from "../../engine/contract/assumptions/index.ts";
import { type Envelope, getEnvelope, spellCode, toCodeInB } from "../../engine/contract/envelopes.ts";
import { CATALOGUE, type DetailSource, type ErrorCode } from "../../engine/contract/errors.ts";
import { type AnyEvent, toDataSchema } from "../../engine/contract/event.ts";
import { type AnyOperation, listErrorCodes } from "../../engine/contract/operation.ts";
import { listAssumedParts } from "../../engine/contract/provenance.ts";
import { listRefusals } from "../../engine/contract/refusals.ts";
import type { JsonObject } from "../../engine/contract/schema.ts";
import { groupBy } from "../../engine/maps.ts";
import type { Site } from "../../engine/pipeline/plain-http.ts";
import { BUDGET_SCOPES } from "../../engine/resources/usage/rules.ts";
import { copyDescribedParts } from "./described-operation.ts";
import { describePayload } from "./event-catalogue.ts";
import {
  type DocumentComponents,
  LOCAL_SITE,
  type SchemaComponents,
  shareResponse,
  toHeaderRefs,
  toOpenApi,
  toPascalCase,
} from "./openapi-document.ts";

const SECURITY = [{ apiKey: [] }, { xApiKey: [] }, { bearer: [] }];

/**
 * The OpenAPI document of the emulated API. Gaps of the specification are marked `x-assumption` and
 * `x-assumed`, with the ids of the ledger.
 */
export function buildOpenApiDocument(
  { operations, events }: Pick<Api, "operations" | "events">,
  version: string,
  site: Pick<Site, "baseUrl"> = LOCAL_SITE,
): JsonObject {
  return toOpenApi(
    {
      info: {
        title: "AI platform API, as Understudy emulates it",
        version,
        summary: "Generated from the declarations of the server.",
        description:
          "Where the published reference is silent, Understudy assumes something. `x-assumption` of an operation names these assumptions. `x-assumed` names the parts of its answers that the reference does not show. `x-assumptions` describes each assumption.",
      },
      servers: [
        { url: site.baseUrl("default"), description: "The `default` sandbox" },
        {
          url: site.baseUrl("{sandbox}"),
          description: "Any other sandbox",
          variables: { sandbox: { default: "default" } },
        },
      ],
      security: SECURITY,
      components: {
        securitySchemes: {
          apiKey: { type: "apiKey", in: "header", name: "api-key" },
          xApiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
          bearer: { type: "http", scheme: "bearer", description: "An API key or an access token (G01)" },
        },
        headers: STANDARD_HEADERS,
        parameters: DELIVERY_PARAMETERS,
        schemas: { ...ERROR_SCHEMAS, WebhookEvent: DELIVERY_SCHEMA },
      },
      toExtraMembers,
      toErrorResponses,
      copyDescribed: copyDescribedParts,
      tags: ["events"],
      toDocumentMembers: (components) => ({
        webhooks: Object.fromEntries(
          events.map((event) => [event.name, { post: toDeliveryObject(event, components) }]),
        ),
        "x-assumptions": Object.fromEntries(
          ASSUMPTIONS.map(({ id, topic, chosen }) => [id, `${topic}: ${chosen}`]),
        ),
      }),
    },
    operations,
  );
}

/** Where an operation comes from, and who may call it. */
function toExtraMembers(operation: AnyOperation): JsonObject {
  const { assumptions, credentials, identify, sourceFile } = operation;
  const assumed = listAssumedParts(operation);
  return {
    ...(sourceFile === undefined ? {} : { "x-own": sourceFile }),
    ...(assumptions?.length ? { "x-assumption": assumptions } : {}),
    ...(assumed.length > 0
      ? { "x-assumed": Object.fromEntries(assumed.map(({ part, assumption }) => [part, assumption])) }
      : {}),
    ...(credentials === false ? { security: identify ? [...SECURITY, {}] : [] } : {}),
  };
}

/** One response per status, with the codes that it can carry; many operations share them. */
function toErrorResponses(operation: AnyOperation, { responses }: DocumentComponents): JsonObject {
  const byStatus = groupBy(listErrorCodes(operation), (code): number => CATALOGUE[code].status);
  byStatus.set(500, ["INTERNAL_ERROR"]);
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, codes]) => {
        const name = codes.map(toPascalCase).join("Or");
        return [status, shareResponse(responses, name, toErrorResponse(operation, status, codes))];
      }),
  );
}

function toErrorResponse(operation: AnyOperation, status: number, codes: ErrorCode[]): JsonObject {
  const ownEnvelope = operation.envelope ?? "A";
  const envelopes = [
    ...new Set(codes.map((code) => getEnvelope({ code, status }, ownEnvelope, "operation"))),
  ];
  const schemas = envelopes.map((envelope) => toErrorSchema(operation, envelope, codes));
  const describeCode = (code: ErrorCode) => {
    const sent = spellCode(code, ownEnvelope, operation);
    return `\`${code}\`: ${CATALOGUE[code].message}${sent === code ? "" : ` Sent as ${sent}.`}`;
  };
  return {
    description: codes.map(describeCode).join(" "),
    "x-error-codes": codes,
    headers: {
      ...toHeaderRefs(STANDARD_HEADERS),
      ...(status === 401 ? { "WWW-Authenticate": { schema: { type: "string" } } } : {}),
      ...(status === 429 ? { "Retry-After": { schema: { type: "integer" } } } : {}),
    },
    content: { "application/json": { schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas } } },
  };
}

function toErrorSchema(operation: AnyOperation, envelope: Envelope, codes: ErrorCode[]): JsonObject {
  const ref = { $ref: `#/components/schemas/Error${envelope}` };
  if (envelope === "C") return ref;
  const codesInB = codes.map((code) => toCodeInB(code, operation.spellings));
  const errorB = { properties: { code: { enum: codesInB } } };
  const error = envelope === "B" ? errorB : toErrorSchemaA(operation, codes);
  return { allOf: [ref, { properties: { error } }] };
}

function toErrorSchemaA(operation: AnyOperation, codes: readonly ErrorCode[]): JsonObject {
  const refusals = listRefusals(operation).filter(({ code }) => codes.includes(code));
  const reasons = refusals.map(({ code, details }): JsonObject => {
    const required = Object.keys(details);
    const properties = Object.fromEntries(
      Object.entries(details).map(([name, source]) => [name, toDetailSchema(name, source)]),
    );
    const schema = { type: "object", required, properties };
    return { properties: { code: { const: code }, ...(required.length > 0 ? { details: schema } : {}) } };
  });
  // INTERNAL_ERROR, the only code without a refusal: no operation declares it.
  if (reasons.length === 0) return { properties: { code: { enum: codes } } };
  return reasons.length === 1 ? reasons[0]! : { anyOf: reasons };
}

function toDetailSchema(name: string, source: DetailSource): JsonObject {
  if (typeof source === "object" && "always" in source) return { const: source.always };
  if (source === "rate") return { type: "integer" };
  if (source === "now") return { type: "string", format: "date-time" };
  return source === "input" || source === "digest" || source === "spending"
    ? (NAMED_DETAILS[name] ?? {})
    : SENT;
}

const text = { type: "string" };

/** A value that the request contains, such as an id of its path; null if a fault refuses a request without it. */
const SENT = { type: ["string", "null"] };

/** The details from the sources `input`, `digest` and `spending`, by name. */
const NAMED_DETAILS: Readonly<Record<string, JsonObject>> = {
  field: text,
  // Whatever was sent.
  value: {},
  scope: { enum: BUDGET_SCOPES },
  monthly_limit: { type: "number" },
  current_usage: { type: "number" },
};

const ERROR_SCHEMAS: JsonObject = {
  ErrorA: {
    type: "object",
    description: "The error envelope of most operations",
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
    description: "The error envelope of threads and of assistants' history",
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
    description:
      "The error envelope of token exchange. If the setting `auth_errors` is `guide`, every 401 and 403 has it too",
    required: ["detail", "status_code", "error_type"],
    properties: { detail: text, status_code: { type: "integer" }, error_type: text },
  },
};

/** Headers of all answers; the organization and the rate need a caller. */
const STANDARD_HEADERS: JsonObject = {
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

/** Each event has its own `event` and `data`. */
const DELIVERY_SCHEMA: JsonObject = {
  type: "object",
  description: "The body of a delivery to a webhook",
  ...describePayload({ event: text, data: { type: "object" } }),
};

const toHeaderParameter = (name: string, description: string): JsonObject => ({
  name,
  in: "header",
  required: true,
  description,
  schema: text,
});

/** The headers of section 6.2. */
const DELIVERY_PARAMETERS: JsonObject = {
  DeliveryEvent: toHeaderParameter("X-Service-Event", "The event"),
  DeliverySignature: toHeaderParameter(
    "X-Service-Signature",
    "`sha256=` and the lower-case hex HMAC-SHA256 of the body's bytes, keyed with the webhook's secret",
  ),
  DeliveryId: toHeaderParameter("X-Service-Delivery", "The delivery's id"),
};

/** The request to a receiver, for the `webhooks` of OpenAPI 3.1. */
function toDeliveryObject(event: AnyEvent, components: SchemaComponents): JsonObject {
  const { name, section, assumptions, summary, description } = event;
  const eventSchema = {
    properties: { event: { const: name }, data: components.addSchema(toDataSchema(event)) },
  };
  return {
    tags: ["events"],
    summary,
    ...(description ? { description } : {}),
    "x-section": section,
    ...(assumptions?.length ? { "x-assumption": assumptions } : {}),
    security: [],
    parameters: Object.keys(DELIVERY_PARAMETERS).map((key) => ({ $ref: `#/components/parameters/${key}` })),
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: { allOf: [{ $ref: "#/components/schemas/WebhookEvent" }, eventSchema] },
        },
      },
    },
    responses: {
      "2XX": { description: "Delivered" },
      "410": { description: "The webhook becomes inactive" },
      default: { description: "Tried again, by default after 1m, 5m, 15m, 1h and 6h" },
    },
  };
}
