import { createServer } from "node:net";

/**
 * Returns a free port that the system gives to no server that asks for any port, and uses for no outgoing connection
 * (from 32768 on). It stays free until a test uses it, also after a restart.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 12_000 + Math.floor(Math.random() * 20_000);
    if (!returned.has(port) && (await isFree(port))) {
      returned.add(port);
      return port;
    }
  }
}

const returned = new Set<number>();

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
