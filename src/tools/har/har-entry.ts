import { STATUS_CODES } from "node:http";
import Type, { type Static } from "typebox";
import { Closed, Timestamp } from "../../engine/contract/schema.ts";
import { redactQuery, redactText } from "../redact.ts";
import { decodeText, findHeader, type ShownMessage, showMessage } from "./shown-message.ts";

const Pair = Closed({ name: Type.String(), value: Type.String() });
const None = Type.Array(Type.Object({}), { maxItems: 0 });
const Comment = Type.Optional(Type.String({ description: "Why there is no text, or only a part of it" }));
const common = {
  httpVersion: Type.String(),
  cookies: None,
  headers: Type.Array(Pair),
  headersSize: Type.Integer(),
  bodySize: Type.Integer(),
};

/** An entry of an HTTP Archive 1.2; who archives may add fields of its own, which begin with `_`. */
export const HAR_ENTRY = {
  startedDateTime: Timestamp(),
  time: Type.Number(),
  request: Closed({
    method: Type.String(),
    url: Type.String(),
    ...common,
    queryString: Type.Array(Pair),
    postData: Type.Optional(
      Closed({ mimeType: Type.String(), text: Type.Optional(Type.String()), comment: Comment }),
    ),
  }),
  response: Closed({
    status: Type.Integer({ description: "0 where the client saw none" }),
    statusText: Type.String(),
    ...common,
    content: Closed({
      size: Type.Integer(),
      mimeType: Type.String(),
      text: Type.Optional(Type.String()),
      comment: Comment,
    }),
    redirectURL: Type.String(),
  }),
  cache: Closed({}),
  timings: Closed({ send: Type.Number(), wait: Type.Number(), receive: Type.Number() }),
};
const HarEntry = Closed(HAR_ENTRY);
export type HarEntry = Static<typeof HarEntry>;

/** A body as it was sent, or as much of it as was kept. */
export interface ArchivedBody {
  bytes: Uint8Array | string | undefined;
  /** Of the whole body. */
  size: number;
}

export interface ArchivedExchange {
  /** Milliseconds since 1970. */
  at: number;
  /** Milliseconds until the request was sent, from there to the answer's head, and from there to its end. */
  send: number;
  wait: number;
  receive: number;
  method: string;
  /** Absolute, without query. */
  url: string;
  /** Without its question mark; "" where there is none. */
  query: string;
  /** Name, value, name, value … as sent. */
  requestHeaders: readonly string[];
  requestBody: ArchivedBody;
  /** 0 where no answer came. */
  status: number;
  responseHeaders: readonly string[];
  responseBody: ArchivedBody;
}

/** The one way into an archive: secrets end here, as in the journal. Bytes that are no text stay outside. */
export function harEntry(exchange: ArchivedExchange): HarEntry {
  const { at, send, wait, receive, method, status } = exchange;
  const query = redactQuery(exchange.query);
  const sent = showMessage(exchange.requestHeaders, exchange.requestBody.bytes);
  const received = showMessage(exchange.responseHeaders, exchange.responseBody.bytes);
  const posted = toContent(sent, exchange.requestBody);
  return {
    startedDateTime: new Date(at).toISOString(),
    time: send + wait + receive,
    request: {
      method,
      url: `${redactText(exchange.url)}${query === "" ? "" : `?${query}`}`,
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: sent.headers,
      queryString: [...new URLSearchParams(query)].map(([name, value]) => ({ name, value })),
      headersSize: -1,
      bodySize: exchange.requestBody.size,
      ...(exchange.requestBody.size === 0 ? {} : { postData: posted }),
    },
    response: {
      status,
      statusText: STATUS_CODES[status] ?? "",
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: received.headers,
      content: { size: exchange.responseBody.size, ...toContent(received, exchange.responseBody) },
      redirectURL: findHeader(received, "location") ?? "",
      headersSize: -1,
      bodySize: -1,
    },
    cache: {},
    timings: { send, wait, receive },
  };
}

function toContent(message: ShownMessage, { bytes, size }: ArchivedBody) {
  const mimeType = findHeader(message, "content-type") ?? "";
  if (size === 0) return { mimeType };
  if (bytes === undefined) return { mimeType, comment: `${size} bytes, not kept` };
  if (decodeText(bytes) === undefined) return { mimeType, comment: `${size} bytes that are no text` };
  const { body } = message;
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const kept = Buffer.byteLength(bytes);
  return kept < size ? { mimeType, text, comment: `the first ${kept} of ${size} bytes` } : { mimeType, text };
}
