import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { isLoopback } from "../engine/contract/http-url.ts";
import { clip } from "../engine/contract/text.ts";
import { toPairs } from "../engine/maps.ts";
import { Problem } from "./problem.ts";

/** A part of the product that answers below a prefix beginning with `/_`. */
export interface Mount {
  /** Such as `/_console`; answers that path and everything below it. */
  prefix: string;
  /**
   * `token`: allowed sources only, and the control token in shared mode. `source`: allowed sources only (static
   * pages hold no secret). `open`: anyone, as for receivers, which represent a partner's endpoint.
   */
  access: "token" | "source" | "open";
  /** `path` includes the prefix, but no query. */
  handle: (request: IncomingMessage, response: ServerResponse, path: string) => void | Promise<void>;
}

interface GuardOptions {
  /** Names, or names with a port, that Host and Origin may have in addition to loopback (`--allow-host`). */
  allowHosts?: readonly string[] | undefined;
  /** The server's public URL, whose host and port are allowed too. */
  publicUrl?: string | undefined;
  /** Required in shared mode (interfaces.md 7); undefined in local mode. */
  token: string | undefined;
}

export interface Guard {
  /**
   * Checks Host and Origin. Neither a page of another site can fake them, nor one that reaches this server by DNS
   * rebinding.
   * @throws Problem 403
   */
  requireAllowedSource(request: IncomingMessage): void;
  /**
   * Checks the Host of browsers only (interfaces.md 3): by DNS rebinding, a foreign page would have the server's origin,
   * and could call the API, since the keys of the shipped fixtures are public.
   * @throws Problem 403
   */
  requireAllowedBrowser(request: IncomingMessage): void;
  /** Whether the URL may be this server's: a loopback or allowed name, with this port or none, or the public URL's host. */
  isOwn(url: URL, port: number): boolean;
  /** @throws Problem 401 */
  requireToken(request: IncomingMessage): void;
}

const MIN_TOKEN_LENGTH = 16;

/** The reason why a control token is refused, as the end of a sentence: it can be guessed, or cannot be sent. */
export function findTokenProblem(token: string): string | undefined {
  if (!/^[\x21-\x7e]*$/.test(token)) return "must be printable ASCII without spaces, as a header carries it";
  if (token.length >= MIN_TOKEN_LENGTH) return undefined;
  return `must have at least ${MIN_TOKEN_LENGTH} characters, not ${token.length}; omit it to have one generated`;
}

/**
 * Creates the guard that decides which clients may call the control API and the console (interfaces.md 7).
 * @throws Error for an invalid token, and for a host that no Host header can equal
 */
export function createGuard({ allowHosts = [], publicUrl, token }: GuardOptions): Guard {
  const publicHost = publicUrl === undefined ? undefined : new URL(publicUrl).host;
  const problem = token === undefined ? undefined : findTokenProblem(token);
  if (problem !== undefined) throw new Error(`the control token ${problem}`);
  const allowed = [...allowHosts, ...(publicHost === undefined ? [] : [publicHost])].map(parseAllowed);
  const accepts = (authority: Authority | undefined): boolean =>
    authority !== undefined &&
    (isLoopback(authority.host) || allowed.some((entry) => covers(entry, authority)));
  const expectedDigest = token === undefined ? undefined : digest(token);
  return {
    requireAllowedSource(request) {
      for (const host of listHosts(request)) {
        if (!accepts(parseAuthority(host))) throw createHostProblem(host);
      }
      const { origin } = request.headers;
      if (origin !== undefined && !accepts(parseOrigin(origin))) throw createOriginProblem(origin);
      // A page's <img> or <script> sends no Origin, but Sec-Fetch-Site says whether the page is of another site.
      if (origin === undefined && isCrossSiteLoad(request)) throw createOriginProblem("another site");
    },
    requireAllowedBrowser(request) {
      if (!isBrowser(request)) return;
      for (const host of listHosts(request)) {
        if (!accepts(parseAuthority(host))) throw createBrowserHostProblem(host);
      }
    },
    isOwn: ({ host, port: namedPort }, port) =>
      accepts(parseAuthority(host)) &&
      (host === publicHost || namedPort === "" || Number(namedPort) === port),
    requireToken(request) {
      if (expectedDigest === undefined) return;
      const sentToken = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1];
      // Digests, because timingSafeEqual throws on texts of different lengths, which would disclose the length.
      if (sentToken === undefined || !timingSafeEqual(digest(sentToken), expectedDigest))
        throw createTokenProblem(sentToken !== undefined);
    },
  };
}

