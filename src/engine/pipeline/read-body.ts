import { concatBytes, EMPTY_BYTES, toUtf8 } from "../bytes.ts";
import { ApiError } from "../contract/errors.ts";
import type { PlainRequest } from "./plain-http.ts";

const MAX_JSON_DEPTH = 100;
/** Keys and list entries of a request to the emulated API; a million would block the server for a second. */
const MAX_JSON_VALUES = 100_000;

type Received = Pick<PlainRequest, "headers" | "body">;

/**
 * The whole body of a call that takes JSON.
 * @param otherTypes media types that the caller reads, too
 * @throws ApiError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE; ClientGoneError
 */
export async function readJsonBytes(
  request: Received,
  limit: number,
  otherTypes: readonly string[] = [],
): Promise<Uint8Array> {
  const { expect, "content-length": length } = request.headers;
  // A client with `Expect: 100-continue` is refused for its headers before it sends the body (RFC 9110, 10.1.1).
  const isAnnounced = expect !== undefined && Number(length) > 0 && Number(length) <= limit;
  if (isAnnounced && !hasType(request, otherTypes)) requireJson(request);
  return readBytes(request, limit);
}

/**
 * Reads a whole body into memory.
 * @throws ApiError PAYLOAD_TOO_LARGE over `limit` bytes, without reading on; ClientGoneError
 */
export async function readBytes({ headers, body }: Received, limit: number): Promise<Uint8Array> {
  if (Number(headers["content-length"] ?? 0) > limit) throw createTooLargeError(limit);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw createTooLargeError(limit);
    chunks.push(chunk);
  }
  return chunks.length > 1 ? concatBytes(chunks) : (chunks[0] ?? EMPTY_BYTES);
}

export interface JsonBody {
  value: unknown;
  /** Shows numbers as they were written; empty for a body in another format than JSON. */
  text: string;
}

/**
 * @param options.maxValues keys and list entries
 * @param options.types names of JSON that are taken beside the usual ones
 * @throws ApiError UNSUPPORTED_MEDIA_TYPE, INVALID_JSON (also for invalid UTF-8, too deep nesting and too many values)
 */
export function parseJson(
  request: Pick<PlainRequest, "headers">,
  bytes: Uint8Array,
  { maxValues = MAX_JSON_VALUES, types = [] }: { maxValues?: number; types?: readonly string[] } = {},
): JsonBody {
  if (bytes.length === 0)
    throw createInvalidJsonError("The body is empty; this operation expects a JSON document.");
  requireJson(request, types);
  const text = decodeUtf8(bytes);
  const excess = findExcess(bytes, maxValues);
  if (excess !== undefined) throw createInvalidJsonError(excess);
  try {
    return { value: JSON.parse(text), text };
  } catch (error) {
    // Newer versions of V8 also give the line, but answers are the same bytes in every host.
    throw createInvalidJsonError((error as Error).message.replace(/ \(line \d+ column \d+\)$/, ""));
  }
}

/** A body in another format than JSON. @throws ApiError UNSUPPORTED_MEDIA_TYPE, INVALID_JSON for invalid UTF-8 */
export function parseText(
  request: Pick<PlainRequest, "headers">,
  bytes: Uint8Array,
  { types, read }: { types: readonly string[]; read: (text: string) => unknown },
): JsonBody {
  requireUncompressed(request);
  const type = String(request.headers["content-type"] ?? "");
  if (!hasType(request, types))
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", {
      system_message: `Send Content-Type: ${types.join(" or ")}, not ${type === "" ? "none" : JSON.stringify(type)}.`,
    });
  const [, charset = "utf-8"] = [...type.replace(OTHER_QUOTED, "").matchAll(CHARSET)][0] ?? [];
  return { value: read(decodeText(bytes, charset)), text: "" };
}

/** The type of the body in lower case, without parameters; empty if there is none. */
export function readMediaType({ headers }: Pick<PlainRequest, "headers">): string {
  return String(headers["content-type"] ?? "")
    .split(";", 1)[0]!
    .trim()
    .toLowerCase();
}

/** Whether the body has one of these types, which may be ranges such as `text/*`. */
export function hasType(request: Pick<PlainRequest, "headers">, types: readonly string[]): boolean {
  const sent = readMediaType(request);
  return types.some((one) => one === sent || (one.endsWith("/*") && sent.startsWith(one.slice(0, -1))));
}

