import { once } from "node:events";
import type { Answer, Exchange } from "./exchange.ts";
import { KeptAnswer, type StreamedBody } from "./keep-answer.ts";
import { linger } from "./linger.ts";
import { standardHeaders } from "./response-headers.ts";

const PING_MS = 10_000;

/**
 * Writes the answer with one `writeHead`. What Express's own `res.json` adds (ETag hashing, content
 * negotiation) the emulated API does not have, and it costs more than the rest of the pipeline.
 * Returns the headers as sent, for the journal.
 */
export function send(exchange: Exchange, answer: Answer): string[] {
  const { response } = exchange;
  const headers = standardHeaders(exchange);
  for (const name in answer.headers) headers.push(name, answer.headers[name]!);
  if (answer.content_type !== undefined) headers.push("Content-Type", answer.content_type);
  if (answer.stream === undefined) {
    const length = answer.body === undefined ? 0 : Buffer.byteLength(answer.body);
    if (answer.status !== 204 && answer.status !== 304) headers.push("Content-Length", String(length));
  }
  if (response.destroyed || response.headersSent) return headers;
  if (!exchange.request.complete) linger(exchange.request);
  response.writeHead(answer.status, headers);
  if (answer.stream === undefined) response.end(answer.body);
  return headers;
}

/**
 * Sends a stream no faster than the client reads, and stops producing when the client leaves. Resolves with
 * what was sent, once all of it was.
 */
export async function sendStream(exchange: Exchange, answer: Answer): Promise<StreamedBody | undefined> {
  const { response } = exchange;
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const ping =
    answer.content_type === "text/event-stream"
      ? setInterval(() => response.write(":\n\n"), PING_MS)
      : undefined;
  ping?.unref();
  const kept = new KeptAnswer();
  try {
    for await (const chunk of answer.stream!(gone.signal)) {
      if (gone.signal.aborted) break;
      kept.add(chunk);
      if (!response.write(chunk)) await once(response, "drain", { signal: gone.signal });
    }
    response.end();
    return gone.signal.aborted ? undefined : kept.end();
  } catch (error) {
    // A reader that left is no failure; anything else must not look like a complete answer.
    if (!gone.signal.aborted) response.destroy(error as Error);
    return undefined;
  } finally {
    clearInterval(ping);
    gone.abort();
  }
}
