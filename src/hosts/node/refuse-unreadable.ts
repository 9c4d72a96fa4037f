import { randomBytes } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { SERVICE_API_VERSION } from "../../engine/pipeline/response-headers.ts";
import { linger } from "./linger.ts";

/** The status for an error of Node's parser; 400 for any other. */
const STATUSES: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/** Why Node's parser refuses a request, by its code. */
const PARSER_REASONS: Readonly<Record<string, string>> = {
  HPE_INVALID_METHOD: "it does not begin with a method of HTTP, such as GET or POST",
  HPE_INVALID_URL:
    "its URL is not valid: a path begins with /, and characters other than ASCII are percent-encoded, as in %C3%A9 for é",
  HPE_INVALID_CONSTANT: "its first line is not METHOD PATH HTTP/1.1; a space in a path is written %20",
  HPE_INVALID_VERSION: "its version of HTTP is not 1.1 or 1.0",
  HPE_PAUSED_H2_UPGRADE: "it is HTTP/2",
  HPE_INVALID_HEADER_TOKEN:
    "a header has a character that HTTP forbids in names or values, or a space before its colon",
  HPE_CR_EXPECTED: "a line does not end with CR LF",
  HPE_LF_EXPECTED: "a line does not end with CR LF",
  HPE_INVALID_CONTENT_LENGTH: "its Content-Length is not a number, or was sent with Transfer-Encoding",
  HPE_UNEXPECTED_CONTENT_LENGTH: "Content-Length was sent twice, or with Transfer-Encoding",
  HPE_INVALID_TRANSFER_ENCODING:
    "its Transfer-Encoding does not end with chunked, or came with Content-Length",
  HPE_INVALID_CHUNK_SIZE: "the size of a chunk of its body is not a hexadecimal number",
  HPE_STRICT: "a chunk of its body is not as long as announced",
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "a chunk extension of its body is too long",
  HPE_HEADER_OVERFLOW: "its headers are too long",
  HPE_INVALID_EOF_STATE: "the connection was closed in the middle of it",
  ERR_HTTP_REQUEST_TIMEOUT: "its headers took too long to arrive",
};

/** The first byte of a TLS connection. */
const TLS_HANDSHAKE = 0x16;

interface ParserError extends NodeJS.ErrnoException {
  /** In the parser's own words. */
  reason?: string;
  rawPacket?: Buffer;
}

function explainError({ code = "", reason, rawPacket }: ParserError): string {
  if (code === "HPE_INVALID_METHOD" && rawPacket?.[0] === TLS_HANDSHAKE)
    return "it is TLS, and this port speaks plain HTTP; write http:// in place of https://";
  if (code === "HPE_INVALID_VERSION" && reason?.startsWith("Expected CRLF"))
    return PARSER_REASONS["HPE_CR_EXPECTED"]!;
  return PARSER_REASONS[code] ?? `it is not valid HTTP${reason ? ` (${reason})` : ""}`;
}

/** Makes a server refuse, with a reason, the requests that Node reports by events other than `request`. */
export function refuseUnreadable(server: Server): void {
  server.on("request", rememberResponse);
  server.on("clientError", answerUnreadable);
  // Needed, since Node closes the connection without an answer by default.
  server.on("connect", (_request, socket: Socket) =>
    refuseSocket(socket, 405, "CONNECT is a method for proxies"),
  );
  server.on("checkExpectation", (_request, response) => refuseRequest(response, 417, "an unknown Expect"));
}

/** Refuses a request without one valid Host, or with a body that Node does not decode; returns whether it did. */
export function refuseBadHostOrCoding(request: IncomingMessage, response: ServerResponse): boolean {
  const coding = request.headers["transfer-encoding"];
  if (!hasOneHost(request)) refuseRequest(response, 400, "not one valid Host header");
  else if (coding !== undefined && !CHUNKED.test(coding))
    refuseRequest(
      response,
      501,
      `Transfer-Encoding ${JSON.stringify(coding.slice(0, 80))} is not supported, chunked alone is`,
    );
  else return false;
  return true;
}

/** The only transfer coding that Node decodes; a body with any other is refused with 501 (RFC 9112, 6.1). */
const CHUNKED = /^\s*chunked\s*$/i;

const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Whether the request has exactly one Host header (RFC 9112, 3.2); HTTP/1.0 may omit it. */
function hasOneHost({ headers, rawHeaders, httpVersionMinor }: IncomingMessage): boolean {
  const { host } = headers;
  if (host === undefined) return httpVersionMinor === 0;
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === "host") hosts += 1;
  return hosts === 1 && HOST.test(host);
}

/** Answers a request that Node's parser refuses (broken framing, headers too long). */
function answerUnreadable(error: ParserError, socket: Socket): void {
  // These bytes belong to a request that was refused already.
  if (socket.writableEnded) return;
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const last = lastResponses.get(socket);
  // The bytes belong to the last request if it is not complete; otherwise they follow it, as does the body of a DELETE
  // without a length. The requests before these bytes are answered first.
  const earlier = last?.req.complete === false ? earlierResponses.get(last) : last;
  if (earlier?.writableFinished === false) return void answerAfter(earlier, error, socket);
  refuseSocket(socket, STATUSES[error.code ?? ""] ?? 400, explainError(error));
}

/** By connection: the response to its latest request. */
const lastResponses = new WeakMap<Socket, ServerResponse>();
/** By response: the one before it, which was not finished when the request arrived. */
const earlierResponses = new WeakMap<ServerResponse, ServerResponse>();

/** Called for each request, so that unreadable bytes after it are refused after its answer. */
function rememberResponse({ socket }: IncomingMessage, response: ServerResponse): void {
  const earlier = lastResponses.get(socket);
  if (earlier?.writableFinished === false) earlierResponses.set(response, earlier);
  lastResponses.set(socket, response);
}

const awaited = new WeakSet<ServerResponse>();

/** Each further piece of unreadable bytes reports the error again. */
function answerAfter(response: ServerResponse, error: ParserError, socket: Socket): void {
  if (awaited.has(response)) return;
  awaited.add(response);
  response.once("close", () => answerUnreadable(error, socket));
}

function refuseSocket(socket: Socket, status: number, reason: string): void {
  // After a CONNECT, Node no longer handles errors of the socket, and a client that resets it would end the process.
  socket.on("error", () => socket.destroy());
  const { headers, body } = createRefusal(status, reason);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  linger(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`);
}

function refuseRequest(response: ServerResponse, status: number, reason: string): void {
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
      system_message: `It was refused unread: ${reason}. Send well-formed HTTP/1.1 with a Host, headers of at most 32 KiB, and a body as long as announced.`,
      type: status >= 500 ? "server_error" : "client_error",
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
    // No method: the target of a CONNECT is another server.
    ...(status === 405 && { Allow: "" }),
    Connection: "close",
  };
  return { headers, body };
}
