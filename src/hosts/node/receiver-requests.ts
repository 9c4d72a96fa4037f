import type { IncomingMessage, ServerResponse } from "node:http";
import type { ReceiverRequest, ReceiverResponse } from "../../engine/receivers/receiver.ts";

/** Answers a request to a receiver, which knows nothing of Node's objects. */
export async function answerReceiverRequest(
  request: IncomingMessage,
  response: ServerResponse,
  {
    path,
    handle,
  }: { path: string; handle: (request: ReceiverRequest) => ReceiverResponse | Promise<ReceiverResponse> },
): Promise<void> {
  const sender = new AbortController();
  response.once("close", () => sender.abort());
  const answer = await handle({
    method: request.method!,
    path,
    headers: request.headers as ReceiverRequest["headers"],
    rawHeaders: request.rawHeaders,
    read: (limit) => readBytes(request, limit),
    signal: sender.signal,
  });
  if (answer === "hang") return;
  if (answer === "reset") return void request.socket.resetAndDestroy();
  if (response.destroyed) return;
  const { status, headers, body } = answer;
  if (headers["Connection"] !== "close") request.resume();
  const length = status === 204 || status === 304 ? {} : { "Content-Length": body.length };
  response.writeHead(status, { ...headers, ...length } as Record<string, string | string[]>);
  response.end(body);
}

function readBytes(request: IncomingMessage, limit: number): Promise<Buffer | "gone" | "too-large"> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else {
        request.pause();
        resolve("too-large");
      }
    });
    request.once("end", () => resolve(Buffer.concat(chunks)));
    request.once("close", () => resolve("gone"));
    request.once("error", () => resolve("gone"));
  });
}
