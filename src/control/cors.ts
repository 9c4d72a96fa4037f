import type { IncomingMessage, ServerResponse } from "node:http";

const METHODS = "GET, POST, PUT, PATCH, DELETE";
const REQUEST_HEADERS = "Authorization, Content-Type, Last-Event-ID, X-Sandbox";

/** For a source that the guard has let pass: a page on loopback may read what it asked for. */
export function corsHeaders(request: IncomingMessage): Record<string, string> {
  const { origin } = request.headers;
  return origin === undefined
    ? {}
    : {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Expose-Headers": "Content-Disposition, Location, WWW-Authenticate",
        Vary: "Origin",
      };
}

/** Answers a preflight of an allowed source; false for any other request. */
export function preflight(request: IncomingMessage, response: ServerResponse): boolean {
  const { origin } = request.headers;
  if (request.method !== "OPTIONS" || origin === undefined) return false;
  response.writeHead(204, {
    ...corsHeaders(request),
    "Access-Control-Allow-Methods": METHODS,
    "Access-Control-Allow-Headers": REQUEST_HEADERS,
    "Access-Control-Max-Age": "600",
  });
  response.end();
  return true;
}
