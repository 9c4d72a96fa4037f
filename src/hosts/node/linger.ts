import type { Server } from "node:http";
import type { Socket } from "node:net";

/** How long a client may continue to send after its last answer, in wall milliseconds. */
export const LINGER_MS = 30_000;

/** Makes Node close the connections of a server in stages. */
export function lingerOnClose(server: Server): void {
  server.on("connection", (socket: Socket) => {
    socket.destroySoon = () => linger(socket);
  });
}

/**
 * Ends a connection in stages (RFC 9112, "Tear-down"): if it is closed with bytes unread, the system resets it, and the client
 * loses the answer. Bytes that still arrive are dropped, until the client closes it too.
 */
export function linger(socket: Socket, last = ""): void {
  socket.end(last);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once("close", () => clearTimeout(timer));
}
