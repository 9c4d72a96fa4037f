import { codeInB, type Envelope, envelopeFor } from "../../engine/contract/envelopes.ts";
import { CATALOGUE, type ErrorCode } from "../../engine/contract/errors.ts";
import { type AnyOperation, listErrorCodes } from "../../engine/contract/operation.ts";
import { listRefusals } from "../../engine/contract/refusals.ts";
import { headerRefs, type Json } from "./openapi-document.ts";
import { STANDARD_HEADERS } from "./openapi-headers.ts";

/** One response per status, with the codes that may stand in it. */
export function errorResponses(operation: AnyOperation): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of listErrorCodes(operation)) {
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
      ...headerRefs(STANDARD_HEADERS),
      ...(status === 429 ? { "Retry-After": { schema: { type: "integer" } } } : {}),
    },
    content: { "application/json": { schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas } } },
  };
}

function errorSchema(operation: AnyOperation, envelope: Envelope, codes: ErrorCode[]): Json {
  const ref = { $ref: `#/components/schemas/Error${envelope}` };
  if (envelope === "C") return ref;
  const error = envelope === "B" ? errorB(operation, codes) : errorA(operation, codes);
  return { allOf: [ref, { properties: { error } }] };
}

function errorB({ spellings }: AnyOperation, codes: readonly ErrorCode[]): Json {
  return { properties: { code: { enum: codes.map((code) => codeInB(code, spellings)) } } };
}

/** Which code comes with which details. */
function errorA(operation: AnyOperation, codes: readonly ErrorCode[]): Json {
  const refusals = listRefusals(operation).filter(({ code }) => codes.includes(code));
  const reasons = refusals.map(({ code, details }): Json => {
    const names = Object.keys(details);
    return {
      properties: { code: { const: code }, ...(names.length > 0 ? { details: { required: names } } : {}) },
    };
  });
  if (reasons.length === 0) return { properties: { code: { enum: codes } } };
  return reasons.length === 1 ? reasons[0]! : { anyOf: reasons };
}

const text = { type: "string" };
export const ERROR_SCHEMAS: Json = {
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
