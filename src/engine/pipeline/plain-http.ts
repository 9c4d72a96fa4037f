import { toHex } from "../bytes.ts";
import { normalizePath } from "../contract/http-url.ts";
import type { RequestHeaders } from "../contract/operation.ts";
import { hmac, randomHex } from "../platform.ts";
import type { WireFault } from "../sandbox/fault-types.ts";

/** A request in the form in which a host gives it to the engine. */
export interface PlainRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: RequestHeaders;
  /** Name, value, name, value … as the client sent them. */
  readonly rawHeaders: readonly string[];
  /** Can be read once. @throws ClientGoneError if the client leaves before its end */
  readonly body: AsyncIterable<Uint8Array>;
  /** How the client reaches the server. */
  readonly site: Site;
  /** Aborts with a ClientGoneError when the client leaves, or the answer has been sent. */
  readonly signal: AbortSignal;
}

/** How a client reaches the server: the base of every URL that its answers contain (interfaces.md 3 and 16). */
export interface Site {
  /** The sandbox that is addressed without prefix and header; undefined if that is `default`. */
  readonly sandboxName: string | undefined;
  /** Base URL of `default`, or of the only sandbox that this port serves. */
  readonly url: string;
  /** The only sandbox that this port serves; undefined for the server's own port. */
  readonly onlySandbox: string | undefined;
  /** Base URL of a sandbox. @param hasPrefix whether the path names the sandbox even if that is not needed */
  baseUrl(sandbox: string, hasPrefix?: boolean): string;
  /** The sandbox's own origin; null if it has none. */
  findOrigin(sandbox: string): string | null;
}

/** The base URL of a sandbox: with the prefix of interfaces.md 3, which `unprefixedName` has only if `hasPrefix` is true. */
export function toBaseUrl(
  url: string,
  sandbox: string,
  unprefixedName = "default",
  hasPrefix = false,
): string {
  return sandbox === unprefixedName && !hasPrefix ? url : `${url}/_s/${sandbox}`;
}

/** Creates a site without names or ports for sandboxes. */
export function toSite(url: string): Site {
  return {
    sandboxName: undefined,
    onlySandbox: undefined,
    url,
    baseUrl: (sandbox, hasPrefix) => toBaseUrl(url, sandbox, "default", hasPrefix),
    findOrigin: () => null,
  };
}

/** Parts of another server's answer that are sent as they came. */
export interface ForwardedParts {
  reason: string;
  /** Name, value, name, value … */
  headers: readonly string[];
  /** The same; complete after the body. */
  trailers: () => readonly string[];
}

/** The answer of an operation, a refusal or a fault, before `completeAnswer` adds the headers that all answers have. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string>>;
  content_type: string | undefined;
  body: string | Uint8Array | undefined;
  /** Parts of another server's answer, which is sent with its own headers alone. */
  forwarded?: ForwardedParts;
  stream?: (signal: AbortSignal) => AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;
  /** The value of X-Sandbox-Decision if nothing else decided. */
  decision?: string | undefined;
}

/** An answer as the engine gives it to a host, with every header. */
export interface CompleteAnswer {
  status: number;
  /** Name, value, name, value … in the order in which they are sent. */
  headers: string[];
  body: string | Uint8Array | undefined;
  /** Size of `body` in bytes. */
  length: number;
  /** Instead of `body`: produces it piece by piece, until the signal aborts. */
  stream: ((signal: AbortSignal) => AsyncIterable<string | Uint8Array>) | undefined;
  /** Whether each piece of `stream` consists of whole server-sent events, between which comments may be sent. */
  has_events: boolean;
  /** The wire fault with which the host sends the answer. */
  wire: InjectedWire | undefined;
  /** The reason phrase and the trailers of another server's answer. */
  forwarded?: ForwardedParts;
}

export interface InjectedWire {
  fault: WireFault;
  /** Wall milliseconds over which the fault spreads the answer. */
  over_ms: number;
  /** Ends a fault that keeps the connection open. */
  ended: AbortSignal | undefined;
}

/** A request as it goes over the connection. */
export interface WireRequest {
  method: string;
  target: string;
  headers: readonly (readonly string[])[];
  body: Uint8Array | undefined;
}

/** An answer as it came over the connection. */
export interface WireAnswer {
  status: number;
  /** Name, value, name, value … */
  headers: readonly string[];
  body: Uint8Array;
}

/** Sends a request to this server, as a client would; rejects if the answer is broken. */
export type SendToSelf = (request: WireRequest, signal?: AbortSignal) => Promise<WireAnswer>;

/** The host could not open a port. */
export class NoPortError extends Error {
  override readonly name = "NoPortError";
}

/** The client left before its request was complete; no answer can reach it. */
export class ClientGoneError extends Error {
  override readonly name = "ClientGoneError";
}

/** The sandbox that a request is for, and its path there. */
export interface Address {
  sandbox: string;
  /** Without sandbox prefix and query. */
  path: string;
  query: string;
  /** Whether the path named the sandbox, as in `/_s/NAME/v1/models`. */
  hasPrefix: boolean;
}

/** Header of a repeated request: a signature, then the base of the URLs in the first answer. */
export const BASE_HEADER = "x-sandbox-base";
/** The key of the signatures in `BASE_HEADER`, which no client knows. */
let baseKey: string | undefined;

/** The nodes of a fleet share a key, since a request may be repeated into another node's sandbox. */
export function setBaseKey(key: string): void {
  baseKey = key;
}

/** The headers by which a repeated request is answered with URLs of this base again. */
export function toBaseHeaders(base: string | undefined): [string, string][] {
  return base === undefined ? [] : [[BASE_HEADER, `${signBase(base)} ${base}`]];
}

/** The base of the URLs in the first answer, if this is a repeated request. */
export function findOriginalBase({ [BASE_HEADER]: sent }: RequestHeaders): string | undefined {
  const [signature, base] = String(sent).split(" ");
  return base !== undefined && signature === signBase(base) ? base : undefined;
}

function signBase(base: string): string {
  baseKey ??= randomHex(32);
  return toHex(hmac("sha256", baseKey, `${BASE_HEADER} ${base}`));
}

const NAMED_PATH = /^\/_s\/([^/]*)(.*)$/;

/** Finds the sandbox by the path's prefix, else by `X-Sandbox` (interfaces.md 3), else by the host or port (interfaces.md 16). */
export function readAddress({ target, headers, site }: PlainRequest): Address {
  const { path, query } = splitTarget(target);
  const [, name, rest] = (path.startsWith("/_s/") && NAMED_PATH.exec(path)) || [];
  if (name !== undefined) return { sandbox: normalizePath(name), path: rest || "/", query, hasPrefix: true };
  const headerName = headers["x-sandbox"] as string | undefined;
  return { sandbox: headerName ?? site.sandboxName ?? "default", path: path || "/", query, hasPrefix: false };
}

export function splitTarget(target: string): { path: string; query: string } {
  const queryStart = target.indexOf("?");
  if (queryStart < 0) return { path: target, query: "" };
  return { path: target.slice(0, queryStart), query: target.slice(queryStart + 1) };
}
