import { STATUS_CODES } from "node:http";
import type { JournalEntry } from "../../sandbox/journal.ts";
import { type RenderedMessage, renderEntry } from "./render-entry.ts";

/** The journal as an HTTP Archive 1.2, secrets masked; oldest first, as archives are. */
export function harOf(
  entries: readonly JournalEntry[],
  { base_url, version }: { base_url: string; version: string },
): object {
  return {
    log: {
      version: "1.2",
      creator: { name: "Understudy", version },
      pages: [],
      entries: entries.map((entry) => harEntry(entry, base_url)),
    },
  };
}

function harEntry(entry: JournalEntry, base_url: string): object {
  const { id, at, method, path, status, duration_ms, decision, operation, request, response } =
    renderEntry(entry);
  const query = request.query;
  const sent = contentOf(request);
  const received = contentOf(response);
  return {
    startedDateTime: at,
    time: duration_ms,
    request: {
      method,
      url: `${base_url}${path}${query === "" ? "" : `?${query}`}`,
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: request.headers,
      queryString: [...new URLSearchParams(query)].map(([name, value]) => ({ name, value })),
      headersSize: -1,
      bodySize: entry.request_body?.length ?? 0,
      ...(sent.text === undefined ? {} : { postData: { mimeType: sent.type, text: sent.text } }),
    },
    response: {
      status,
      statusText: STATUS_CODES[status] ?? "",
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: response.headers,
      content: {
        size: entry.response_body === undefined ? 0 : Buffer.byteLength(entry.response_body),
        mimeType: received.type,
        ...(received.text === undefined ? {} : { text: received.text }),
      },
      redirectURL: headerOf(response, "location") ?? "",
      headersSize: -1,
      bodySize: -1,
    },
    cache: {},
    timings: { send: 0, wait: duration_ms, receive: 0 },
    _id: id,
    _operation: operation,
    _decision: decision,
  };
}

function contentOf(message: RenderedMessage): { type: string; text: string | undefined } {
  const { body } = message;
  const type = headerOf(message, "content-type") ?? "";
  return { type, text: body === undefined || typeof body === "string" ? body : JSON.stringify(body) };
}

function headerOf({ headers }: RenderedMessage, wanted: string): string | undefined {
  return headers.find(({ name }) => name.toLowerCase() === wanted)?.value;
}
