import type { Head } from "../../hosts/node/head.ts";
import type { Settings } from "../contract/settings.ts";
import type { RateState } from "../sandbox/rate-windows.ts";
import type { Exchange } from "./exchange.ts";

/** Section 9: the date form of a version; the emulated API's, not the product's. */
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
  "api-key, X-API-Key, Authorization, Content-Type, Content-Range, If-None-Match, If-Modified-Since, Last-Event-ID, Prefer, X-Sandbox, X-Sandbox-Fault, X-Sandbox-Delay";

/** What the head of every answer tells (sections 8 and 9). */
export function standardHead(exchange: Exchange): Head {
  const { decision, organization, rate } = exchange;
  const duration = Math.round(performance.now() - exchange.started);
  let lines = `service-api-version: ${SERVICE_API_VERSION}\r\nx-request-id: ${exchange.id}\r\nservice-processing-ms: ${duration}\r\n`;
  const headers: string[] = [];
  // Names of rules and scenarios are their authors'.
  if (decision === "ok") lines += "X-Sandbox-Decision: ok\r\n";
  else headers.push("X-Sandbox-Decision", decision);
  if (organization !== undefined) headers.push("service-organization", organization);
  if (rate !== undefined) lines += rateLines(rate, exchange);
  const origin = exchange.request.headers.origin;
  if (origin !== undefined) corsHeaders(exchange, origin, headers);
  return { lines, headers };
}

function rateLines(rate: RateState, { at, sandbox }: Exchange): string {
  const family = sandbox.settings.rate_headers;
  const remaining = wholeText(rate.remaining);
  const wait = secondsUntil(rate.reset, at);
  const place = (rate.limit ^ wait) & (PLACES - 1);
  let text = rateTexts[place];
  if (text?.limit !== rate.limit || text.reset !== rate.reset || text.wait !== wait)
    text = rateTexts[place] = new RateText(rate, wait);
  const { plain, alternative, end } = text;
  const plainly = family === "alternative" ? "" : plain[0] + remaining + plain[1];
  if (family === "plain") return plainly;
  return plainly + alternative[0] + remaining + alternative[1] + wholeText(rate.token_remaining) + end;
}

/** What all answers of a key tell alike within a second, between the numbers in which they differ. */
class RateText {
  readonly limit: number;
  readonly reset: number;
  readonly wait: number;
  readonly plain: readonly [string, string];
  readonly alternative: readonly [string, string];
  readonly end: string;

  constructor({ limit, reset, token_limit }: RateState, wait: number) {
    this.limit = limit;
    this.reset = reset;
    this.wait = wait;
    const left = durationText(wait);
    this.plain = [
      `X-RateLimit-Limit: ${limit}\r\nX-RateLimit-Remaining: `,
      `\r\nX-RateLimit-Reset: ${Math.ceil(reset / 1000)}\r\n`,
    ];
    this.alternative = [
      `x-ratelimit-limit-requests: ${limit}\r\nx-ratelimit-remaining-requests: `,
      `\r\nx-ratelimit-reset-requests: ${left}\r\nx-ratelimit-limit-tokens: ${token_limit}\r\nx-ratelimit-remaining-tokens: `,
    ];
    this.end = `\r\nx-ratelimit-reset-tokens: ${left}\r\n`;
  }
}

/** The latest of each place; a key's limit says its tokens' too. */
const PLACES = 64;
const rateTexts: (RateText | undefined)[] = new Array(PLACES).fill(undefined);

/** V8 keeps the texts of so many numbers that those which count down would live until the old generation has them. */
function wholeText(whole: number): string {
  if (whole < LAST_DIGITS.length) return String(whole);
  return String(Math.floor(whole / LAST_DIGITS.length)) + LAST_DIGITS[whole % LAST_DIGITS.length];
}
const LAST_DIGITS = Array.from({ length: 1000 }, (_, last) => String(last).padStart(3, "0"));

export function secondsUntil(instant: number, now: number): number {
  return Math.max(1, Math.ceil((instant - now) / 1000));
}

/** G07: `41s`, `1m0s`. */
function durationText(seconds: number): string {
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

function originAllowed(origin: string, configured: readonly string[]): boolean {
  if (configured.includes(origin) || configured.includes("*")) return true;
  let host: string;
  try {
    host = new URL(origin).hostname;
  } catch {
    return false;
  }
  return host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

function corsHeaders({ sandbox }: Exchange, origin: string, headers: string[]): void {
  headers.push("Vary", "Origin");
  if (!originAllowed(origin, sandbox.settings.cors_origins)) return;
  headers.push("Access-Control-Allow-Origin", origin, "Access-Control-Expose-Headers", EXPOSED_HEADERS);
  if (sandbox.settings.cors_credentials === "on") headers.push(...CREDENTIALS_ALLOWED);
}

const CREDENTIALS_ALLOWED = ["Access-Control-Allow-Credentials", "true"] as const;

/** The answer to a preflight (G30), or undefined where the origin is not allowed. */
export function preflightHeaders(
  { origin, asked }: { origin: string; asked: string | undefined },
  { cors_origins, cors_headers, cors_credentials }: Settings,
): Record<string, string> | undefined {
  if (!originAllowed(origin, cors_origins)) return undefined;
  const own = cors_headers.includes("*") ? [asked ?? ""] : cors_headers;
  return {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers": [ALLOWED_HEADERS, ...own.filter((name) => name !== "")].join(", "),
    ...(cors_credentials === "on" && Object.fromEntries([CREDENTIALS_ALLOWED])),
    "Access-Control-Expose-Headers": EXPOSED_HEADERS,
    "Access-Control-Max-Age": "600",
    Vary: "Origin",
  };
}
