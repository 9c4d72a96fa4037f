import { STATUS_CODES } from "node:http";
import * as zlib from "node:zlib";
import { type Static, Type } from "typebox";
import { countUtf8Bytes } from "../../engine/bytes.ts";
import { ClosedObject, Timestamp } from "../../engine/contract/schema.ts";
import { isFormType } from "../../engine/contract/secret-names.ts";
import { toPairs } from "../../engine/maps.ts";
import { redactBrokenJson, redactHeader, redactJson, redactQuery, redactText } from "../redact.ts";

/** Headers and body of a request or an answer, for schemas that add more fields. */
export const MASKED_MESSAGE = {
  headers: Type.Array(ClosedObject({ name: Type.String(), value: Type.String() }), {
    description: "As sent, secrets masked",
  }),
  body: Type.Optional(
    Type.Unknown({
      description: "JSON as a value, text as text, `{bytes}` for anything else; secrets masked",
    }),
  ),
};
export const MaskedMessage = ClosedObject(MASKED_MESSAGE);
export type MaskedMessage = Static<typeof MaskedMessage>;

/**
 * Masks a message's secrets, and shows its body without the content coding.
 * @param rawHeaders name, value, name, value … as sent
 */
export function maskMessage(
  rawHeaders: readonly string[],
  sentBody: Uint8Array | string | undefined,
): MaskedMessage {
  const headers = maskHeaders(rawHeaders);
  const bytes = decodeBody(rawHeaders, sentBody);
  if (bytes === undefined || bytes.length === 0) return { headers };
  const text = decodeText(bytes);
  if (text === undefined) return { headers, body: { bytes: bytes.length } };
  const masked = maskText(text, findHeader(headers, "content-type") ?? "");
  return { headers, body: "json" in masked ? masked.json : masked.text };
}

function maskHeaders(rawHeaders: readonly string[]): MaskedMessage["headers"] {
  return toPairs(rawHeaders).map(([name, value]) => ({ name, value: redactHeader(name, value) }));
}

export function findRawHeader(rawHeaders: readonly string[], lowerCaseName: string): string | undefined {
  return toPairs(rawHeaders).find(([name]) => name.toLowerCase() === lowerCaseName)?.[1];
}

function findHeader(headers: MaskedMessage["headers"], lowerCaseName: string): string | undefined {
  return headers.find(({ name }) => name.toLowerCase() === lowerCaseName)?.value;
}

function maskText(text: string, type: string): { json: unknown } | { text: string } {
  if (isFormType(type)) return { text: redactQuery(text) };
  if (!/json/i.test(type)) return { text: redactBrokenJson(text) };
  try {
    return { json: redactJson(JSON.parse(text)) };
  } catch {
    return { text: redactBrokenJson(text) };
  }
}

/**
 * Undefined if the body cannot be decoded. A truncated body of gzip or deflate is decoded as far as possible.
 * @param codings of the header `Content-Encoding`, in the order in which they were applied
 */