/** @throws Error for an entry that no Host header can equal */
export function parseAllowed(text: string): Authority {
  const authority = parseAuthority(text) ?? parseAuthority(`[${text}]`);
  if (authority === undefined) {
    throw new Error(
      `${JSON.stringify(text)} is not a host name: write it as in \`sandbox.example.test\` or \`10.0.0.5:4747\``,
    );
  }
  return authority;
}

function covers(entry: Authority, { host, port }: Authority): boolean {
  return entry.host === host && (entry.port === undefined || entry.port === port);
}

/**
 * The names that a request is sent to: its Host, and that of its target if it is a URL. For a request without exactly one
 * Host, a text that is not a valid name, so that it is refused.
 */
function listHosts({ rawHeaders, url = "/" }: IncomingMessage): string[] {
  const hosts = toPairs(rawHeaders).flatMap(([name, value]) =>
    name.toLowerCase() === "host" ? [value] : [],
  );
  if (hosts.length !== 1) return [hosts.join(", ")];
  if (!url.startsWith("/")) hosts.push(/^https?:\/\/([^/?#]*)/i.exec(url)?.[1] ?? url);
  return hosts;
}

function isCrossSiteLoad({ headers }: IncomingMessage): boolean {
  return headers["sec-fetch-site"] === "cross-site" && headers["sec-fetch-mode"] !== "navigate";
}

/**
 * Browsers send Sec-Fetch-Site only to loopback and over TLS, and no Origin with GETs of the page's own origin. In the
 * other cases User-Agent identifies them.
 */
function isBrowser({ headers }: IncomingMessage): boolean {
  return (
    headers.origin !== undefined ||
    headers["sec-fetch-site"] !== undefined ||
    headers["user-agent"]?.startsWith("Mozilla/") === true
  );
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function createHostProblem(host: string): Problem {
  return new Problem("host-not-allowed", {
    detail:
      "The control API and the console answer requests to loopback names only. Call it as http://127.0.0.1 or http://localhost, or start the server with --allow-host and the name you use.",
    field: "Host",
    value: clip(host, 200),
  });
}

function createBrowserHostProblem(host: string): Problem {
  const name = parseAuthority(host)?.host ?? "NAME";
  return new Problem("host-not-allowed", {
    detail: `A browser sent this to a name that is not loopback. Call it as http://127.0.0.1 or http://localhost, or start the server with --allow-host ${name}. Other clients may use any name.`,
    field: "Host",
    value: clip(host, 200),
    headers: { "X-Sandbox-Decision": "host-not-allowed" },
  });
}

function createOriginProblem(origin: string): Problem {
  return new Problem("origin-not-allowed", {
    detail:
      "The control API and the console answer pages from loopback origins only. Serve the page from localhost, or start the server with --allow-host and the page's host.",
    field: "Origin",
    value: clip(origin, 200),
  });
}

function createTokenProblem(sent: boolean): Problem {
  return new Problem("token-required", {
    detail: sent
      ? "The token is not the one of this server. It was printed at its start, or set by UNDERSTUDY_TOKEN."
      : "This server is shared: send its control token as `Authorization: Bearer`. It was printed at its start, or set by UNDERSTUDY_TOKEN.",
  });
}

/** The host and port of a Host header or an origin. */
interface Authority {
  host: string;
  port: number | undefined;
}

const AUTHORITY = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::(\d{1,5}))?$/i;
const ORIGIN = /^https?:\/\/([^/?#@\s]+)$/i;

export function parseAuthority(text: string): Authority | undefined {
  const match = AUTHORITY.exec(text);
  if (match === null) return undefined;
  const port = match[2] === undefined ? undefined : Number(match[2]);
  if (port !== undefined && (port === 0 || port > 65_535)) return undefined;
  return { host: match[1]!.toLowerCase(), port };
}

/** Reads an Origin header; undefined for `null` and for schemes that no web page has. */
export function parseOrigin(origin: string): Authority | undefined {
  const match = ORIGIN.exec(origin);
  return match === null ? undefined : parseAuthority(match[1]!);
}
