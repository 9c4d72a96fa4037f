import type { HarValue } from "../../har/read-har.ts";
import type { Answer } from "../read-answer.ts";
import type { Asked } from "../target.ts";

/** A recorded request and its answer, before anybody knows which operation it is of. */
export interface RecordedExchange {
  method: string;
  url: URL;
  asked: Omit<Asked, "params">;
  /** The answer, and whether its body was kept whole. */
  answer: Answer;
  whole: boolean;
  /** Milliseconds since 1970 when it was asked; NaN where the recording does not say. */
  at: number;
  /** Milliseconds until the answer began; undefined where the recording does not say. */
  wait_ms: number | undefined;
}

/** Why an entry cannot be judged. */
export type Unusable = "malformed" | "without an answer" | "from a browser's cache";

/** `exact`: whether the recorder says of bodies how long they were, and not how long before masking. */
export function readEntry(entry: HarValue, { exact }: { exact: boolean }): RecordedExchange | Unusable {
  const request = toMap(entry["request"]);
  const response = toMap(entry["response"]);
  const { method, url } = request;
  if (typeof method !== "string" || typeof url !== "string" || !URL.canParse(url)) return "malformed";
  const status = Number(response["status"]);
  if (!Number.isInteger(status)) return "malformed";
  if (status === 0 || entry["_error"] !== undefined) return "without an answer";
  if (isCached(entry)) return "from a browser's cache";
  const sent = toHeaders(request["headers"]);
  const headers = toHeaders(response["headers"]);
  const content = toMap(response["content"]);
  if (!headers.has("content-type") && typeof content["mimeType"] === "string")
    setHeader(headers, "content-type", content["mimeType"]);
  const { text, whole } = toBody(content, { status, exact });
  const parsed = new URL(url);
  return {
    method: method.toUpperCase(),
    url: parsed,
    asked: {
      query: Object.fromEntries(parsed.searchParams),
      body: parsedJson(toMap(request["postData"])["text"]).json,
      headers: sent,
    },
    answer: { status, headers, text, ...toJson(text, headers, whole) },
    whole,
    at: Date.parse(String(entry["startedDateTime"])),
    wait_ms: findWait(entry),
  };
}

/** Browsers mark entries from their cache in different ways. */
function isCached(entry: HarValue): boolean {
  const { _fromCache, _fromDiskCache, _fromMemoryCache } = entry as Record<string, unknown>;
  return [_fromCache, _fromDiskCache, _fromMemoryCache].some((one) => one !== undefined && one !== false);
}

function toMap(value: unknown): HarValue {
  return (typeof value === "object" && value !== null ? value : {}) as HarValue;
}

function toHeaders(list: unknown): Headers {
  const headers = new Headers();
  for (const pair of Array.isArray(list) ? list : []) {
    const { name, value } = toMap(pair);
    if (typeof name === "string" && typeof value === "string") setHeader(headers, name, value);
  }
  return headers;
}

/** HTTP/2's `:status` and whatever else no header can be is left out. */
function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.append(name, value);
  } catch {
    return;
  }
}

/** Recorders leave bodies out, cut them, or write them in base64. */
function toBody(
  content: HarValue,
  { status, exact }: { status: number; exact: boolean },
): { text: string; whole: boolean } {
  const { text, encoding, size, comment } = content as Record<string, unknown>;
  const bodiless = status === 204 || status === 304;
  if (typeof text !== "string") return { text: "", whole: bodiless || !(Number(size) > 0) };
  const cut = typeof comment === "string" && /^the first \d+ of/.test(comment);
  if (encoding === "base64") {
    const bytes = Buffer.from(text, "base64");
    return { text: bytes.toString("utf8"), whole: !cut && bytes.length >= Number(size ?? 0) };
  }
  return { text, whole: !cut && !(exact && Buffer.byteLength(text) < Number(size ?? 0)) };
}

function toJson(text: string, headers: Headers, whole: boolean): Pick<Answer, "json" | "problem"> {
  if (text === "" || !/^application\/([\w.-]+\+)?json\b/.test(headers.get("content-type") ?? ""))
    return { json: undefined, problem: undefined };
  const { json, broken } = parsedJson(text);
  return { json, problem: broken && whole ? "the body is announced as JSON and is none" : undefined };
}

function parsedJson(text: unknown): { json: unknown; broken: boolean } {
  if (typeof text !== "string" || text === "") return { json: undefined, broken: false };
  try {
    return { json: JSON.parse(text), broken: false };
  } catch {
    return { json: undefined, broken: true };
  }
}

function findWait(entry: HarValue): number | undefined {
  const { wait } = toMap(entry["timings"]);
  const milliseconds = typeof wait === "number" && wait >= 0 ? wait : entry["time"];
  return typeof milliseconds === "number" && milliseconds >= 0 ? milliseconds : undefined;
}
