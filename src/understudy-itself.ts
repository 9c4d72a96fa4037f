import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Mount } from "./control/application.ts";

/* What the server does as a client of its own. */

const urlOf = (host: string, port: number) => `http://${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Where a server that listens on every address is reached from its own machine. */
const LOOPBACK_OF: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** Where a server that may listen on every address is reached from within. */
export function ownAddress(server: Server): { host: string; port: number } {
  const { address, port } = server.address() as AddressInfo;
  return { host: LOOPBACK_OF[address] ?? address, port };
}

/** What to call a server that listens on `host`: its guard refuses to be called by "every address". */
export function urlFor(server: Server, host: string): string {
  const { address, port } = server.address() as AddressInfo;
  return urlOf(LOOPBACK_OF[address] ?? host, port);
}

/** Loaded with the first client: most servers never see one. Its tools are a client of the control API. */
export function mcpOf(
  server: () => Server,
  { token, version }: { token: string | undefined; version: string },
): Mount["handle"] {
  let loading: Promise<Mount["handle"]> | undefined;
  const url = () => {
    const { host, port } = ownAddress(server());
    return urlOf(host, port);
  };
  const load = async () => {
    const { mcpOverHttp } = await import("./client/mcp/serve-http.ts");
    return mcpOverHttp({ url, token, version });
  };
  return async (...exchange) => {
    loading ??= load();
    await (await loading)(...exchange);
  };
}