/** @throws ApiError UNSUPPORTED_MEDIA_TYPE */
export function requireForm(request: Pick<PlainRequest, "headers">): void {
  requireUncompressed(request);
  if (!/^multipart\/form-data\b/i.test(String(request.headers["content-type"])))
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", { system_message: "Send the form as multipart/form-data." });
}

function requireUncompressed({ headers }: Pick<PlainRequest, "headers">): void {
  const encoding = headers["content-encoding"];
  // A list of codings, whose names have no case; an empty one is none.
  if (encoding !== undefined && !/^[\s,]*(identity[\s,]*)*$/i.test(String(encoding)))
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", {
      system_message: `Content-Encoding ${encoding} is not accepted; send the body as it is.`,
    });
}

function requireJson(request: Pick<PlainRequest, "headers">, otherTypes: readonly string[] = []): void {
  requireUncompressed(request);
  const type = request.headers["content-type"] as string | undefined;
  if (type === "application/json") return;
  if (!/^application\/(json|[\w.-]+\+json)\s*(;|$)/i.test(type ?? "") && !hasType(request, otherTypes))
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", {
      system_message: `Send Content-Type: application/json, not ${type === undefined ? "none" : JSON.stringify(type)}.`,
    });
  for (const [, charset] of type!.replace(OTHER_QUOTED, "").matchAll(CHARSET)) {
    if (/^utf-?8$/i.test(charset!)) continue;
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", {
      system_message: `Send JSON in UTF-8, the only encoding that it has between systems (RFC 8259), not in ${charset!.slice(0, 40)}.`,
    });
  }
}

/** Other parameters of a media type in quotes, which may contain anything. */
const OTHER_QUOTED = /;\s*(?!charset\s*=)[^\s=;"]+="(?:[^"\\]|\\.)*"/gi;
const CHARSET = /;\s*charset\s*=\s*["']?([^"';\s]*)/gi;

/** @throws ApiError UNSUPPORTED_MEDIA_TYPE, INVALID_JSON for invalid UTF-8 */
function decodeText(bytes: Uint8Array, charset: string): string {
  if (/^utf-?8$/i.test(charset)) return decodeUtf8(bytes);
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", {
      system_message: `Send the text in UTF-8, not in ${charset.slice(0, 40)}.`,
    });
  }
}

/** The decoder leaves out a byte order mark. */
const utf8 = new TextDecoder("utf-8", { fatal: true });

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw createInvalidJsonError("The body is not valid UTF-8.");
  }
}

const [QUOTE, COMMA, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = toUtf8('",\\[]{}');

/** Describes how a text exceeds the limits, before it is parsed; undefined if it does not. */
function findExcess(bytes: Uint8Array, maxValues: number): string | undefined {
  // A shorter text cannot nest that deep, since each bracket is closed again.
  if (bytes.length < 2 * (MAX_JSON_DEPTH + 1)) return undefined;
  let depth = 0;
  let values = 0;
  let inString = false;
  // In UTF-8, no part of another character looks like one of these.
  for (let i = 0; i < bytes.length; i++) {
    const char = bytes[i]!;
    if (inString) {
      if (char === BACKSLASH) i++;
      else if (char === QUOTE) inString = false;
    } else if (char === QUOTE) inString = true;
    else if (char === OPEN_LIST || char === OPEN_OBJECT) {
      if (++depth > MAX_JSON_DEPTH) return `The document nests deeper than ${MAX_JSON_DEPTH} levels.`;
      const next = bytes[i + 1];
      if (next !== CLOSE_LIST && next !== CLOSE_OBJECT) values++;
    } else if (char === CLOSE_LIST || char === CLOSE_OBJECT) depth--;
    else if (char === COMMA) values++;
  }
  return values > maxValues ? `The document has more than ${maxValues} keys and list entries.` : undefined;
}

function createInvalidJsonError(system_message: string): ApiError {
  return new ApiError("INVALID_JSON", { system_message });
}

function createTooLargeError(limit: number): ApiError {
  return new ApiError("PAYLOAD_TOO_LARGE", { details: { limit_bytes: limit } });
}
