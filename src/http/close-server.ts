import type { Server } from "node:http";

/** What has not ended by then (a fault that hangs, a client that does not read) is cut. */
const GRACE_MS = 10_000;
const SWEEP_MS = 50;

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
    endStreams();
  });
}
