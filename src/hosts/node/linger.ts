import type { Server } from "node:http";
import type { Socket } from "node:net";
import { clearTimeout, setTimeout } from "node:timers";
import { Server as TlsServer } from "node:tls";

/** How long a client may continue to send after its last answer, in wall milliseconds. */
export const LINGER_MS = 30_000;

/** The event of a server for a connection that carries HTTP: with TLS, after the handshake. */
export function toConnectionEvent(server: Server): "connection" | "secureConnection" {
  return server instanceof TlsServer ? "secureConnection" : "connection";
}

/** The TCP connection under each TLS connection: a TLS socket cannot send RST. */
const tcpSockets = new WeakMap<Socket, Socket>();

export function rememberTcpSockets(server: Server): void {
  const handshakes = new Map<string, Socket>();
  const toKey = ({ remoteAddress, remotePort, localPort }: Socket) =>
    `${remoteAddress} ${remotePort} ${localPort}`;
  server.on("connection", (socket: Socket) => {
    const key = toKey(socket);
    handshakes.set(key, socket);
    socket.once("close", () => handshakes.delete(key));
  });
  server.on("secureConnection", (socket: Socket) => {
    const tcp = handshakes.get(toKey(socket));
    if (tcp !== undefined) tcpSockets.set(socket, tcp);
  });
}

export function resetSocket(socket: Socket): void {
  const tcp = tcpSockets.get(socket);
  (tcp ?? socket).resetAndDestroy();
  if (tcp !== undefined) socket.destroy();
}

/** Makes Node close the connections of a server in stages. */
export function lingerOnClose(server: Server): void {
  server.on(toConnectionEvent(server), (socket: Socket) => {
    socket.destroySoon = () => linger(socket);
  });
}

/**
 * Ends a connection in stages (RFC 9112, "Tear-down"). If it were closed with bytes unread, the system would reset it, and
 * the client would lose the answer. So bytes that still arrive are dropped, until the client closes or `LINGER_MS` pass.
 */
export function linger(socket: Socket, lastBytes = ""): void {
  socket.end(lastBytes);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once("close", () => clearTimeout(timer));
}
