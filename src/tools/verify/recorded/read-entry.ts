import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { decompress } from "../../har/har-entry.ts";
import type { HarObject } from "../../har/har-file.ts";
import { type Answer, isJsonType, parseJson, readJson } from "../exchange.ts";
import type { SentRequestParts } from "../target.ts";

export interface RecordedExchange {
  method: string;
  url: URL;
  sent: Omit<SentRequestParts, "params">;
  answer: Answer;
  /** Whether the recording has headers of the answer. */
  hasHeaders: boolean;
  /** Whether the recording has the whole bodies of the answer and of a JSON request. */
  hasWholeBodies: boolean;
  /** The problem of a body that is not whole; undefined if both bodies are whole. */
  missing: MissingBody | undefined;
  /** When the request was sent, in milliseconds since 1970; NaN if the recording does not say. */
  at: number;
  /** How long the exchange took, in milliseconds; NaN if the recording does not say. */
  duration: number;
  /** Milliseconds until the answer began, or the whole time if the recording has only that; undefined if it has neither. */
  wait_ms: number | undefined;
}

type UnusableReason =
  | "malformed"
  | "without an answer"
  | "from a browser's cache"
  | "with the headers of a redirect";

type MissingBody =
  | "with the body left out"
  | "with the body cut short"
  | "with the body left compressed"
  | "with the request's body left out"
  | "with the browser's cached body";

/** How an archive stores bodies. */
interface Recorder {
  /** Whether recorded sizes are those of the stored texts. False for Understudy's archives, whose sizes are those before masking. */
  sizesMatchBodies: boolean;
  /** The folder of files with bodies; undefined: they are not read. */
  folder: string | undefined;
}

export function readEntry(entry: HarObject, recorder: Recorder): RecordedExchange | UnusableReason {
  const request = toMap(entry["request"]);
  const response = toMap(entry["response"]);
  const requestHeaders = toHeaders(request["headers"]);
  const { method, url } = request;
  // Some recorders write the host only in the header.
  const host = requestHeaders.get("host");
  const base = host === null ? undefined : `http://${host}`;
  if (typeof method !== "string" || typeof url !== "string" || !URL.canParse(url, base)) return "malformed";
  const parsedUrl = new URL(url, base);
  // Insomnia exports parameters that are typed into its table only in `queryString`.
  if (parsedUrl.search === "")
    for (const [name, value] of toPairs(request["queryString"])) parsedUrl.searchParams.append(name, value);
  const status = Number(response["status"] ?? 0);
  if (!Number.isInteger(status)) return "malformed";
  if (status < 100 || entry["_error"] !== undefined) return "without an answer";
  if (isCached(entry)) return "from a browser's cache";
  const headers = toHeaders(response["headers"]);
  const hasHeaders = [...headers.keys()].length > 0;
  // The recorder followed a redirect, and stored the status of the last answer with the headers of the first.
  if (status === 200 && headers.has("location")) return "with the headers of a redirect";
  const content = toMap(response["content"]);
  if (!headers.has("content-type") && typeof content["mimeType"] === "string")
    tryAppendHeader(headers, "content-type", content["mimeType"]);
  const body = toBody(content, {
    ...recorder,
    status,
    headers,
    wasBodySent: Number(response["bodySize"]) > 0 || Number(headers.get("content-length")) > 0,
  });
  // Chrome and Playwright write a text here if the answer broke off, else null.
  const brokeOff = typeof (response["_error"] ?? response["_failureText"]) === "string";
  const missingFromAnswer = body.missing ?? (brokeOff ? "with the body cut short" : undefined);
  const postData = toMap(request["postData"]);
  const storedText = readText(postData, recorder.folder);
  const requestText =
    storedText !== undefined && isBase64(postData) ? decodeBase64(storedText).toString("utf8") : storedText;
  const isRequestBodyLeftOut =
    !requestText &&
    Number(requestHeaders.get("content-length") ?? request["bodySize"]) > 0 &&
    isJsonType(requestHeaders.get("content-type"));
  const missing =
    missingFromAnswer ?? (isRequestBodyLeftOut ? "with the request's body left out" : undefined);
  return {
    method: method.toUpperCase(),
    url: parsedUrl,
    sent: {
      query: Object.fromEntries(parsedUrl.searchParams),
      body: parseJson(requestText).json,
      headers: requestHeaders,
    },
    hasHeaders,
    answer: {
      status,
      headers,
      text: body.text,
      ...readJson(body.text, headers, missingFromAnswer === undefined),
    },
    hasWholeBodies: missing === undefined,
    missing,
    at: Date.parse(String(entry["startedDateTime"])),
    duration: Number(entry["time"] ?? Number.NaN),
    wait_ms: findWait(entry),
  };
}

const CACHE_MARKS = [
  "_fromCache",
  "_fromDiskCache",
  "_fromMemoryCache",
  "_fromPrefetchCache",
  "_servedFromCache",
];
/** From these sources, a service worker answers without a server. */
const WORKER_SOURCES = new Set(["cache-storage", "http-cache", "fallback-code"]);

/** Browsers mark answers from a cache in different ways, at the entry or at its response. */
function isCached(entry: HarObject): boolean {
  const response = toMap(entry["response"]);
  return [entry, response].some(
    (one) =>
      CACHE_MARKS.some((name) => one[name] !== undefined && one[name] !== false && one[name] !== null) ||
      /cache/i.test(String(one["_fetchType"] ?? "")) ||
      WORKER_SOURCES.has(String(one["_serviceWorkerResponseSource"])),
  );
}

