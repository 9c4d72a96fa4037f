import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer, Exchange } from "../../engine/pipeline/exchange.ts";
import { KeptAnswer, type StreamedBody } from "../../engine/pipeline/keep-answer.ts";
import { standardHead } from "../../engine/pipeline/response-headers.ts";
import { drainRequest } from "./drain-request.ts";
import { endTogether } from "./end-together.ts";
import { type Head, writeHead } from "./head.ts";

const PING_MS = 10_000;

/**
 * Asked before each piece of a stream: undefined, or a promise of it, once what has happened until now is safe.
 * Where something of it was undone instead, the stream is cut.
 */
export type StreamGate = () => undefined | Promise<unknown>;

/** Writes an answer of the emulated API. Returns the head as sent, for the journal. */
export function send(exchange: Exchange, answer: Answer): Head {
  const head = standardHead(exchange);
  writeAnswer(exchange, answer, head);
  return head;
}

/** Resolves with what was sent of a stream, once all of it was. */
export async function sendStream(
  exchange: Exchange,
  answer: Answer,
  gate: StreamGate | undefined,
): Promise<StreamedBody | undefined> {
  const kept = new KeptAnswer();
  return (await writeStream(exchange.response, answer, { kept, gate })) ? kept.end() : undefined;
}

/**
 * Writes an answer with one head, after what is in it already; what is sent besides is added to it. What Express's own
 * `res.json` adds (ETag hashing, content negotiation) neither API has, and it costs more than the rest of the
 * pipeline. Of a stream, this is the head alone.
 */
export function writeAnswer(
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  answer: Answer,
  head: Head,
): void {
  const { headers } = head;
  const { body } = answer;
  let encoding: BufferEncoding = "utf8";
  for (const name in answer.headers) headers.push(name, answer.headers[name]!);
  if (answer.content_type !== undefined) headers.push("Content-Type", answer.content_type);
  if (answer.stream === undefined) {
    const length = body === undefined ? 0 : Buffer.byteLength(body);
    // Plain ASCII, which takes no conversion: what else has as many characters as bytes is a buffer.
    if (length === body?.length) encoding = "latin1";
    if (answer.status !== 204 && answer.status !== 304) headers.push("Content-Length", String(length));
  }
  if (response.destroyed || response.headersSent) return;
  if (!request.complete) drainRequest(request);
  writeHead(response, answer.status, head);
  if (answer.stream === undefined) endTogether(response, body, encoding);
}

/**
 * Sends a stream no faster than the client reads, and stops producing when the client leaves. Resolves with
 * whether all of it was sent.
 */
export async function writeStream(
  response: ServerResponse,
  { stream, content_type }: Answer,
  { kept, gate }: { kept?: KeptAnswer; gate: StreamGate | undefined },
): Promise<boolean> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const ping =
    content_type === "text/event-stream" ? setInterval(() => response.write(":\n\n"), PING_MS) : undefined;
  ping?.unref();
  try {
    for await (const chunk of stream!(gone.signal)) {
      const unsafe = gate?.();
      if (unsafe !== undefined) await unsafe;
      if (gone.signal.aborted) break;
      kept?.add(chunk);
      if (!response.write(chunk)) await once(response, "drain", { signal: gone.signal });
    }
    response.end();
    return !gone.signal.aborted;
  } catch (error) {
    // A reader that left is no failure; anything else must not look like a complete answer.
    if (!gone.signal.aborted) response.destroy(error as Error);
    return false;
  } finally {
    clearInterval(ping);
    gone.abort();
  }
}
