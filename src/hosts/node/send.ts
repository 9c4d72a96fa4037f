import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { CompleteAnswer } from "../../engine/pipeline/plain-http.ts";
import { flushTogether } from "./batches.ts";
import { LINGER_MS } from "./linger.ts";

const PING_INTERVAL_MS = 10_000;

/**
 * Sends an answer, after existing headers of the response; a stream is sent as fast as the client reads it. A stream's
 * promise resolves when its last byte was handed to the connection.
 */
export function sendCompleteAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: CompleteAnswer,
): undefined | Promise<void> {
  const { status, headers, body, length, stream, has_events } = answer;
  if (!response.destroyed && !response.headersSent) {
    if (!request.complete) drainRequest(request);
    response.writeHead(status, headers);
    // ASCII, which needs no conversion, has as many characters as bytes.
    if (stream === undefined) flushTogether(response, body, body?.length === length ? "latin1" : "utf8");
  }
  if (stream === undefined) return undefined;
  if (request.method !== "HEAD") return sendStream(response, stream, has_events);
  response.end();
  return undefined;
}

/** Stops the stream when the client leaves. A stream that fails cuts the connection, so that it does not look complete. */
async function sendStream(
  response: ServerResponse,
  stream: NonNullable<CompleteAnswer["stream"]>,
  has_events: boolean,
): Promise<void> {
  const clientLeft = new AbortController();
  if (response.destroyed) clientLeft.abort();
  response.once("close", () => clientLeft.abort());
  // The first chunk may come long after the headers.
  response.flushHeaders();
  const ping = has_events ? setInterval(() => response.write(":\n\n"), PING_INTERVAL_MS).unref() : undefined;
  try {
    for await (const chunk of stream(clientLeft.signal)) {
      if (clientLeft.signal.aborted) break;
      if (!response.write(chunk)) await once(response, "drain", { signal: clientLeft.signal });
    }
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
