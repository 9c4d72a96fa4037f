import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "node:timers";
import { findUnsendableHeader } from "../../engine/contract/header-fields.ts";
import { toPairs } from "../../engine/maps.ts";
import type { CompleteAnswer } from "../../engine/pipeline/plain-http.ts";
import { endTogether } from "./batches.ts";
import { LINGER_MS } from "./linger.ts";

const PING_INTERVAL_MS = 10_000;

/**
 * Sends an answer, with the headers that were already set on the response first. A stream is sent as fast as the client
 * reads it, and the promise resolves when its last byte was handed to the connection.
 */
export function sendCompleteAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: CompleteAnswer,
): undefined | Promise<void> {
  const { status, headers, body, length, stream, forwarded } = answer;
  if (!response.destroyed && !response.headersSent) {
    if (!request.complete) drainRequest(request);
    if (forwarded === undefined) response.writeHead(status, headers);
    else writeForwardedHead(response, status, forwarded.reason, headers);
    // A body with as many characters as bytes is ASCII, and is sent as it is. Other texts are sent as bytes: with a UTF-8
    // text, Node would send the head as UTF-8 too.
    if (stream === undefined) endTogether(response, body?.length === length ? body : Buffer.from(body ?? ""));
  }
  if (stream === undefined) return undefined;
  if (request.method !== "HEAD") return sendStream(response, stream, answer);
  response.end();
  return undefined;
}

/** Headers of one connection (RFC 9110, 7.6.1), and `Expect`, which this server has handled. */
const HOP_BY_HOP = /^(connection|keep-alive|proxy-connection|upgrade|te|expect)$/i;

/**
 * The headers of a message that are forwarded: name, value, name, value …, in their order and spelling. Those that
 * `Connection` names are of that connection too.
 * @param dropped names of further headers that are not forwarded
 */
export function listForwardedHeaders(raw: readonly string[], dropped: RegExp): string[] {
  const pairs = toPairs(raw);
  const connectionHeaders = pairs.filter(([name]) => /^connection$/i.test(name));
  const named = connectionHeaders.flatMap(([, value]) => value.toLowerCase().split(/[\s,]+/));
  const isForwarded = (name: string) =>
    !HOP_BY_HOP.test(name) && !dropped.test(name) && !named.includes(name.toLowerCase());
  return pairs.filter(([name]) => isForwarded(name)).flat();
}

/**
 * Writes the head of another server's answer, and its trailers when it ends.
 * @param dropped names of further headers that are not forwarded
 */
export function forwardHead(response: ServerResponse, answer: IncomingMessage, dropped: RegExp): void {
  const { statusCode, statusMessage, rawHeaders } = answer;
  writeForwardedHead(response, statusCode!, statusMessage!, listForwardedHeaders(rawHeaders, dropped));
  answer.once("end", () => response.addTrailers(toPairs(answer.rawTrailers)));
}

/**
 * Writes the head of another server's answer: the reason phrase only if it is valid in HTTP, and `Trailer` and
 * `Transfer-Encoding` only if the client gets chunks, since Node throws for them otherwise.
 */
function writeForwardedHead(
  response: ServerResponse,
  status: number,
  reason: string,
  headers: readonly string[],
): void {
  const { method, httpVersionMinor } = response.req;
  const isChunked =
    httpVersionMinor > 0 &&
    method !== "HEAD" &&
    status !== 204 &&
    status !== 304 &&
    !headers.some((name, at) => at % 2 === 0 && /^content-length$/i.test(name));
  const isSent = (name: string) => isChunked || !/^(trailer|transfer-encoding)$/i.test(name);
  const sentHeaders = headers.filter((_, at) => isSent(headers[at - (at % 2)]!));
  if (findUnsendableHeader({ reason }) === undefined) response.writeHead(status, reason, sentHeaders);
  else response.writeHead(status, sentHeaders);
}

/** Sends the head alone. Node's `flushHeaders` would send Latin-1 in headers as UTF-8. */
export function sendHead(response: ServerResponse): void {
  response.write("", "latin1");
}

/** Sends a stream until the client leaves; cuts the connection if the stream fails, so that it does not look complete. */
async function sendStream(
  response: ServerResponse,
  stream: NonNullable<CompleteAnswer["stream"]>,
  { has_events, forwarded }: CompleteAnswer,
): Promise<void> {
  const clientLeft = new AbortController();
  if (response.destroyed) clientLeft.abort();
  response.once("close", () => clientLeft.abort());
  // The first chunk may come long after the headers.
  sendHead(response);
  const ping = has_events ? setInterval(() => response.write(":\n\n"), PING_INTERVAL_MS).unref() : undefined;
  try {
    for await (const chunk of stream(clientLeft.signal)) {
      if (clientLeft.signal.aborted) break;
      if (!response.write(chunk)) await once(response, "drain", { signal: clientLeft.signal });
    }
    // Node sends trailers only if the answer is chunked.
    if (forwarded !== undefined) response.addTrailers(toPairs(forwarded.trailers()));
    response.end();
  } catch (error) {
    if (!clientLeft.signal.aborted) response.destroy(error as Error);
  } finally {
    clearInterval(ping);
    clientLeft.abort();
  }
}

const MAX_DRAINED_BYTES = 1024 * 1024 * 1024;

/** Continues to read after an early answer, since many clients send the whole body before they read. */
function drainRequest(request: IncomingMessage): void {
  let bytes = 0;
  const cut = () => request.destroy();
  const timer = setTimeout(cut, LINGER_MS).unref();
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_DRAINED_BYTES) cut();
  });
  request.once("close", () => clearTimeout(timer));
  request.once("end", () => clearTimeout(timer));
  request.on("error", () => {});
  request.resume();
}
