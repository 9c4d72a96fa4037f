import { countUtf8Bytes } from "../bytes.ts";
import { findUnsendableHeader } from "../contract/header-fields.ts";
import { isLoopback } from "../contract/http-url.ts";
import type { Settings } from "../contract/settings.ts";
import { wasRepeated } from "../contract/text.ts";
import { countSecondsUntil, type RateState } from "../sandbox/rate-windows.ts";
import type { Exchange } from "./exchange.ts";
import type { Answer, CompleteAnswer, PlainRequest } from "./plain-http.ts";

/** The version of the emulated API, not of the product, as a date (section 9). */
export const SERVICE_API_VERSION = "2026-03-01";

/** G30: what a page in a browser may read. */
const EXPOSED_HEADERS = [
  "service-api-version",
  "service-organization",
  "service-processing-ms",
  "x-request-id",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "x-ratelimit-limit-requests",
  "x-ratelimit-remaining-requests",
  "x-ratelimit-reset-requests",
  "x-ratelimit-limit-tokens",
  "x-ratelimit-remaining-tokens",
  "x-ratelimit-reset-tokens",
  "Retry-After",
  "WWW-Authenticate",
  "ETag",
  "Last-Modified",
  "Content-Disposition",
  "X-Provider",
  "X-Provider-Request-Id",
  "X-Provider-Credits-Consumed",
  "X-PII-Redacted",
  "X-PII-Policies",
  // 4.6: how much of an upload has arrived.
  "Range",
  "X-Sandbox-Decision",
].join(", ");

const ALLOWED_HEADERS =
  "api-key, X-API-Key, Authorization, Content-Type, Content-Range, X-Goog-Hash, Content-MD5, If-None-Match, If-Modified-Since, Last-Event-ID, Prefer, X-Sandbox, X-Sandbox-Fault, X-Sandbox-Delay";

/**
 * Adds the headers that all answers of operations have (sections 8 and 9); those of an upstream keep their own.
 * @throws TypeError for a header that HTTP cannot carry
 */
export function completeAnswer(exchange: Exchange, answer: Answer): CompleteAnswer {
  if (answer.passed !== undefined) return toUpstreamAnswer(exchange, answer);
  const { decision, organization, rate, request } = exchange;
  const headers = [
    "service-api-version",
    SERVICE_API_VERSION,
    "x-request-id",
    exchange.id,
    "service-processing-ms",
    String(Math.round(performance.now() - exchange.startedAt)),
    // Also without an Origin header, since a cache may give the answer to a page.
    "Vary",
    "Origin",
  ];
  if (decision === "ok") headers.push("X-Sandbox-Decision", "ok");
  if (rate !== undefined) addRateHeaders(headers, rate, exchange);
  // After the rate headers, the order that test/determinism/recording.json has.
  if (decision !== "ok") headers.push("X-Sandbox-Decision", decision);
  if (organization !== undefined) headers.push("service-organization", organization);
  const { origin } = request.headers;
  if (typeof origin === "string") addCorsHeaders(headers, origin, exchange.sandbox.settings);
  if (answer.status === 401) addChallenge(headers, answer, exchange.sandbox.settings);
  // Users write the names of rules and scenarios, and the headers of faults.
  if (decision !== "ok") requireValue("X-Sandbox-Decision", decision);
  for (const name in answer.headers) {
    requireValue(name, answer.headers[name]!);
    headers.push(name, answer.headers[name]!);
  }
  return addBody(headers, answer);
}

/** An answer with the upstream's headers; for a page, our CORS headers replace the upstream's. */
function toUpstreamAnswer({ decision, request, sandbox }: Exchange, answer: Answer): CompleteAnswer {
  const headers = ["X-Sandbox-Decision", decision];
  const { origin } = request.headers;
  if (typeof origin === "string") addCorsHeaders(headers, origin, sandbox.settings);
  const [upstreamHeaders, hasCors] = [answer.passed!.headers, headers.length > 2];
  for (let i = 0; i < upstreamHeaders.length; i += 2)
    if (
      !(hasCors && /^access-control-/i.test(upstreamHeaders[i]!)) &&
      !/^x-sandbox-decision$/i.test(upstreamHeaders[i]!)
    )
      headers.push(upstreamHeaders[i]!, upstreamHeaders[i + 1]!);
  return { ...addBody([], answer), headers, passed: answer.passed! };
}

/** Adds the headers that describe the body. */
export function addBody(headers: string[], { status, content_type, body, stream }: Answer): CompleteAnswer {
  if (content_type !== undefined) headers.push("Content-Type", addCharset(content_type));
  const length = body === undefined ? 0 : typeof body === "string" ? countUtf8Bytes(body) : body.length;
  if (stream === undefined && status !== 204 && status !== 304)
    headers.push("Content-Length", String(length));
  return {
    status,
    headers,
    body,
    length,
    stream: stream as CompleteAnswer["stream"],
    has_events: content_type?.startsWith("text/event-stream") === true,
    wire: undefined,
  };
}

/** Clients such as Python's requests read text without a charset as Latin-1. */
function addCharset(content_type: string): string {
  return /^text\/[^;]+$/.test(content_type) ? `${content_type}; charset=utf-8` : content_type;
}

function requireValue(name: string, value: string): void {
  if (findUnsendableHeader({ [name]: value }) !== undefined)
    throw new TypeError(`the header ${JSON.stringify(name)} cannot be sent`);
}

