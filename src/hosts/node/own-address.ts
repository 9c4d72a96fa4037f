import type { Server } from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";
import type { SandboxOrigins } from "./sandbox-origins.ts";

/* The server's own address and URL. */

/** The loopback address of a server that listens on every address. */
const LOOPBACK: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

export const toUrl = (host: string, port: number) =>
  `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Whether the server is bound to every address of its machine. */
export function isEveryAddress(server: Server): boolean {
  return (server.address() as AddressInfo).address in LOOPBACK;
}

/** The address at which a server reaches itself. */
export function ownAddress(server: Server): { host: string; port: number } {
  const { address, port } = server.address() as AddressInfo;
  return { host: LOOPBACK[address] ?? address, port };
}

export function ownUrl(server: Server): string {
  const { host, port } = ownAddress(server);
  return toUrl(host, port);
}

/** Starts listening. @returns the base URL with the given host, since the guard refuses addresses such as 0.0.0.0 */
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
 * Finds the server's own receivers, which webhooks may call although the policy forbids its address.
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
