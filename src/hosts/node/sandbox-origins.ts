import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, createServer, type Socket, type Server as SocketServer } from "node:net";
import { NoPortError } from "../../engine/pipeline/plain-http.ts";
import type { Connections } from "./close-server.ts";

/**
 * Ports that serve one sandbox each (interfaces.md 16). They pass their connections to the server, which finds
 * the sandbox by the port.
 */
export class SandboxOrigins {
  private readonly server: Server;
  private readonly connections: Connections;
  private readonly portServers = new Map<string, SocketServer>();
  /** Sandboxes by port, until the port and its last connection are closed. */
  private readonly sandboxesByPort = new Map<number, string>();
  private isClosed = false;

  constructor(server: Server, connections: Connections) {
    this.server = server;
    this.connections = connections;
  }

  get size(): number {
    return this.portServers.size;
  }

  findPort(sandbox: string): number | undefined {
    return (this.portServers.get(sandbox)?.address() as AddressInfo | null | undefined)?.port;
  }

  /** Whether a port is that of a sandbox. */
  has(port: number): boolean {
    return this.sandboxesByPort.has(port);
  }

  /** The sandbox whose port a connection came to; undefined for the server's own port. */
  findSandbox({ localPort }: Socket): string | undefined {
    return this.sandboxesByPort.size === 0 ? undefined : this.sandboxesByPort.get(localPort!);
  }

  /** Opens a free port, on the address that the server is bound to. @throws NoPortError */
  async open(sandbox: string): Promise<void> {
    const portServer = createServer((socket) => this.server.emit("connection", socket));
    const serverAddress = this.server.address() as AddressInfo | null;
    if (serverAddress === null) throw new NoPortError("the server listens on no port itself");
    await new Promise<void>((resolve, reject) => {
      portServer.once("error", (cause) => reject(new NoPortError(cause.message, { cause })));
      portServer.listen({ host: serverAddress.address, port: 0 }, resolve);
    });
    const { port } = portServer.address() as AddressInfo;
    if (this.isClosed) return void portServer.close();
    // A deleted sandbox of this name has its port until its deletion is stored.
    this.close(sandbox);
    this.portServers.set(sandbox, portServer);
    this.sandboxesByPort.set(port, sandbox);
    portServer.once("close", () => this.sandboxesByPort.delete(port));
  }

  /** Closes the port of a deleted sandbox once `settle` resolves; keeps it if that fails, as the sandbox is restored then. */
  async closeAfter(sandbox: string, settle: () => Promise<void>): Promise<void> {
    const port = this.findPort(sandbox);
    if (port === undefined) return;
    const isUndone = await settle().then(
      () => false,
      () => true,
    );
    // A new sandbox of the name may have another port.
    if (!isUndone && this.findPort(sandbox) === port) this.close(sandbox);
  }

  /** Closes the port of a sandbox that is gone; requests in progress are still answered. */
  close(sandbox: string): void {
    const port = this.findPort(sandbox);
    if (port === undefined) return;
    this.portServers.get(sandbox)!.close();
    this.portServers.delete(sandbox);
    this.connections.closeAtPort(port);
  }

  /** Closes all ports and opens no more; resolves when the last connection is closed. */
  async closeAll(): Promise<void> {
    this.isClosed = true;
    const whenClosed = [...this.portServers.values()].map((portServer) => once(portServer, "close"));
    for (const sandbox of this.portServers.keys()) this.close(sandbox);
    await Promise.all(whenClosed);
  }
}
