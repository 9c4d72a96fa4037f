import { isLosslessNumber, stringify } from "lossless-json";
import { getEnvelope, type RenderedError, renderError } from "../contract/envelopes.ts";
import type { ApiError } from "../contract/errors.ts";
import { type AnyDeclaration, type AnyOperation, isBodyless, listSuccesses } from "../contract/operation.ts";
import { PROBLEM_TYPE, PROBLEMS, type ProblemBody, type ProblemKind } from "../contract/problems.ts";
import { RawBody, Reply, StreamBody } from "../contract/reply.ts";
import { toValidator } from "../contract/validator.ts";
import type { Exchange } from "./exchange.ts";
import type { Answer } from "./plain-http.ts";

const JSON_TYPE = "application/json; charset=utf-8";

/** Turns the value of a handler into an answer. A bare value is JSON with the success status. */
export function toAnswer(operation: AnyDeclaration, value: unknown): Answer {
  const reply = value instanceof Reply ? value : new Reply(listSuccesses(operation)[0]!.status, value);
  const { status, headers, body, decision } = reply;
  const head = { status, headers, decision };
  if (body === undefined || isBodyless(status)) return { ...head, content_type: undefined, body: undefined };
  if (body instanceof RawBody) return { ...head, content_type: body.content_type, body: body.bytes };
  if (body instanceof StreamBody)
    return { ...head, content_type: body.content_type, body: undefined, stream: body.chunks };
  const { json_type: content_type = JSON_TYPE } = listSuccesses(operation)[0]!;
  return { ...head, content_type, body: JSON.stringify(body) };
}

/** Also sets the exchange's code, for the journal. */
export function toRefusalAnswer(exchange: Exchange, error: ApiError): Answer {
  exchange.code = error.code;
  return toErrorAnswer(exchange, { error: { ...error, message: error.message }, headers: error.headers });
}

export function toErrorAnswer(
  exchange: Exchange,
  { error, headers }: { error: RenderedError; headers: Record<string, string> },
): Answer {
  const { operation, sandbox } = exchange;
  const context = {
    trace_id: exchange.id,
    timestamp: new Date(exchange.at).toISOString(),
    spellings: operation?.spellings,
  };
  const { body, content_type } = operation?.renderError?.(error, context) ?? {
    body: renderError(
      error,
      getEnvelope(error, operation?.envelope ?? "A", sandbox.settings.auth_errors),
      context,
    ),
    content_type: "application/json",
  };
  return {
    status: error.status,
    headers,
    content_type: content_type === "application/json" ? JSON_TYPE : content_type,
    // `details.value` may be a number that JavaScript cannot represent exactly (G08).
    body: isLosslessNumber(error.details["value"]) ? stringify(body)! : JSON.stringify(body),
  };
}

/** Understudy's own refusal of a request, never the emulated API's (RFC 9457). `status` is that of the kind unless given. */
export function toProblemAnswer(
  kind: ProblemKind,
  detail: string,
  { status = PROBLEMS[kind].status, ...members }: Partial<ProblemBody> = {},
): Answer {
  const { title } = PROBLEMS[kind];
  const body = JSON.stringify({ type: `${PROBLEM_TYPE}${kind}`, title, status, detail, ...members });
  return { status, headers: {}, content_type: "application/problem+json", body };
}

/**
 * An answer that does not match its declaration is a defect of ours: the transaction is dropped and the client gets a
 * 500. Optional, since the check costs more than the handler of a small request; all our tests enable it.
 */
export function checkResponse(operation: AnyDeclaration, value: unknown): void {
  if ((operation as AnyOperation).checksAnswers === false) return;
  const successes = listSuccesses(operation);
  const reply = value instanceof Reply ? value : undefined;
  const status = reply?.status ?? successes[0]!.status;
  const body = reply ? reply.body : value;
  if (body instanceof RawBody || body instanceof StreamBody || status >= 300) return;
  const success = successes.find((candidate) => candidate.status === status);
  if (success === undefined) throw new Error(`${operation.id} answered an undeclared status ${status}`);
  if (success.schema === undefined) return;
  const validate = toValidator(success.schema);
  if (!validate(body)) {
    const { instancePath, message } = validate.errors![0]!;
    throw new Error(
      `${operation.id} answered a body that does not fit its schema: ${instancePath} ${message}`,
    );
  }
}
