import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "node:timers";
import { toConnectionEvent } from "./linger.ts";

/** The time that open responses have to end; then they are cut (a fault that hangs, a client that does not read). */
const GRACE_MS = 10_000;
const SWEEP_MS = 50;

/** The open connections of a server, each with its latest response. */
export class Connections {
  private readonly server: Server;
  private isClosing = false;
  private readonly responses = new Map<Socket, ServerResponse | undefined>();

  /** Must be called before the server listens. */
  constructor(server: Server) {
    this.server = server;
    server.on(toConnectionEvent(server), (socket: Socket) => {
      // The handshake of this connection was under way when the server closed.
      if (this.isClosing) return void socket.destroy();
      this.responses.set(socket, undefined);
      socket.once("close", () => this.responses.delete(socket));
    });
    server.on("request", (request, response) => {
      if (this.responses.has(request.socket)) this.responses.set(request.socket, response);
    });
  }

  /** How many requests wait for the first byte of their response. */
  get unansweredCount(): number {
    let count = 0;
    for (const response of this.responses.values())
      if (response !== undefined && !response.closed && !response.headersSent) count += 1;
    return count;
  }

  /** Closes the connections of a port, each after its current answer. */
  closeAtPort(port: number): void {
    for (const [socket, response] of this.responses) {
      if (socket.localPort !== port) continue;
      if (response === undefined || response.closed) socket.destroy();
      else response.once("close", () => socket.destroySoon());
    }
  }

  /**
   * Stops accepting, ends streams (`endStreams`), lets open requests finish, and resolves when all connections and the
   * server's other ports (`closingPorts`) are closed.
   */
  async close(endStreams: () => void, closingPorts: readonly Promise<void>[]): Promise<void> {
    // A connection that was busy when the server closed is kept alive after its response.
    const sweep = setInterval(() => this.server.closeIdleConnections(), SWEEP_MS);
    const forceClose = setTimeout(() => this.server.closeAllConnections(), GRACE_MS);
    this.isClosing = true;
    const whenClosed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeIdleConnections();
    // Node does not count a connection with incomplete headers as idle.
    for (const [socket, response] of this.responses)
      if (response === undefined || response.closed) socket.destroy();
    endStreams();
    await Promise.all([whenClosed, ...closingPorts]);
    clearInterval(sweep);
    clearTimeout(forceClose);
  }
}
