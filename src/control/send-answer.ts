import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { StreamBody } from "../contract/operation.ts";
import { corsHeaders } from "./cors.ts";

export interface ControlAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  content_type?: string;
  body?: string | Buffer;
  stream?: StreamBody["chunks"];
}

const PING_MS = 10_000;

/** Writes the answer of a control call; a stream goes no faster than the client reads. */
export async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: ControlAnswer,
): Promise<void> {
  if (response.destroyed) return;
  const { status, content_type, body } = answer;
  const headers = ["Cache-Control", "no-store", "X-Content-Type-Options", "nosniff"];
  if (content_type !== undefined) headers.push("Content-Type", content_type);
  if (answer.stream === undefined && status !== 204) {
    headers.push("Content-Length", String(body === undefined ? 0 : Buffer.byteLength(body)));
  }
  for (const more of [corsHeaders(request), answer.headers]) {
    for (const name in more) headers.push(name, more[name]!);
  }
  response.writeHead(status, headers);
  if (answer.stream === undefined || request.method === "HEAD") return void response.end(body);
  await stream(response, answer.stream);
}

async function stream(response: ServerResponse, chunks: StreamBody["chunks"]): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  response.flushHeaders();
  const ping = setInterval(() => response.write(":\n\n"), PING_MS);
  ping.unref();
  try {
    for await (const chunk of chunks(gone.signal)) {
      if (gone.signal.aborted) return;
      if (!response.write(chunk)) await once(response, "drain", { signal: gone.signal });
    }
    response.end();
  } catch (error) {
    if (!gone.signal.aborted) response.destroy(error as Error);
  } finally {
    clearInterval(ping);
    gone.abort();
  }
}
