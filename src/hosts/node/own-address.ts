import type { Server } from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";
import type { SandboxOrigins } from "./sandbox-origins.ts";

/* How the server reaches itself, and what to call it. */

/** Where a server that listens on every address is reached from its own machine. */
const LOOPBACK: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

export const toUrl = (host: string, port: number) =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Whether the server is bound to every address of its machine. */
export function isEveryAddress(server: Server): boolean {
  return (server.address() as AddressInfo).address in LOOPBACK;
}

/** Where a listening server is reached from within. */
export function ownAddress(server: Server): { host: string; port: number } {
  const { address, port } = server.address() as AddressInfo;
  return { host: LOOPBACK[address] ?? address, port };
}

export function ownUrl(server: Server): string {
  const { host, port } = ownAddress(server);
  return toUrl(host, port);
}

/** Binds. @returns the base URL: by the name given, since the guard refuses calls to "every address" */
export function listen(server: Server, port: number, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      const { address, port: bound } = server.address() as AddressInfo;
      resolve(toUrl(LOOPBACK[address] ?? host, bound));
    });
  });
}

const RECEIVER = /^\/_receivers\/[^/]+\/[^/]+/;

/**
 * Finds the server's own receivers, which webhooks may call though its address is not one that they may call.
 * @param isOwn whether a URL with this port names the server
 */
export function findOwnReceiver(
  { server, origins }: { server: Server; origins: SandboxOrigins },
  isOwn: (url: URL, port: number) => boolean,
) {
  return (url: URL) => {
    if (!server.listening || !RECEIVER.test(url.pathname)) return undefined;
    const own = ownAddress(server);
    const port = origins.has(Number(url.port)) ? Number(url.port) : own.port;
    const family = isIPv6(own.host) ? (6 as const) : (4 as const);
    return isOwn(url, port) ? { address: own.host, family, port } : undefined;
  };
}
