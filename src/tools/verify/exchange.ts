import { randomBytes } from "node:crypto";
import type { AnyOperation } from "../../engine/contract/operation.ts";
import { toFailure } from "../../hosts/node/outbound/outbound-failure.ts";
import { isHarmless } from "./own-operation.ts";

/** One request. By default it has the key, no query and no body. */
export interface Call {
  /** Absent for an undeclared path, which gets a GET. */
  operation?: AnyOperation;
  /** Instead of the operation's path. */
  path?: string;
  /** Instead of target and path: an upload's URL, which may have another host and takes no credentials. */
  url?: string;
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string | number>>;
  /** A form, text or bytes are sent unchanged; anything else as JSON. */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** `key` by default; or the headers to send instead. */
  credential?: "key" | "none" | Readonly<Record<string, string>>;
  /** Ends the request after the first events of a stream. */
  endsAfterFirstEvents?: boolean;
}

/**
 * Whether a request cannot change anything: it only reads, or it has neither credentials nor body and names
 * objects that do not exist, so that a service that forgets to check the caller has nothing to change.
 */
export function changesNothing({ operation, credential, body, params, query }: Call): boolean {
  if (operation === undefined || isHarmless(operation)) return true;
  const namesNothing = Object.values(params ?? {}).every(isInventedId) && query === undefined;
  return credential === "none" && body === undefined && namesNothing;
}

const INVENTED_MARK = "nobody0";

/** An id of the right form that no service has issued. */
export function inventId(prefix: string): string {
  return `${prefix}${INVENTED_MARK}${randomBytes(12).toString("hex")}`;
}

export function isInventedId(id: string): boolean {
  return id.includes(INVENTED_MARK);
}

export interface Answer {
  /** 0: no well-formed answer came. */
  status: number;
  headers: Headers;
  text: string;
  /** Parsed if content type and text are JSON; else undefined. */
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape are checked before they are read
  json: any;
  /** The reason why there is no answer, or why its body does not match its type. */
  problem: string | undefined;
}

const MAX_BYTES = 64 * 1024 * 1024;
const STREAM_MS = 2_000;
const MAX_STREAM_CHARACTERS = 1024 * 1024;

export async function readAnswer(response: Response): Promise<Answer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > MAX_BYTES) throw new Error(`the body is longer than ${MAX_BYTES} bytes`);
    pieces.push(piece);
  }
  return toAnswer(response, Buffer.concat(pieces).toString("utf8"));
}

/** Reads a stream until it ends, or for a limited time; the caller closes it. */
export async function readFirstEvents(response: Response): Promise<Answer> {
  if (response.body === null || !response.headers.get("content-type")?.startsWith("text/event-stream"))
    return readAnswer(response);
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const timer = setTimeout(() => void reader.cancel(), STREAM_MS);
  try {
    while (text.length < MAX_STREAM_CHARACTERS) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    clearTimeout(timer);
  }
  return toAnswer(response, text);
}

function toAnswer({ status, headers }: Response, text: string): Answer {
  return { status, headers, text, ...readJson(text, headers) };
}

/** A body declared as JSON must be JSON, unless a part of it is missing. */
export function readJson(text: string, headers: Headers, isWhole = true): Pick<Answer, "json" | "problem"> {
  if (!isJsonType(headers.get("content-type"))) return { json: undefined, problem: undefined };
  const { json, broken } = parseJson(text);
  return { json, problem: broken && isWhole ? "the body is declared as JSON, but is not JSON" : undefined };
}

export function isJsonType(type: string | null): boolean {
  return /^application\/([\w.-]+\+)?json\b/i.test(type ?? "");
}

export function parseJson(text: unknown): { json: unknown; broken: boolean } {
  if (typeof text !== "string" || text === "") return { json: undefined, broken: false };
  try {
    return { json: JSON.parse(text), broken: false };
  } catch {
    return { json: undefined, broken: true };
  }
}

export function toBrokenAnswer(error: unknown): Answer {
  return { status: 0, headers: new Headers(), text: "", json: undefined, problem: describeBreak(error) };
}

function describeBreak(error: unknown): string {
  const { name, cause = error } = error as Error;
  if (name === "TimeoutError") return "timed out";
  // The reason is in the cause of fetch's error.
  const { code, message } = cause as NodeJS.ErrnoException;
  if (message === "other side closed" || code === "ECONNRESET" || code === "EPIPE")
    return "the connection was closed before a whole answer";
  return message === "bad port" ? "fetch refuses this port" : toFailure(cause).error.message;
}
