import { createServer, IncomingMessage, type Server, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { MAX_HEADER_BYTES } from "../../engine/contract/router.ts";
import type { MessageClasses } from "./express-server.ts";
import { lingerOnClose, rememberTcpSockets } from "./linger.ts";
import { refuseUnreadable } from "./refuse-unreadable.ts";

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

/** Time limit of a TLS handshake. A closing server waits for handshakes that are under way. */
const HANDSHAKE_MS = 5_000;

/** In lists, since Node then refuses an empty certificate or key; it would ignore a single one. */
export const toLists = ({ cert, key }: Certificate) => ({ cert: [cert], key: [key] });

/** Creates a server that refuses unreadable requests with a reason. With a certificate it uses HTTPS only. */
export function createNodeServer(
  { Req, Res }: MessageClasses = createMessageClasses(),
  certificate?: Certificate,
): Server {
  const options = {
    IncomingMessage: Req,
    ServerResponse: Res,
    headersTimeout: 10_000,
    requestTimeout: 0,
    keepAliveTimeout: 10_000,
    connectionsCheckingInterval: 2_000,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Node's own 400 has no body. Ours says what is missing; the control API has a message of its own for it.
    requireHostHeader: false,
    // Without this, Node would show only the first of two credentials.
    joinDuplicateHeaders: true,
  };
  const server =
    certificate === undefined
      ? createServer(options)
      : createTlsServer({ ...options, ...toLists(certificate), handshakeTimeout: HANDSHAKE_MS });
  // Node silently drops headers beyond a count, for example a credential; only their size is limited.
  server.maxHeadersCount = 0;
  if (certificate !== undefined) rememberTcpSockets(server);
  lingerOnClose(server);
  refuseUnreadable(server);
  server.on("checkContinue", (request, response) => {
    continueOnRead(request, response);
    server.emit("request", request, response);
  });
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
