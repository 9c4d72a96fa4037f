import type { IncomingMessage, Server } from "node:http";
import type { Site } from "../../engine/pipeline/plain-http.ts";
import { isEveryAddress, ownUrl, toUrl } from "./own-address.ts";
import type { SandboxOrigins } from "./sandbox-origins.ts";

/** interfaces 16: `{name}.localhost` names a sandbox. */
const NAMED_HOST = /^(.+)\.localhost\.?(?::\d*)?$/i;
const HOST = /^[A-Za-z0-9._\-:[\]]{1,255}$/;

/** How clients reach a server: the only place that makes the base of URLs that are handed out. */
export class Sites {
  readonly server: Server;
  readonly origins: SandboxOrigins;

  constructor(server: Server, origins: SandboxOrigins) {
    this.server = server;
    this.origins = origins;
  }

  of(request: IncomingMessage): Site {
    return new RequestSite(this, request);
  }

  /** Scheme and host as the client called them. */
  calledUrl({ headers: { host }, socket }: IncomingMessage): string {
    if (host !== undefined && HOST.test(host)) return `http://${host}`;
    return toUrl(socket.localAddress!, socket.localPort!);
  }
}

class RequestSite implements Site {
  readonly only: string | undefined;
  private readonly sites: Sites;
  private readonly request: IncomingMessage;

  constructor(sites: Sites, request: IncomingMessage) {
    this.sites = sites;
    this.request = request;
    this.only = sites.origins.findSandbox(request.socket);
  }

  get named(): string | undefined {
    if (this.only !== undefined) return this.only;
    const { host } = this.request.headers;
    // Few hosts are so long, and each request asks.
    if (host === undefined || host.length < 11) return undefined;
    return NAMED_HOST.exec(host)?.[1]?.toLowerCase();
  }

  get url(): string {
    return this.sites.calledUrl(this.request);
  }

  baseUrl(sandbox: string, prefixed = false): string {
    const isElsewhere = this.only !== undefined && sandbox !== this.only;
    const base = isElsewhere ? ownUrl(this.sites.server) : this.url;
    const named = (isElsewhere ? undefined : this.named) ?? "default";
    return sandbox === named && !prefixed ? base : `${base}/_s/${sandbox}`;
  }

  findOrigin(sandbox: string): string | null {
    const { server, origins } = this.sites;
    const port = origins.findPort(sandbox);
    if (port === undefined) return null;
    const own = new URL(ownUrl(server));
    // A server that other machines reach is called by names that only its callers know.
    const { hostname } = isEveryAddress(server) ? new URL(this.url) : own;
    return `${own.protocol}//${hostname}:${port}`;
  }
}
