import { type HttpHandler, http, passthrough } from "msw";
import { CONNECTION_HEADER } from "../engine/contract/header-fields.ts";
import { escapeRegExp } from "../engine/contract/text.ts";
import { IN_PROCESS_ORIGIN } from "../hosts/fetch/create-fetch.ts";
import { API_PATHS, requireKnownOptions, showValue } from "./options.ts";
import type { SandboxClient } from "./sandbox.ts";

/** The sandbox of a test, or only its base URL, for example in a page. */
export interface SandboxAddress {
  readonly url: string;
}

export interface HandlersOptions {
  /** The address that the code under test calls in production, such as `https://api.example.com`, with or without a base path. */
  origin: string;
}

// The original `fetch`, read at import: tests that count calls of `fetch` must not count these.
const { fetch } = globalThis;

/**
 * Handlers for the `setupServer` and `setupWorker` of MSW 2 and 3 (interfaces.md 13): the sandbox answers requests to the
 * origin, with all headers and the body. Place them last: the first handler that matches answers.
 * @throws TypeError for an invalid sandbox or origin, or an option that does not exist
 */
export function handlersFor(sandbox: SandboxAddress, options: HandlersOptions): HttpHandler[] {
  const { from, to } = checkArguments(sandbox, options);
  const isInProcess = to.origin === IN_PROCESS_ORIGIN;
  const send = isInProcess ? (sandbox as SandboxClient).fetch : fetch;
  // URLs in answers, such as upload URLs, point to the server itself.
  const direct = http.all(matchBelow(to.origin), ({ request }) =>
    isInProcess ? forwardRequest(request, { send, base: to.origin, to: to.origin }) : passthrough(),
  );
  const base = from.href.replace(/\/$/, "");
  if (base === to.href.replace(/\/$/, "")) return [direct];
  // On the origin of the page, and of the server itself, only these paths belong to the API.
  const { location } = globalThis as { location?: { origin: string } };
  const isShared = from.origin === to.origin || from.origin === location?.origin;
  const forwarding = (isShared ? API_PATHS : [""]).map((path) =>
    http.all(matchBelow(base + path), ({ request }) =>
      forwardRequest(request, { send, base, to: sandbox.url }),
    ),
  );
  return [...forwarding, direct];
}

/** Matches the URL and every URL below it. In a text, MSW would read `[::1]`, `(` and `*` as a pattern. */
function matchBelow(url: string): RegExp {
  return new RegExp(`^${escapeRegExp(url)}(/|$)`);
}

/**
 * Sends the body as bytes, since browsers stream it over HTTP/2 only, and no headers of a connection, which `fetch`
 * refuses. A connection that breaks, an unreachable server, a request that its caller aborts, and a body that cannot be
 * read are network errors, as they are in production.
 */
async function forwardRequest(
  request: Request,
  { send, base, to }: { send: typeof fetch; base: string; to: string },
): Promise<Response> {
  const { method, signal } = request;
  // MSW follows the redirects of an answer itself, also to the origins of other handlers.
  const redirect = to.startsWith(IN_PROCESS_ORIGIN) ? "manual" : request.redirect;
  const headers = [...request.headers].filter(([name]) => !CONNECTION_HEADER.test(name));
  const url = to.replace(/\/$/, "") + request.url.slice(base.length);
  try {
    const body = method === "GET" || method === "HEAD" ? undefined : await request.clone().arrayBuffer();
    return await send(url, { method, headers, redirect, signal, ...(body?.byteLength ? { body } : {}) });
  } catch {
    return Response.error();
  }
}

function checkArguments(sandbox: unknown, options: unknown): { from: URL; to: URL } {
  const { url } = (sandbox ?? {}) as Partial<SandboxAddress>;
  if (typeof url !== "string" || !URL.canParse(url))
    throw new TypeError(
      `handlersFor takes a sandbox first, or { url } of one; it was given ${showValue(sandbox)}`,
    );
  if (typeof options !== "object" || options === null)
    throw new TypeError(
      `handlersFor needs { origin }, what your code calls; it was given ${showValue(options)}`,
    );
  requireKnownOptions("handlersFor", options, ["origin"]);
  const { origin } = options as Partial<HandlersOptions>;
  const from = typeof origin === "string" && URL.canParse(origin) ? new URL(origin) : undefined;
  if (from === undefined || !/^https?:\/\/[^/@*?#]+(\/[^?#]*)?$/.test(from.href))
    throw new TypeError(
      `handlersFor's option origin is an address such as "https://api.example.com"; it was given ${showValue(origin)}`,
    );
  return { from, to: new URL(url) };
}
