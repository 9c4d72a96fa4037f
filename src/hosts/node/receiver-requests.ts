import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "../../engine/contract/errors.ts";
import { isBodyless } from "../../engine/contract/operation.ts";
import { ClientGone } from "../../engine/pipeline/plain-http.ts";
import { readBytes } from "../../engine/pipeline/read-body.ts";
import type { ReceiverRequest, ReceiverResponse } from "../../engine/receivers/receiver.ts";
import { resetSocket } from "./linger.ts";
import { NodeRequest } from "./node-request.ts";

/** Answers a request to a receiver; converts Node's objects for it. */
export async function answerReceiverRequest(
  request: IncomingMessage,
  response: ServerResponse,
  {
    path,
    handle,
  }: { path: string; handle: (request: ReceiverRequest) => ReceiverResponse | Promise<ReceiverResponse> },
): Promise<void> {
  const plain = new NodeRequest(request, response);
  const answer = await handle({
    method: plain.method,
    path,
    headers: plain.headers as ReceiverRequest["headers"],
    rawHeaders: plain.rawHeaders,
    read: (limit) => readBytes(plain, limit).catch(toReason),
    signal: plain.signal,
  });
  if (answer === "hang") return;
  if (answer === "reset") return void resetSocket(request.socket);
  if (response.destroyed) return;
  const { status, headers, body } = answer;
  request.resume();
  const length = isBodyless(status) ? {} : { "Content-Length": body.length };
  response.writeHead(status, { ...headers, ...length } as Record<string, string | string[]>);
  response.end(body);
}

function toReason(error: unknown): "gone" | "too-large" {
  if (error instanceof ClientGone) return "gone";
  if (error instanceof ApiError) return "too-large";
  throw error;
}