export function decompress<B extends Uint8Array>(
  bytes: B,
  codings: string | undefined,
  maxOutputLength: number,
): B | Buffer | undefined {
  const names = (codings ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  try {
    return names.reduceRight<B | Buffer | undefined>(
      (coded, name) => coded && decodeOnce(coded, name, maxOutputLength),
      bytes,
    );
  } catch {
    return undefined;
  }
}

function decodeOnce<B extends Uint8Array>(
  bytes: B,
  coding: string,
  maxOutputLength: number,
): B | Buffer | undefined {
  const options = { maxOutputLength, finishFlush: zlib.constants.Z_SYNC_FLUSH };
  if (coding === "identity" || coding === "") return bytes;
  if (coding === "gzip" || coding === "x-gzip") return zlib.gunzipSync(bytes, options);
  // Some servers leave out the header of zlib (RFC 1950, 2.2).
  if (coding === "deflate") {
    const hasHeader =
      bytes.length > 1 && (bytes[0]! & 0x0f) === 8 && (bytes[0]! * 256 + bytes[1]!) % 31 === 0;
    return hasHeader ? zlib.inflateSync(bytes, options) : zlib.inflateRawSync(bytes, options);
  }
  if (coding === "br") return zlib.brotliDecompressSync(bytes, { maxOutputLength });
  // Node has zstd from 22.15 on.
  const { zstdDecompressSync: unzstd } = zlib as { zstdDecompressSync?: typeof zlib.brotliDecompressSync };
  return coding === "zstd" ? unzstd?.(bytes, { maxOutputLength }) : undefined;
}

/** A body that would be longer when decoded stays encoded, since a few kilobytes could expand to fill the memory. */
const MAX_DECODED_BYTES = 10 * 1024 * 1024;

/** Removes the content coding of a body; returns the body unchanged if it cannot be decoded. */
export function decodeBody<B extends Uint8Array | string | undefined>(headers: readonly string[], bytes: B) {
  const coding = findRawHeader(headers, "content-encoding");
  if (bytes === undefined || typeof bytes === "string" || coding === undefined) return bytes;
  return decompress(bytes, coding, MAX_DECODED_BYTES) ?? bytes;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decodeText(bytes: Uint8Array | string): string | undefined {
  if (typeof bytes === "string") return bytes;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

const Pair = ClosedObject({ name: Type.String(), value: Type.String() });
const None = Type.Array(Type.Object({}), { maxItems: 0 });
const Comment = Type.Optional(Type.String({ description: "Why there is no text, or only a part of it" }));
const common = {
  httpVersion: Type.String(),
  cookies: None,
  headers: Type.Array(Pair),
  headersSize: Type.Integer(),
  bodySize: Type.Integer(),
};

/** An entry of an HTTP Archive 1.2; programs may add fields that begin with `_`. */
export const HAR_ENTRY = {
  startedDateTime: Timestamp(),
  time: Type.Number(),
  request: ClosedObject({
    method: Type.String(),
    url: Type.String(),
    ...common,
    queryString: Type.Array(Pair),
    postData: Type.Optional(
      ClosedObject({ mimeType: Type.String(), text: Type.Optional(Type.String()), comment: Comment }),
    ),
  }),
  response: ClosedObject({
    status: Type.Integer({ description: "0 if the client received no answer" }),
    statusText: Type.String(),
    ...common,
    content: ClosedObject({
      size: Type.Integer(),
      mimeType: Type.String(),
      text: Type.Optional(Type.String()),
      comment: Comment,
    }),
    redirectURL: Type.String(),
  }),
  cache: ClosedObject({}),
  timings: ClosedObject({ send: Type.Number(), wait: Type.Number(), receive: Type.Number() }),
};
const HarEntry = ClosedObject(HAR_ENTRY);
export type HarEntry = Static<typeof HarEntry>;

/** A body without its content coding, as archives have it, or the recorded beginning of it. */
export interface ArchivedBody {
  /** Undefined if none was recorded. */
  bytes: Uint8Array | string | undefined;
  /** Size of the whole body in bytes; larger than `bytes` if those are only the beginning. */
  size: number;
}

export interface ArchivedExchange {
  /** Milliseconds since 1970. */
  startedAt: number;
  /** Milliseconds from the start until the request was sent. */
  send: number;
  /** Milliseconds from then until the head of the answer. */
  wait: number;
  /** Milliseconds from then until the end of the answer. */
  receive: number;
  method: string;
  /** Absolute, without query. */
  url: string;
  /** Without its question mark; "" if there is none. */
  query: string;
  /** Name, value, name, value … as sent. */
  requestHeaders: readonly string[];
  requestBody: ArchivedBody;
  /** 0 if there was no answer. */
  status: number;
  responseHeaders: readonly string[];
  responseBody: ArchivedBody;
}

/** Creates an archive's entry. Masks secrets, as in the journal, and leaves out bodies that are not text. */
export function toHarEntry(exchange: ArchivedExchange): HarEntry {
  const { startedAt, send, wait, receive, method, status } = exchange;
  const query = redactQuery(exchange.query);
  const requestHeaders = maskHeaders(exchange.requestHeaders);
  const responseHeaders = maskHeaders(exchange.responseHeaders);
  const postData = toContent(requestHeaders, exchange.requestBody);
  return {
    startedDateTime: new Date(startedAt).toISOString(),
    time: send + wait + receive,
    request: {
      method,
      url: `${redactText(exchange.url)}${query === "" ? "" : `?${query}`}`,
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: requestHeaders,
      queryString: [...new URLSearchParams(query)].map(([name, value]) => ({ name, value })),
      // In archives, -1 means unknown. The size of a request's body is known, that of an answer on the wire is not.
      headersSize: -1,
      bodySize: exchange.requestBody.size,
      ...(exchange.requestBody.size === 0 ? {} : { postData }),
    },
    response: {
      status,
      statusText: STATUS_CODES[status] ?? "",
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: responseHeaders,
      content: { size: exchange.responseBody.size, ...toContent(responseHeaders, exchange.responseBody) },
      redirectURL: findHeader(responseHeaders, "location") ?? "",
      headersSize: -1,
      bodySize: -1,
    },
    cache: {},
    timings: { send, wait, receive },
  };
}

function toContent(headers: MaskedMessage["headers"], { bytes, size }: ArchivedBody) {
  const mimeType = findHeader(headers, "content-type") ?? "";
  if (size === 0) return { mimeType };
  if (bytes === undefined) return { mimeType, comment: `${size} bytes, not kept` };
  const decoded = decodeText(bytes);
  if (decoded === undefined) return { mimeType, comment: `${size} bytes that are not text` };
  const masked = maskText(decoded, mimeType);
  const text = "json" in masked ? JSON.stringify(masked.json) : masked.text;
  const captured = typeof bytes === "string" ? countUtf8Bytes(bytes) : bytes.length;
  return captured < size
    ? { mimeType, text, comment: `the first ${captured} of ${size} bytes` }
    : { mimeType, text };
}
