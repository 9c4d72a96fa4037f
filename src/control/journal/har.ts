import { STATUS_CODES } from "node:http";
import Type, { type Static } from "typebox";
import { Closed, Nullable, Timestamp } from "../../contract/schema.ts";
import type { JournalEntry } from "../../sandbox/journal.ts";
import { type RenderedMessage, renderEntry } from "./render-entry.ts";

const Pair = Closed({ name: Type.String(), value: Type.String() });
const None = Type.Array(Type.Object({}), { maxItems: 0 });
const common = {
  httpVersion: Type.String(),
  cookies: None,
  headers: Type.Array(Pair),
  headersSize: Type.Integer(),
  bodySize: Type.Integer(),
};
const HarEntryBody = Closed({
  startedDateTime: Timestamp(),
  time: Type.Number(),
  request: Closed({
    method: Type.String(),
    url: Type.String(),
    ...common,
    queryString: Type.Array(Pair),
    postData: Type.Optional(Closed({ mimeType: Type.String(), text: Type.String() })),
  }),
  response: Closed({
    status: Type.Integer(),
    statusText: Type.String(),
    ...common,
    content: Closed({ size: Type.Integer(), mimeType: Type.String(), text: Type.Optional(Type.String()) }),
    redirectURL: Type.String(),
  }),
  cache: Closed({}),
  timings: Closed({ send: Type.Number(), wait: Type.Number(), receive: Type.Number() }),
  _id: Type.String(),
  _operation: Nullable(Type.String()),
  _decision: Type.String(),
});

/** HTTP Archive 1.2, for any viewer; names that begin with `_` are ours. */
export const HarBody = Closed(
  {
    log: Closed({
      version: Type.Literal("1.2"),
      creator: Closed({ name: Type.String(), version: Type.String() }),
      pages: None,
      entries: Type.Array(HarEntryBody),
    }),
  },
  {
    $id: "HttpArchive",
    examples: [
      { log: { version: "1.2", creator: { name: "Understudy", version: "0.1.0" }, pages: [], entries: [] } },
    ],
  },
);

/** The journal as an HTTP Archive, secrets masked; oldest first, as archives are. */
export function harOf(
  entries: readonly JournalEntry[],
  { base_url, version }: { base_url: string; version: string },
): Static<typeof HarBody> {
  return {
    log: {
      version: "1.2",
      creator: { name: "Understudy", version },
      pages: [],
      entries: entries.map((entry) => harEntry(entry, base_url)),
    },
  };
}

function harEntry(entry: JournalEntry, base_url: string): Static<typeof HarEntryBody> {
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
