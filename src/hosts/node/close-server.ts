import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** What has not ended by then (a fault that hangs, a client that does not read) is cut. */
const GRACE_MS = 10_000;
const SWEEP_MS = 50;

const connections = new WeakMap<Server, Set<Socket>>();

/** Remembers who is connected, for the end; to be called before the server listens. */
export function noteConnections(server: Server): void {
  const open = new Set<Socket>();
  connections.set(server, open);
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
}

/** Node's own note of what it answers over a connection; it has no public name. */
type Answering = Socket & { _httpMessage?: ServerResponse | null };

/** How many requests wait for the first byte of their answer. */
export function unansweredBy(server: Server): number {
  let count = 0;
  for (const { _httpMessage: answer } of (connections.get(server) ?? []) as Iterable<Answering>)
    if (answer && !answer.headersSent) count += 1;
  return count;
}

/** To Node, who has never said a word or half a head is not idle but about to: nobody has asked for anything yet. */
function closeUnasked(server: Server): void {
  for (const socket of connections.get(server) ?? [])
    if (((socket as Answering)._httpMessage ?? null) === null) socket.destroy();
}

/**
 * Stops accepting, ends what would never end by itself (`endStreams`), lets open requests finish, and
 * resolves when the last connection is gone.
 */
export function closeServer(server: Server, endStreams: () => void): Promise<void> {
  return new Promise((resolve) => {
    // A connection that was busy when the server closed is kept alive after its answer unless someone sweeps.
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
    const cut = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
    closeUnasked(server);
    endStreams();
  });
}
