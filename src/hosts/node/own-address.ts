import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, createServer, isIPv6, type Socket, type Server as SocketServer } from "node:net";
import { Server as TlsServer } from "node:tls";
import type { LocalAddress } from "./outbound/outbound.ts";
import type { SandboxOrigins } from "./sandbox-origins.ts";

/** The loopback address of a server that listens on every address. */
const LOOPBACK: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** The server's own address and URL. */
export class OwnAddress {
  readonly server: Server;
  readonly scheme: "http" | "https";
  /** The host that it was bound to. */
  host = "";
  /** With TLS: a port on loopback without it, so that calls of the server to itself need no trusted certificate. */
  private loopbackServer: SocketServer | undefined;

  constructor(server: Server) {
    this.server = server;
    this.scheme = server instanceof TlsServer ? "https" : "http";
  }

  /**
   * Starts listening.
   * @returns the base URL, with the given host or, for addresses such as 0.0.0.0 that the guard refuses, with loopback
   */
  async listen(port: number, host: string): Promise<string> {
    this.host = host.toLowerCase();
    this.server.listen(port, host);
    await once(this.server, "listening");
    if (this.scheme === "https") {
      this.loopbackServer = createServer((socket) => this.server.emit("secureConnection", socket));
      await once(this.loopbackServer.listen(0, "127.0.0.1"), "listening");
    }
    const { address, port: boundPort } = this.boundAddress;
    return this.toUrl(LOOPBACK[address] ?? host, boundPort);
  }

  async close(): Promise<void> {
    if (this.loopbackServer !== undefined) await once(this.loopbackServer.close(), "close");
  }

  /** Whether it is bound to every address of its machine. */
  get isOnEveryAddress(): boolean {
    return this.boundAddress.address in LOOPBACK;
  }

  /** The URL at which other programs on this machine reach the server. */
  get url(): string {
    const { address, port } = this.boundAddress;
    return this.toUrl(LOOPBACK[address] ?? address, port);
  }

  /** The address at which it reaches itself, without TLS. */
  get selfAddress(): { host: string; port: number } {
    const { address, port } =
      (this.loopbackServer?.address() as AddressInfo | undefined) ?? this.boundAddress;
    return { host: LOOPBACK[address] ?? address, port };
  }

  /** Whether a connection came to the loopback port, which exists only with TLS. */
  isFromSelf({ localPort }: Socket): boolean {
    return (
      this.loopbackServer !== undefined && (this.loopbackServer.address() as AddressInfo).port === localPort
    );
  }

  get selfUrl(): string {
    const { host, port } = this.selfAddress;
    return `http://${addBrackets(host)}:${port}`;
  }

  toUrl(host: string, port: number): string {
    return `${this.scheme}://${addBrackets(host)}:${port}`;
  }

  /**
   * Returns a function that finds the address of a URL of the server's own receivers, which webhooks may call although
   * the policy forbids it.
   * @param isOwn whether a URL names the server, which answers at this port
   */
  createReceiverLookup(origins: SandboxOrigins, isOwn: (url: URL, port: number) => boolean) {
    return (url: URL): LocalAddress | undefined => {
      if (!this.server.listening || !RECEIVER.test(url.pathname)) return undefined;
      const { host: address, port } = this.selfAddress;
      const calledPort = origins.has(Number(url.port)) ? Number(url.port) : this.boundAddress.port;
      // The server's port speaks only its own protocol; another port may be a proxy's, with the other protocol.
      if (Number(url.port) === calledPort && url.protocol !== `${this.scheme}:`) return undefined;
      const family = isIPv6(address) ? (6 as const) : (4 as const);
      return isOwn(url, calledPort) ? { address, family, port } : undefined;
    };
  }

  private get boundAddress(): AddressInfo {
    return this.server.address() as AddressInfo;
  }
}

/**
 * Starts a server that has no TLS. Returns its base URL, with the given host, and a function that ends it with all its
 * connections. Node's `closeAllConnections` leaves those open that ended with a CONNECT.
 */
export async function openPort(
  server: Server,
  port: number,
  host: string,
): Promise<{ url: string; close: () => Promise<void> }> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await once(server.listen(port, host), "listening");
  return {
    url: `http://${addBrackets(host)}:${(server.address() as AddressInfo).port}`,
    async close() {
      const whenClosed = once(server.close(), "close");
      for (const socket of sockets) socket.destroy();
      await whenClosed;
    },
  };
}

const addBrackets = (host: string) => (host.includes(":") ? `[${host}]` : host);

const RECEIVER = /^\/_receivers\/[^/]+\/[^/]+/;
