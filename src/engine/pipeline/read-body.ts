import type { IncomingMessage } from "node:http";
// Not the global one: see end-together.ts.
import { setImmediate } from "node:timers";
import { type BodyTaker, canBeTaken } from "../../hosts/node/incoming-request.ts";
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

/** A body on its way in. Most are there within the turn of their head, so that nothing is set up for waiting. */
class Reading implements BodyTaker {
  /** Looks of the watch since the last bytes. */
  idle = 0;
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
    const { request } = this;
    if (canBeTaken(request)) {
      request.taker = this;
      waitLater(this);
    } else {
      request.on("data", (chunk: Buffer) => this.take(chunk)).on("end", () => this.end());
      this.wait();
    }
  }

  /** The rest is still to come, if it does. */
  wait(): void {
    if (this.request.destroyed) this.gone();
    if (this.settled) return;
    const gone = () => this.gone();
    this.request.on("close", gone).on("error", gone);
    watch(this);
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
    // What is still to come is drained as of any other stream.
    if ("taker" in this.request) this.request.taker = undefined;
    waiting.delete(this);
  }
}

let fresh: Reading[] = [];

/** At the end of this turn of the loop, when most are complete. */
function waitLater(reading: Reading): void {
  if (fresh.push(reading) === 1) setImmediate(waitForFresh);
}

function waitForFresh(): void {
  const readings = fresh;
  fresh = [];
  for (const reading of readings) reading.wait();
}

const LOOK_MS = 1_000;
const waiting = new Set<Reading>();
let looking: NodeJS.Timeout | undefined;

/** One timer looks after all bodies that take their time, and rests when there are none. */
function watch(reading: Reading): void {
  waiting.add(reading);
  looking ??= setInterval(look, LOOK_MS).unref();
}

function look(): void {
  for (const reading of waiting) if (++reading.idle * LOOK_MS >= BODY_IDLE_MS) reading.request.destroy();
  if (waiting.size > 0) return;
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
  const beyond = beyondBounds(bytes, maxValues);
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
function beyondBounds(bytes: Buffer, maxValues: number): string | undefined {
  // What is opened has to be closed.
  if (bytes.length < 2 * (MAX_JSON_DEPTH + 1)) return undefined;
  let depth = 0;
  let values = 0;
  let inString = false;
  // In UTF-8, no part of another character looks like one of these.
  for (let i = 0; i < bytes.length; i++) {
    const char = bytes[i]!;
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
