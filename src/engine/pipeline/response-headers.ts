import { countUtf8Bytes } from "../bytes.ts";
import { findUnsendableHeader } from "../contract/header-fields.ts";
import { isLoopback } from "../contract/http-url.ts";
import { DEFAULT_SETTINGS, type Settings } from "../contract/settings.ts";
import { isJoinedHeader } from "../contract/text.ts";
import { toPairs } from "../maps.ts";
import { countSecondsUntil, type RateState } from "../sandbox/rate-windows.ts";
import type { Exchange } from "./exchange.ts";
import type { Answer, CompleteAnswer, PlainRequest } from "./plain-http.ts";

/** The version of the emulated API, not of the product, as a date (section 9). */
export const SERVICE_API_VERSION = "2026-03-01";

/** The headers that a page in a browser may read (G30). */
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
  // The received part of an upload (section 4.6).
  "Range",
  "X-Sandbox-Decision",
].join(", ");

const ALLOWED_HEADERS =
  "api-key, X-API-Key, Authorization, Content-Type, Content-Range, X-Goog-Hash, Content-MD5, If-None-Match, If-Modified-Since, Last-Event-ID, Prefer, X-Sandbox, X-Sandbox-Fault, X-Sandbox-Delay";

/**
 * Adds the headers that all answers of operations have (sections 8 and 9). An answer of an upstream has its own instead.
 * @throws TypeError for a header that HTTP cannot carry
 */
export function completeAnswer(exchange: Exchange, answer: Answer): CompleteAnswer {
  if (answer.forwarded !== undefined) return toUpstreamAnswer(exchange, answer);
  const { decision, organization, rate, request } = exchange;
  const headers = [
    "service-api-version",
    SERVICE_API_VERSION,
    "x-request-id",
    exchange.id,
    "service-processing-ms",
    String(Math.round(performance.now() - exchange.startedAt)),
    // Also if the request has no Origin: a cache may give this answer to a page of some origin.
    "Vary",
    "Origin",
  ];
  if (decision === "ok") headers.push("X-Sandbox-Decision", "ok");
  if (rate !== undefined) addRateHeaders(headers, rate, exchange);
  // Only the recorded order of test/determinism/recording.json has `ok` before the rate headers and the rest after them.
  if (decision !== "ok") headers.push("X-Sandbox-Decision", encodeDecision(decision));
  if (organization !== undefined) headers.push("service-organization", organization);
  const { origin } = request.headers;
  if (typeof origin === "string") addCorsHeaders(headers, origin, exchange.sandbox.settings);
  if (answer.status === 401) addChallenge(headers, answer, exchange.sandbox.settings);
  for (const name in answer.headers) {
    requireSendable(name, answer.headers[name]!);
    setHeader(headers, name, answer.headers[name]!);
  }
  return createCompleteAnswer(headers, answer);
}

/** A header of the answer replaces that of all answers: two values confuse clients, and two origins fail in browsers. */
function setHeader(headers: string[], name: string, value: string): void {
  const index = IRREPLACEABLE_HEADERS.test(name) ? -1 : findHeader(headers, name);
  if (index >= 0) headers.splice(index, 2);
  headers.push(name, value);
}

/** Users choose the names of scenarios and operations: characters that headers cannot have are percent-encoded. */
const encodeDecision = (decision: string) => decision.replace(/[^ -~]/gu, encodeURIComponent);

/** Never replaced: `Vary` is a list, and users may not hide the decision. */
const IRREPLACEABLE_HEADERS = /^(vary|x-sandbox-decision)$/i;

/** @returns the index of the name, or -1 */
function findHeader(headers: readonly string[], name: string): number {
  for (let i = 0; i < headers.length; i += 2)
    if (headers[i]!.length === name.length && headers[i]!.toLowerCase() === name.toLowerCase()) return i;
  return -1;
}

/** The upstream's answer. For a page, our CORS headers replace the upstream's, except its list of exposed headers. */
function toUpstreamAnswer({ decision, request, sandbox }: Exchange, answer: Answer): CompleteAnswer {
  const headers = ["X-Sandbox-Decision", decision];
  const { origin } = request.headers;
  if (typeof origin === "string") addCorsHeaders(headers, origin, sandbox.settings);
  const hasCors = headers.length > 2;
  const replaced = hasCors ? /^(x-sandbox-decision|access-control-(?!expose).*)$/i : /^x-sandbox-decision$/i;
  for (const [name, value] of toPairs(answer.forwarded!.headers))
    if (!replaced.test(name)) headers.push(name, value);
  return { ...createCompleteAnswer([], answer), headers, forwarded: answer.forwarded! };
}