function addRateHeaders(headers: string[], rate: RateState, { at, sandbox }: Exchange): void {
  const { limit, remaining, reset, token_limit, token_remaining } = rate;
  const { rate_headers: family } = sandbox.settings;
  const [limitText, remainingText] = [String(limit), String(remaining)];
  if (family !== "alternative") {
    const end = String(Math.ceil(reset / 1000));
    headers.push(
      "X-RateLimit-Limit",
      limitText,
      "X-RateLimit-Remaining",
      remainingText,
      "X-RateLimit-Reset",
      end,
    );
  }
  if (family === "plain") return;
  const wait = formatDuration(countSecondsUntil(reset, at));
  headers.push("x-ratelimit-limit-requests", limitText, "x-ratelimit-remaining-requests", remainingText);
  headers.push("x-ratelimit-reset-requests", wait, "x-ratelimit-limit-tokens", String(token_limit));
  headers.push("x-ratelimit-remaining-tokens", String(token_remaining), "x-ratelimit-reset-tokens", wait);
}

/** G07: `41s`, `1m0s`. */
function formatDuration(seconds: number): string {
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

function isOriginAllowed(origin: string, configured: readonly string[]): boolean {
  if (configured.includes(origin) || configured.includes("*")) return true;
  return URL.canParse(origin) && isLoopback(new URL(origin).hostname);
}

function addCorsHeaders(headers: string[], origin: string, settings: Settings): void {
  if (!isOriginAllowed(origin, settings.cors_origins)) return;
  headers.push("Access-Control-Allow-Origin", origin, "Access-Control-Expose-Headers", EXPOSED_HEADERS);
  if (settings.cors_credentials === "on") headers.push("Access-Control-Allow-Credentials", "true");
}

/** G41; the answer of a fault may have its own. */
function addChallenge(headers: string[], answer: Answer, { auth_challenge }: Settings): void {
  const hasChallenge = Object.keys(answer.headers).some((name) => name.toLowerCase() === "www-authenticate");
  if (auth_challenge === "on" && !hasChallenge) headers.push("WWW-Authenticate", 'Bearer realm="service"');
}

/** The answer to a preflight (G30), which is not a request of the sandbox; undefined for any other request. */
export function answerPreflight(request: PlainRequest, settings: Settings): CompleteAnswer | undefined {
  if (request.method !== "OPTIONS") return undefined;
  const { origin } = request.headers;
  if (typeof origin !== "string" || request.headers["access-control-request-method"] === undefined)
    return undefined;
  const headers = ["Vary", "Origin"];
  if (isOriginAllowed(origin, settings.cors_origins)) {
    const { cors_headers: configured, cors_credentials } = settings;
    const requestedHeaders = String(request.headers["access-control-request-headers"] ?? "");
    const allowedHeaders = (configured.includes("*") ? [requestedHeaders] : configured).filter(
      (name) => name !== "",
    );
    headers.push("Access-Control-Allow-Origin", origin);
    headers.push("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE");
    headers.push("Access-Control-Allow-Headers", [ALLOWED_HEADERS, ...allowedHeaders].join(", "));
    if (cors_credentials === "on") headers.push("Access-Control-Allow-Credentials", "true");
    headers.push("Access-Control-Expose-Headers", EXPOSED_HEADERS);
    headers.push("Access-Control-Max-Age", "600");
  }
  headers.push("X-Sandbox-Decision", "ok");
  return addBody(headers, { status: 204, headers: {}, content_type: undefined, body: undefined });
}

/** @param existing the names of sandboxes; undefined if they may not be shown */
export function refuseUnknownSandbox(name: string, existing: readonly string[] | undefined): CompleteAnswer {
  return refuseAddress(404, "unknown-sandbox", {
    error: "unknown sandbox",
    sandbox: name.slice(0, 100),
    sandboxes: existing?.slice(-MAX_LISTED),
    hint: wasRepeated(name)
      ? "X-Sandbox was sent twice"
      : "create it with POST /_control/sandboxes; to use `default`, omit the prefix, the header X-Sandbox and the name before `.localhost`",
  });
}

/** interfaces 16: each test has its own sandbox; without this answer, one test's requests would change another's world. */
export function refuseWithoutSandbox(existing: readonly string[] | undefined): CompleteAnswer {
  return refuseAddress(421, "no-sandbox", {
    error: "no sandbox named",
    sandboxes: existing?.filter((name) => name !== "default").slice(-MAX_LISTED),
    hint: 'each test has its own sandbox here, and `default` answers nothing. The path of a base URL was probably dropped, as `new URL("/v1/models", base)` does: use the sandbox\'s `origin`, which has no path, or append to its `base_url`',
  });
}

/** interfaces 16: for a request to the port of one sandbox that names another. */
export function refuseMisdirected(sandbox: string): CompleteAnswer {
  return refuseAddress(421, "misdirected", {
    error: "misdirected request",
    sandboxes: [sandbox],
    hint: `this port serves the sandbox ${sandbox} alone; call another at its own address`,
  });
}

const MAX_LISTED = 20;

/** Understudy's own refusal: the request reached no sandbox. */
function refuseAddress(status: number, decision: string, refusal: object): CompleteAnswer {
  const body = JSON.stringify(refusal);
  const content_type = "application/json; charset=utf-8";
  const answer = addBody([], { status, headers: {}, content_type, body });
  answer.headers.push("X-Sandbox-Decision", decision);
  return answer;
}
