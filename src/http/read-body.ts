import type { IncomingMessage } from "node:http";
import { ApiError } from "../contract/errors.ts";

/** A body that makes no progress for this long is given up, so stalled clients hold nothing (wall clock). */
export const BODY_IDLE_MS = 15_000;
const MAX_JSON_DEPTH = 100;
/** Keys and list entries of a request to the emulated API; a million of them would hold the server for a second. */
const MAX_JSON_VALUES = 100_000;

/** The client left before its body was complete; nobody is there to answer. */
export class ClientGone extends Error {}

/**
 * Reads a whole body into memory.
 * @throws ApiError PAYLOAD_TOO_LARGE over `limit` bytes, without reading on
 * @throws ClientGone
 */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > limit) return Promise.reject(tooLarge(limit));
  return new Promise((resolve, reject) => new Reading(request, { limit, resolve, reject }).begin());
}

interface Outcome {
  limit: number;
  resolve: (bytes: Buffer) => void;
  reject: (error: Error) => void;
}

const READING = Symbol("the reading of a request's body");
type Read = IncomingMessage & { [READING]: Reading };

/** A body on its way in. Most are there within the turn of their head, so that nothing is set up for waiting. */
class Reading {
  /** Looks of the watch since the last bytes. */
  idle = 0;
  /** Of all that are under way; a list costs nothing where most leave as soon as they have come. */
  previous: Reading | undefined = undefined;
  next: Reading | undefined = undefined;
  readonly request: IncomingMessage;
  private readonly outcome: Outcome;
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private settled = false;

  constructor(request: IncomingMessage, outcome: Outcome) {
    this.request = request;
    this.outcome = outcome;
  }

  begin(): void {
    (this.request as Read)[READING] = this;
    watch(this);
    this.request.on("data", onData).on("end", onEnd).on("close", onGone).on("error", onGone);
  }

  take(chunk: Buffer): void {
    if (this.settled) return;
    this.idle = 0;
    this.size += chunk.length;
    this.chunks.push(chunk);
    if (this.size <= this.outcome.limit) return;
    this.settle();
    this.outcome.reject(tooLarge(this.outcome.limit));
  }

  end(): void {
    if (this.settled) return;
    this.settle();
    this.outcome.resolve(this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks));
  }

  gone(): void {
    if (this.settled) return;
    this.settle();
    this.outcome.reject(new ClientGone());
  }

  private settle(): void {
    this.settled = true;
    unwatch(this);
  }
}

// One function each for all requests; the reading is found on the request.
function onData(this: IncomingMessage, chunk: Buffer): void {
  (this as Read)[READING].take(chunk);
}
function onEnd(this: IncomingMessage): void {
  (this as Read)[READING].end();
}
function onGone(this: IncomingMessage): void {
  (this as Read)[READING].gone();
}

const LOOK_MS = 1_000;
let newest: Reading | undefined;
let looking: NodeJS.Timeout | undefined;

/** One timer looks after all bodies of the process, and rests when there are none. */
function watch(reading: Reading): void {
  reading.next = newest;
  if (newest !== undefined) newest.previous = reading;
  newest = reading;
  looking ??= setInterval(look, LOOK_MS).unref();
}

function unwatch(reading: Reading): void {
  const { previous, next } = reading;
  if (previous === undefined) newest = next;
  else previous.next = next;
  if (next !== undefined) next.previous = previous;
  // What has left must not hold those that came before it.
  reading.previous = undefined;
  reading.next = undefined;
}

function look(): void {
  let reading = newest;
  while (reading !== undefined) {
    const { next } = reading;
    if (++reading.idle * LOOK_MS >= BODY_IDLE_MS) reading.request.destroy();
    reading = next;
  }
  if (newest !== undefined) return;
  clearInterval(looking);
  looking = undefined;
}

/** A JSON body with its text, which knows how numbers were written. */
export interface JsonBody {
  value: unknown;
  text: string;
}

/**
 * @param maxValues keys and list entries
 * @throws ApiError UNSUPPORTED_MEDIA_TYPE, INVALID_JSON (also for invalid UTF-8, absurd nesting and too many values)
 */
export function parseJson(
  request: IncomingMessage,
  bytes: Buffer,
  { optional, maxValues = MAX_JSON_VALUES }: { optional: boolean; maxValues?: number },
): JsonBody {
  if (bytes.length === 0) {
    if (optional) return { value: {}, text: "{}" };
    throw invalidJson("The body is empty; this operation expects a JSON document.");
  }
  requireJson(request);
  const text = decodeUtf8(bytes);
  const beyond = beyondBounds(text, maxValues);
  if (beyond !== undefined) throw invalidJson(beyond);
  try {
    return { value: JSON.parse(text), text };
  } catch (error) {
    throw invalidJson((error as Error).message);
  }
}

function requireJson(request: IncomingMessage): void {
  const type = request.headers["content-type"];
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding !== "identity") {
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", {
      system_message: `Content-Encoding ${encoding} is not accepted; send the body as it is.`,
    });
  }
  if (type === "application/json") return;
  if (!/^application\/(json|[\w.-]+\+json)\s*(;|$)/i.test(type ?? "")) {
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", {
      system_message: `Send Content-Type: application/json, not ${type === undefined ? "none" : JSON.stringify(type)}.`,
    });
  }
  for (const [, charset] of type!.matchAll(CHARSET)) {
    if (/^utf-?8$/i.test(charset!)) continue;
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", {
      system_message: `Send JSON in UTF-8, the only encoding that it has between systems (RFC 8259), not in ${charset!.slice(0, 40)}.`,
    });
  }
}

const CHARSET = /;\s*charset\s*=\s*["']?([^"';\s]*)/gi;

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalidJson("The body is not valid UTF-8.");
  }
}

/** Looked for before anything is built of the text. */
function beyondBounds(text: string, maxValues: number): string | undefined {
  if (text.length < 2 * MAX_JSON_DEPTH) return undefined;
  let depth = 0;
  let values = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (inString) {
      if (char === 92) i++;
      else if (char === 34) inString = false;
    } else if (char === 34) inString = true;
    else if (char === 91 || char === 123) {
      if (++depth > MAX_JSON_DEPTH) return `The document nests deeper than ${MAX_JSON_DEPTH} levels.`;
    } else if (char === 93 || char === 125) depth--;
    else if (char === 44 && ++values >= maxValues)
      return `The document has more than ${maxValues} keys and list entries.`;
  }
  return undefined;
}

function invalidJson(system_message: string): ApiError {
  return new ApiError("INVALID_JSON", { system_message });
}

function tooLarge(limit: number): ApiError {
  return new ApiError("PAYLOAD_TOO_LARGE", { details: { limit_bytes: limit } });
}
