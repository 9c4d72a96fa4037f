import { ApiError, invalidInput } from "../contract/errors.ts";
import type { AnyOperation, BodySpec, Call, Identity } from "../contract/operation.ts";
import { pluralize } from "../contract/pluralize.ts";
import { TokenReply } from "../contract/reply.ts";
import type { FormSpace } from "../contract/services.ts";
import type { RateState } from "../sandbox/rate-windows.ts";
import type { Exchange } from "./exchange.ts";
import { readMultipart } from "./multipart.ts";
import { parseJson, readBody } from "./read-body.ts";
import { ReceivedCall } from "./received-call.ts";
import { secondsUntil } from "./response-headers.ts";
import type { Router } from "./router.ts";
import { type Judging, validateForm, validateJson, validateParams, validateQuery } from "./validate.ts";

/** @throws ApiError RESOURCE_NOT_FOUND, METHOD_NOT_ALLOWED (G04) */
export function matchOperation(router: Router, exchange: Exchange): void {
  const match = router.find(exchange.method, exchange.path);
  if (match === undefined) {
    const allowed = router.allowed(exchange.path);
    if (allowed.length > 0)
      throw new ApiError("METHOD_NOT_ALLOWED", { headers: { Allow: allowed.join(", ") } });
    throw new ApiError("RESOURCE_NOT_FOUND", {
      message: "There is no such endpoint.",
      system_message: `No operation answers ${exchange.method} ${exchange.path}; \`understudy openapi\` lists those that do.`,
      details: { path: exchange.path },
    });
  }
  exchange.operation = match.operation;
  exchange.params = match.params;
}

/**
 * G32: the organization of the path if it names one, else the key's current one. What is no identifier
 * names none, and must not reach the header either.
 */
export function organizationOf({ params, identity }: Exchange): string | undefined {
  const named = params["organization_id"] ?? params["org_id"];
  if (named !== undefined && ORGANIZATION.test(named)) return named;
  return identity?.principal.organization_id;
}
const ORGANIZATION = /^org_[A-Za-z0-9_-]{1,120}$/;

/** @throws ApiError AUTHENTICATION_REQUIRED (section 5) */
export function judgeCredentials(exchange: Exchange): void {
  if (exchange.identity?.refused) {
    // From here on nobody calls: neither the journal nor a header tells whose credentials they were.
    exchange.identity = undefined;
    exchange.organization = organizationOf(exchange);
  }
  if (exchange.identity === undefined && exchange.operation!.credentials !== false) {
    throw new ApiError("AUTHENTICATION_REQUIRED");
  }
}

/** @throws ApiError RATE_LIMIT_EXCEEDED (section 8, G05) */
export function countRequest(exchange: Exchange, { principal, requests_per_minute }: Identity): void {
  const { sandbox, at } = exchange;
  requireRate(exchange, principal, sandbox.windows.count(principal.key_id, requests_per_minute, at));
}

/** @throws ApiError RATE_LIMIT_EXCEEDED where the window is used up */
export function requireRate(exchange: Exchange, principal: Call["principal"], rate: RateState): void {
  const { at } = exchange;
  exchange.rate = rate;
  if (!rate.exceeded) return;
  const retry_after_seconds = secondsUntil(rate.reset, at);
  throw new ApiError("RATE_LIMIT_EXCEEDED", {
    details: { limit: rate.limit, window_seconds: 60, retry_after_seconds },
    reason: `the key ${principal.key_id} has had its ${pluralize(rate.limit, "request")} of this minute, which ends at ${new Date(rate.reset).toISOString()} on the sandbox's clock`,
    headers: { "Retry-After": String(retry_after_seconds) },
  });
}

/** G05: where an operation refuses for the rate on purpose, as by a reply rule, the headers show a window used up. */
export function showSpentRate({ sandbox, identity, rate, at }: Exchange): RateState | undefined {
  if (identity === undefined || rate === undefined || rate.exceeded) return rate;
  return sandbox.windows.exhausted(identity.principal.key_id, rate.limit, at);
}

/** G07: the tokens of an answer come off the budget that its own headers show. */
export function spendTokens(exchange: Exchange, value: unknown): void {
  const { sandbox, identity, rate, at } = exchange;
  if (!(value instanceof TokenReply) || identity === undefined || rate === undefined) return;
  const spending = { now: at, token_limit: rate.token_limit };
  const token_remaining = sandbox.windows.spend(identity.principal.key_id, value.tokens, spending);
  exchange.rate = { ...rate, token_remaining };
}

/** Whether its body goes straight to disk. */
export function streamsBody({ body, prepare }: AnyOperation): boolean {
  return body === undefined ? prepare !== undefined : body.kind !== "json";
}

/** The body as it arrived, read once; fault rules may have asked for it already. */
export function receiveBody(exchange: Exchange): Promise<Buffer> {
  exchange.receiving ??= readBody(exchange.request, exchange.sandbox.settings.json_limit_mb * 1024 * 1024);
  return exchange.receiving;
}

/** What a body turned out to be; nothing where the operation takes none. */
interface Received {
  /** Judges the body, after path and query. */
  body: (judging: Judging) => unknown;
  files: Call["files"];
}

const NO_FILES: Call["files"] = {};
const NOTHING_RECEIVED: Received = { body: () => undefined, files: NO_FILES };

/**
 * Readable, then well-formed: body before shape (G04), path before query before body. At once where there
 * is no body to wait for.
 * @throws ApiError INVALID_JSON, PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_INPUT
 */
export function validateCall(
  exchange: Exchange,
  formSpace: (sandbox: Exchange["sandbox"]) => FormSpace,
): ReceivedCall | Promise<ReceivedCall> {
  const spec = exchange.operation!.body;
  if (spec?.kind === "json") return receiveJson(exchange, spec);
  if (spec?.kind === "multipart") return receiveForm(exchange, spec, formSpace(exchange.sandbox));
  // A body nobody asked for is let through unread, so that the connection can be used again.
  if (spec === undefined && !exchange.request.complete) exchange.request.resume();
  return validated(exchange, NOTHING_RECEIVED);
}

async function receiveJson(
  exchange: Exchange,
  { schema, optional = false }: Extract<BodySpec, { kind: "json" }>,
): Promise<ReceivedCall> {
  exchange.body ??= await receiveBody(exchange);
  const read = parseJson(exchange.request, exchange.body, { optional });
  return validated(exchange, { body: (judging) => validateJson(schema, read, judging), files: NO_FILES });
}

async function receiveForm(
  exchange: Exchange,
  spec: Extract<BodySpec, { kind: "multipart" }>,
  space: FormSpace,
): Promise<ReceivedCall> {
  const form = await readMultipart(exchange.request, spec, { space, settings: exchange.sandbox.settings });
  const { files, cleanUp } = form;
  exchange.cleanUp = cleanUp;
  const body = (judging: Judging) => {
    const fields = validateForm(spec.fields, form, judging);
    for (const [name, file] of Object.entries(spec.files)) {
      if (file.required && files[name] === undefined) throw invalidInput(name, null, `${name} is required`);
    }
    return fields;
  };
  return validated(exchange, { body, files });
}

function validated(exchange: Exchange, { body, files }: Received): ReceivedCall {
  const operation = exchange.operation!;
  validateParams(operation, exchange.params);
  const query = validateQuery(operation, exchange.query, exchange);
  return new ReceivedCall(exchange, { query, body: body(exchange), files });
}