/** An answer with these headers, and those that describe its body. */
export function createCompleteAnswer(headers: string[], answer: Answer): CompleteAnswer {
  const { status, content_type, body, stream } = answer;
  if (content_type !== undefined && findHeader(headers, "content-type") < 0)
    headers.push("Content-Type", addCharset(content_type));
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

function requireSendable(name: string, value: string): void {
  if (findUnsendableHeader({ [name]: value }) !== undefined)
    throw new TypeError(`the header ${JSON.stringify(name)} cannot be sent`);
}

function addRateHeaders(headers: string[], rate: RateState, { at, sandbox }: Exchange): void {
  const { limit, remaining, reset, token_limit, token_remaining } = rate;
  const { rate_headers: family } = sandbox.settings;
  const [limitText, remainingText] = [String(limit), String(remaining)];
  if (family !== "alternative") {
    headers.push("X-RateLimit-Limit", limitText, "X-RateLimit-Remaining", remainingText);
    headers.push("X-RateLimit-Reset", String(Math.ceil(reset / 1000)));
  }
  if (family === "plain") return;
  const wait = formatDuration(countSecondsUntil(reset, at));
  headers.push("x-ratelimit-limit-requests", limitText, "x-ratelimit-remaining-requests", remainingText);
  headers.push("x-ratelimit-reset-requests", wait, "x-ratelimit-limit-tokens", String(token_limit));
  headers.push("x-ratelimit-remaining-tokens", String(token_remaining), "x-ratelimit-reset-tokens", wait);
}

/** `41s`, `1m0s` (G07). */
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

/** Adds the challenge of a 401, unless the answer of a fault has its own (G41). */
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
  const answer = { status: 204, headers: {}, content_type: undefined, body: undefined };
  return createCompleteAnswer(headers, answer);
}

/** Understudy's own refusal of a request that reaches no sandbox. */
export interface AddressRefusal {
  status: number;
  decision: string;
  body: { error: string; sandboxes: readonly string[] | undefined; hint: string; sandbox?: string };
}

/** @param existing the names of sandboxes, oldest first, of which the newest are listed; undefined if they may not be shown */
export function describeUnknownSandbox(
  name: string,
  existing: readonly string[] | undefined,
): AddressRefusal {
  const body = {
    error: "unknown sandbox",
    sandbox: name.slice(0, 100),
    sandboxes: existing?.slice(-MAX_LISTED),
    hint: isJoinedHeader(name)
      ? "X-Sandbox was sent twice"
      : "create it with POST /_control/sandboxes; to use `default`, omit the prefix, the header X-Sandbox and the name before `.localhost`",
  };
  return { status: 404, decision: "unknown-sandbox", body };
}

/**
 * For a request that names no sandbox, where each test has a sandbox of its own: in `default`, tests would change each
 * other's world (interfaces.md 16).
 */
export function describeNoSandbox(existing: readonly string[] | undefined): AddressRefusal {
  const body = {
    error: "no sandbox named",
    sandboxes: existing?.filter((name) => name !== "default").slice(-MAX_LISTED),
    hint: 'each test has its own sandbox here, and `default` answers nothing. The path of a base URL was probably dropped, as `new URL("/v1/models", base)` does: use the sandbox\'s `origin`, which has no path, or append to its `base_url`',
  };
  return { status: 421, decision: "no-sandbox", body };
}

/** For a request to the port of one sandbox that names another (interfaces.md 16). */
export function describeMisdirected(sandbox: string): AddressRefusal {
  const body = {
    error: "misdirected request",
    sandboxes: [sandbox],
    hint: `this port serves the sandbox ${sandbox} alone; call another at its own address`,
  };
  return { status: 421, decision: "misdirected", body };
}

const MAX_LISTED = 20;

/**
 * Refuses a request that reaches no sandbox. A page can read why: its preflight succeeds, whatever it asks for.
 * @param settings of the sandbox, if it exists
 */
export function refuseAddress(
  { status, decision, body }: AddressRefusal,
  request: PlainRequest,
  settings: Settings = DEFAULT_SETTINGS,
): CompleteAnswer {
  const preflight = answerPreflight(request, { ...settings, cors_headers: ["*"] });
  if (preflight !== undefined) return preflight;
  const headers = ["Vary", "Origin"];
  const { origin } = request.headers;
  if (typeof origin === "string") addCorsHeaders(headers, origin, settings);
  const content_type = "application/json; charset=utf-8";
  const text = JSON.stringify(body);
  const answer = createCompleteAnswer(headers, { status, headers: {}, content_type, body: text });
  answer.headers.push("X-Sandbox-Decision", decision);
  return answer;
}