function toMap(value: unknown): HarObject {
  return (typeof value === "object" && value !== null ? value : {}) as HarObject;
}

function toPairs(list: unknown): [name: string, value: string][] {
  return (Array.isArray(list) ? list : []).flatMap((pair) => {
    const { name, value } = toMap(pair);
    // Some recorders write values that are numbers as such.
    const isText = ["string", "number", "boolean"].includes(typeof value);
    return typeof name === "string" && isText ? [[name, String(value)]] : [];
  });
}

function toHeaders(list: unknown): Headers {
  const headers = new Headers();
  for (const [name, value] of toPairs(list)) tryAppendHeader(headers, name, value);
  return headers;
}

/** Appends a header; ignores HTTP/2's `:status` and every other name or value that no header can have. */
function tryAppendHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.append(name, value);
  } catch {
    return;
  }
}

/** Maximum size of a body, decompressed or in a file. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** A text that lost its byte order mark is this much shorter than its size. */
const BYTE_ORDER_MARK_BYTES = 3;

/** Recorders leave bodies out, truncate them, or store them in base64, compressed, or in files beside the archive. */
function toBody(
  content: HarObject,
  {
    status,
    headers,
    sizesMatchBodies,
    folder,
    wasBodySent,
  }: Recorder & { status: number; headers: Headers; wasBodySent: boolean },
): { text: string; missing: MissingBody | undefined } {
  const { size, comment } = content as Record<string, unknown>;
  const text = readText(content, folder);
  // A 304 has no body; browsers record the cached one.
  if (status === 304) return { text: "", missing: text ? "with the browser's cached body" : undefined };
  if (text === undefined || (text === "" && sizesMatchBodies && wasBodySent)) {
    // Recorders other than Understudy also write size 0 for a body that they left out. Their 0 is reliable only with a
    // Content-Length of 0, or without a Content-Type.
    const isSizeReliable =
      !sizesMatchBodies || headers.get("content-length") === "0" || !headers.has("content-type");
    const isEmpty = status === 204 || (size === 0 && isSizeReliable);
    return { text: "", missing: isEmpty ? undefined : "with the body left out" };
  }
  if (!isBase64(content)) {
    const isShort =
      sizesMatchBodies && Buffer.byteLength(text) + BYTE_ORDER_MARK_BYTES < findSize(size, headers, text);
    // Understudy's own comment on a body that it stored in part.
    const isCut = isShort || (typeof comment === "string" && /^the first \d+ of/.test(comment));
    return { text, missing: isCut ? "with the body cut short" : undefined };
  }
  const bytes = decodeBase64(text);
  const decoded = decompress(bytes, findCodings(bytes, headers), MAX_BODY_BYTES);
  if (decoded === undefined) return { text: "", missing: "with the body left compressed" };
  const wasNotCompressed = decoded === bytes;
  const isShort = wasNotCompressed && bytes.length + BYTE_ORDER_MARK_BYTES < Number(size ?? 0);
  return { text: decoded.toString("utf8"), missing: isShort ? "with the body cut short" : undefined };
}

/** Whether the archive has a body's bytes as base64; files beside the archive have the bytes themselves. */
function isBase64({ encoding, text }: HarObject): boolean {
  return /^base64$/i.test(String(encoding)) && typeof text === "string";
}

/** Polly.JS stores a JSON list of pieces in base64. */
function decodeBase64(text: string): Buffer {
  return Buffer.concat(text.split(/[^\w+/=-]+/).map((piece) => Buffer.from(piece, "base64")));
}

/** The codings that a stored body still has. Most recorders decompress bodies, but keep the header. */
function findCodings(bytes: Buffer, headers: Headers): string {
  const codings = (headers.get("content-encoding") ?? "").toLowerCase();
  const isNamedGzip = codings.endsWith("gzip");
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return isNamedGzip ? codings : "gzip";
  // The body does not begin like gzip, or is text: the recorder has decompressed it.
  return isNamedGzip || isUtf8(bytes) ? "" : codings;
}

/** The size of the whole body: as recorded, or, for JSON that breaks off and has no size, its Content-Length. */
function findSize(size: unknown, headers: Headers, text: string): number {
  if (Number(size) > 0 || headers.has("content-encoding") || !parseJson(text).broken)
    return Number(size ?? 0);
  return Number(headers.get("content-length") ?? 0);
}

/** The text in the archive, or in the file beside it that Playwright names in `_file`. */
function readText({ text, _file }: HarObject, folder: string | undefined): string | undefined {
  if (typeof text === "string" && (text !== "" || _file === undefined)) return text;
  // Only a file name: an archive must not name files of other folders.
  if (folder === undefined || typeof _file !== "string" || !/^[\w-][\w.-]*$/.test(_file)) return undefined;
  const file = join(folder, _file);
  try {
    return statSync(file).size > MAX_BODY_BYTES ? undefined : readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function findWait(entry: HarObject): number | undefined {
  const { wait } = toMap(entry["timings"]);
  const milliseconds = typeof wait === "number" && wait >= 0 ? wait : entry["time"];
  return typeof milliseconds === "number" && milliseconds >= 0 ? milliseconds : undefined;
}
