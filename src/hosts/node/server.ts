import { createServer, IncomingMessage, type Server, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import { MAX_HEADER_BYTES } from "../../engine/contract/router.ts";
import { handleRequest } from "../../engine/pipeline/engine.ts";
import type { EngineParts } from "../../engine/pipeline/engine-parts.ts";
import { readAddress } from "../../engine/pipeline/plain-http.ts";
import { handleTogether } from "./batches.ts";
import type { ExpressServer, MessageClasses } from "./express-server.ts";
import type { FindSandbox } from "./hooks.ts";
import { lingerOnClose, rememberTcpSockets } from "./linger.ts";
import { NodeRequest } from "./node-request.ts";
import type { WireBreaker } from "./perform-wire.ts";
import { answerUnreadable, refuseRequest, refuseSocket, rememberResponse } from "./refuse-unreadable.ts";
import { sendCompleteAnswer } from "./send.ts";
import type { Sites } from "./sites.ts";

/**
 * Request and response classes of one server. Express gives them its prototypes once, instead of swapping those of each
 * request (docs/decisions/0003).
 */
export function createMessageClasses(): MessageClasses {
  return {
    Req: class extends IncomingMessage {},
    Res: class extends ServerResponse {} as MessageClasses["Res"],
  };
}

/** A certificate and its private key (PEM). */
export interface Certificate {
  cert: string;
  key: string;
}

/** A server that closes waits for handshakes that are under way. */
const HANDSHAKE_MS = 5_000;

/** Creates a server that answers once `answerRequests` was called. With a certificate it uses HTTPS only. */
export function createNodeServer({ Req, Res }: MessageClasses, certificate?: Certificate): Server {
  const options = {
    IncomingMessage: Req,
    ServerResponse: Res,
    headersTimeout: 10_000,
    requestTimeout: 0,
    keepAliveTimeout: 10_000,
    connectionsCheckingInterval: 2_000,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Node's own 400 has no body. Ours says what is missing; the control API's guard has its own.
    requireHostHeader: false,
    // Without this, Node would show only the first of two credentials.
    joinDuplicateHeaders: true,
  };
  const server =
    certificate === undefined
      ? createServer(options)
      : createTlsServer({ ...options, ...certificate, handshakeTimeout: HANDSHAKE_MS });
  // Node silently drops headers beyond a count, for example a credential; only their size is limited.
  server.maxHeadersCount = 0;
  if (certificate !== undefined) rememberTcpSockets(server);
  lingerOnClose(server);
  server.on("request", rememberResponse);
  server.on("clientError", answerUnreadable);
  // Needed, since Node closes the connection without an answer by default.
  server.on("connect", (_request, socket: Socket) => refuseSocket(socket, 405, "CONNECT"));
  server.on("checkContinue", (request, response) => {
    continueOnRead(request, response);
    server.emit("request", request, response);
  });
  server.on("checkExpectation", (_request, response) => refuseRequest(response, 417, "an unknown Expect"));
  return server;
}

/** `100 Continue` is sent when the body is first read; an earlier answer replaces it (RFC 9110, 10.1.1). */
function continueOnRead(request: IncomingMessage, response: ServerResponse): void {
  // After an early answer the client may not send the body, and then the connection cannot carry another request.
  response.setHeader("Connection", "close");
  request._read = (size) => {
    request._read = IncomingMessage.prototype._read;
    if (!response.headersSent && request.socket.writable) {
      response.removeHeader("Connection");
      response.writeContinue();
    }
    request._read(size);
  };
}

interface RequestParts {
  engine: EngineParts;
  findSandbox: FindSandbox;
  /** Refuses a browser that uses a foreign name for this server; false for any other client. */
  refuseForeignHost: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** The product's own paths: control API, console, receivers. */
  application: ExpressServer;
}

interface ServerNetwork {
  server: Server;
  wireBreaker: WireBreaker;
  sites: Sites;
}

/** Makes a server answer requests; the emulated API directly, since Express would cost a quarter of a small one's time. */
export function answerRequests(network: ServerNetwork, parts: RequestParts): void {
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    // The answer before this request was the last of the connection.
    if (request.socket.writableEnded) return;
    answerRequest(network, parts, request, response).catch((err) => {
      // A defect outside the engine's own error handling ends one connection, not the process.
      parts.engine.log.error({ err }, "a request could not be answered");
      response.destroy();
    });
  };
  network.server.on("request", handleTogether(handle));
}

async function answerRequest(
  { sites, wireBreaker }: ServerNetwork,
  { engine, findSandbox, refuseForeignHost, application }: RequestParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!hasOneHost(request)) return refuseRequest(response, 400, "not one valid Host header");
  const coding = request.headers["transfer-encoding"];
  if (coding !== undefined && !CHUNKED.test(coding))
    return refuseRequest(
      response,
      501,
      `Transfer-Encoding ${JSON.stringify(coding.slice(0, 80))} is not supported, chunked alone is`,
    );
  const nodeRequest = new NodeRequest(request, response, sites);
  // The product's own paths begin with `/_`, except for the prefix of a sandbox.
  if (nodeRequest.target.startsWith("/_") && !nodeRequest.target.startsWith("/_s/"))
    return application.handle(request, response);
  if (refuseForeignHost(request, response)) return;
  const address = readAddress(nodeRequest);
  const lookup = findSandbox(address.sandbox, { request, response });
  const sandbox = lookup instanceof Promise ? await lookup : lookup;
  if (sandbox === "answered") return;
  const answer = await handleRequest(engine, nodeRequest, { sandbox, address });
  if (answer === undefined) return;
  if (answer.wire !== undefined) await wireBreaker.send(request, response, answer);
  else await sendCompleteAnswer(request, response, answer);
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
