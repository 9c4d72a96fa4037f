import { ASSUMPTIONS } from "../../engine/contract/assumptions/index.ts";
import type { DeclaredApi } from "../../engine/contract/event.ts";
import type { AnyOperation } from "../../engine/contract/operation.ts";
import { assumedParts } from "../../engine/contract/provenance.ts";
import { type Json, openApiOf } from "./openapi-document.ts";
import { ERROR_SCHEMAS, errorResponses } from "./openapi-errors.ts";
import { STANDARD_HEADERS } from "./openapi-headers.ts";
import { DELIVERY_PARAMETERS, DELIVERY_SCHEMA, webhookObjects } from "./openapi-webhooks.ts";

const SECURITY = [{ apiKey: [] }, { xApiKey: [] }, { bearer: [] }];

/**
 * The OpenAPI document of the emulated API. Whatever the specification leaves open is marked `x-assumption` and
 * `x-assumed` with the ids of the ledger.
 */
export function openApiDocument({ operations, events }: DeclaredApi, version: string): Json {
  return openApiOf(
    {
      info: {
        title: "AI platform API, as Understudy emulates it",
        version,
        summary: "Generated from the declarations that the server itself runs on.",
        description:
          "Where the published reference is silent, operations carry `x-assumption`, and `x-assumed` for each part that it does not show; the fidelity ledger says what was chosen and which setting changes it.",
      },
      servers: [
        { url: "http://127.0.0.1:4747", description: "The `default` sandbox of a local server" },
        {
          url: "http://127.0.0.1:4747/_s/{sandbox}",
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
      notes: notesOf,
      errorResponses,
      tags: ["events"],
      more: (components) => ({
        webhooks: webhookObjects(events, components),
        "x-assumptions": Object.fromEntries(
          ASSUMPTIONS.map(({ id, topic, chosen }) => [id, `${topic}: ${chosen}`]),
        ),
      }),
    },
    operations,
  );
}

function notesOf(operation: AnyOperation): Json {
  const { assumptions, credentials, identify } = operation;
  const assumed = assumedParts(operation);
  return {
    ...(assumptions?.length ? { "x-assumption": assumptions } : {}),
    ...(assumed.length > 0
      ? { "x-assumed": Object.fromEntries(assumed.map(({ part, assumption }) => [part, assumption])) }
      : {}),
    ...(credentials === false ? { security: identify ? [...SECURITY, {}] : [] } : {}),
  };
}
