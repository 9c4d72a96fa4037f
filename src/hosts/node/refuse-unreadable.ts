import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { SERVICE_API_VERSION } from "../../engine/pipeline/response-headers.ts";
import { linger } from "./linger.ts";

const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  405: "Method Not Allowed",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
};

/** The status for an error of Node's parser; 400 for any other. */
const STATUSES: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/** Answers a request that Node's parser refuses (broken framing, headers too long). */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  // These bytes belong to a request that was refused already.
  if (socket.writableEnded) return;
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const pending = (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage;
  // The bytes belong to a later request, such as the body of a DELETE without a length: earlier ones are answered first.
  if (pending?.req.complete && !pending.writableFinished) return void answerAfter(pending, error, socket);
  const { code = "unknown reason" } = error;
  refuseSocket(socket, STATUSES[code] ?? 400, code);
}

const awaited = new WeakSet<ServerResponse>();

/** Each further piece of unreadable bytes reports the error again. */
function answerAfter(pending: ServerResponse, error: NodeJS.ErrnoException, socket: Socket): void {
  if (awaited.has(pending)) return;
  awaited.add(pending);
  pending.once("close", () => answerUnreadable(error, socket));
}

/** Writes the refusal to a socket, and ends the connection. */
export function refuseSocket(socket: Socket, status: number, reason: string): void {
  // After a CONNECT, Node no longer handles errors of the socket, and a client that resets it would end the process.
  socket.on("error", () => socket.destroy());
  const { headers, body } = createRefusal(status, reason);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  linger(socket, `HTTP/1.1 ${status} ${REASONS[status]}\r\n${lines.join("")}\r\n${body}`);
}

export function refuseRequest(response: ServerResponse, status: number, reason: string): void {
  const { headers, body } = createRefusal(status, reason);
  response.writeHead(status, headers).end(body);
}

/** The request belongs to no sandbox, so the timestamp is the machine's time; the answer has a trace id too (G29). */
function createRefusal(status: number, reason: string) {
  const trace_id = `req_${randomBytes(8).toString("hex")}`;
  const body = JSON.stringify({
    success: false,
    error: {
      code: `HTTP_${status}`,
      message: "The request cannot be read.",
      system_message: `It was refused before it reached the API: ${reason}. Send well-formed HTTP/1.1 with a Host, headers of at most 32 KiB, and a body as long as announced.`,
      type: "client_error",
      status,
      details: {},
      trace_id,
      timestamp: new Date().toISOString(),
    },
  });
  const headers = {
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": Buffer.byteLength(body),
    "service-api-version": SERVICE_API_VERSION,
    "x-request-id": trace_id,
    "service-processing-ms": 0,
    "X-Sandbox-Decision": "validation",
    Connection: "close",
  };
  return { headers, body };
}
