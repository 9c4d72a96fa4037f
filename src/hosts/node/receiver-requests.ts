import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "../../engine/contract/errors.ts";
import { isBodyless } from "../../engine/contract/operation.ts";
import { ClientGoneError } from "../../engine/pipeline/plain-http.ts";
import { readBytes } from "../../engine/pipeline/read-body.ts";
import type { ReceiverRequest, ReceiverResponse } from "../../engine/receivers/receiver.ts";
import { resetSocket } from "./linger.ts";
import { NodeRequest } from "./node-request.ts";

/** Answers a request to a receiver; converts Node's request and response. */
export async function answerReceiverRequest(
  request: IncomingMessage,
  response: ServerResponse,
  {
    path,
    handle,
  }: { path: string; handle: (request: ReceiverRequest) => ReceiverResponse | Promise<ReceiverResponse> },
): Promise<void> {
  const nodeRequest = new NodeRequest(request, response);
  const answer = await handle({
    method: nodeRequest.method,
    path,
    headers: nodeRequest.headers as ReceiverRequest["headers"],
    rawHeaders: nodeRequest.rawHeaders,
    read: (limit) => readBytes(nodeRequest, limit).catch(toReason),
    signal: nodeRequest.signal,
  });
  if (answer === "hang") return;
  if (answer === "reset") return void resetSocket(request.socket);
  if (response.destroyed) return;
  const { status, headers, body } = answer;
  request.resume();
  const length = isBodyless(status) ? {} : { "Content-Length": body.length };
  // `Connection: close` was set if the client waits for a 100, which never came.
  const isKept = response.shouldKeepAlive && !response.hasHeader("Connection");
  const connection = isKept ? {} : { Connection: "close" };
  response.writeHead(status, { ...headers, ...length, ...connection } as Record<string, string | string[]>);
  response.end(body);
}

function toReason(error: unknown): "gone" | "too-large" {
  if (error instanceof ClientGoneError) return "gone";
  if (error instanceof ApiError) return "too-large";
  throw error;
}
