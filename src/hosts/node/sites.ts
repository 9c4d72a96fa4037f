import type { IncomingMessage } from "node:http";
import { BlockList, isIPv6 } from "node:net";
import { type Site, toBaseUrl } from "../../engine/pipeline/plain-http.ts";
import type { OwnAddress } from "./own-address.ts";
import type { SandboxOrigins } from "./sandbox-origins.ts";

export interface SiteOptions {
  /** The base of all URLs that are handed out at the server's own port, without a slash at its end. */
  publicUrl?: string | undefined;
  /** Addresses and CIDR ranges of proxies, whose `Forwarded` and `X-Forwarded-*` are trusted. */
  trustProxy?: readonly string[] | undefined;
}

/** interfaces 16: `{name}.localhost` names a sandbox. */
const NAMED_HOST = /^(.+)\.localhost\.?(?::\d*)?$/i;
const HOST = /^[A-Za-z0-9._\-:[\]]{1,255}$/;

const isHost = (text: string) => HOST.test(text) && URL.canParse(`http://${text}`);

/** How clients reach a server: the only place that makes the base of URLs that are handed out. */
export class Sites {
  readonly own: OwnAddress;
  readonly origins: SandboxOrigins;
  readonly publicUrl: string | undefined;
  private readonly proxies: BlockList | undefined;

  /** @throws Error for a proxy that is neither an address nor a range */
  constructor({ own, origins }: Pick<Sites, "own" | "origins">, { publicUrl, trustProxy = [] }: SiteOptions) {
    this.own = own;
    this.origins = origins;
    this.publicUrl = publicUrl?.replace(/\/+$/, "");
    this.proxies = trustProxy.length === 0 ? undefined : toBlockList(trustProxy);
  }

  forRequest(request: IncomingMessage): Site {
    return new RequestSite(this, request);
  }

  /** Scheme and host of the client's request, as a trusted proxy reports them. */
  readOrigin({ headers, socket, url }: IncomingMessage): { proto: string; host: string | undefined } {
    const { remoteAddress: from } = socket;
    const sent = { proto: this.own.scheme, host: readAuthority(url!) ?? headers.host };
    if (this.proxies === undefined || from === undefined) return sent;
    if (!this.proxies.check(from, isIPv6(from) ? "ipv6" : "ipv4")) return sent;
    const { forwarded } = headers;
    const read = (name: string) =>
      readParameter(forwarded ?? "", name) ?? readFirst(headers[`x-forwarded-${name}`]);
    const [proto, host] = [read("proto")?.toLowerCase(), read("host")];
    return {
      ...sent,
      ...(proto !== undefined && /^https?$/.test(proto) && { proto }),
      ...(host !== undefined && isHost(host) && { host }),
    };
  }
}

/** An absolute target overrides Host (RFC 9112, 3.2.2). */
function readAuthority(target: string): string | undefined {
  return /^[a-z][a-z0-9+.-]*:\/\/([^/?#]+)/i.exec(target)?.[1];
}

const PARAMETER = /[\s,]*([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",;]*))[\s;]*(,?)/gy;

/** A parameter from the proxy next to the client (RFC 7239, 4). */
function readParameter(forwarded: string, name: string): string | undefined {
  for (const [, key, quoted, token, comma] of forwarded.matchAll(PARAMETER)) {
    if (key!.toLowerCase() === name) return quoted?.replace(/\\(.)/g, "$1") ?? token;
    if (comma) return undefined;
  }
  return undefined;
}

function readFirst(header: string | string[] | undefined): string | undefined {
  return header === undefined ? undefined : String(header).split(",")[0]!.trim();
}

/** @throws Error */
export function toBlockList(addresses: readonly string[]): BlockList {
  const list = new BlockList();
  for (const one of addresses) {
    const [address, bits, ...more] = one.split("/") as [string, string?, ...string[]];
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    try {
      if (more.length > 0 || bits === "") throw new Error();
      if (bits === undefined) list.addAddress(address, family);
      else list.addSubnet(address, Number(bits), family);
    } catch {
      throw new Error(`"${one}" is neither an address nor a range; write it as in 10.0.0.5 or 10.0.0.0/8`);
    }
  }
  return list;
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

  get sandboxName(): string | undefined {
    if (this.only !== undefined) return this.only;
    const { host } = this.sites.readOrigin(this.request);
    // `a.localhost` has eleven characters.
    if (host === undefined || host.length < 11) return undefined;
    const named = NAMED_HOST.exec(host)?.[1]?.toLowerCase();
    return `${named}.localhost` === this.sites.own.host ? undefined : named;
  }

  get url(): string {
    const { own, publicUrl } = this.sites;
    const { socket } = this.request;
    if (this.only === undefined && publicUrl !== undefined) return publicUrl;
    if (own.isFromSelf(socket)) return own.url;
    const { proto, host } = this.sites.readOrigin(this.request);
    if (host !== undefined && isHost(host)) return `${proto}://${host}`;
    return own.toUrl(socket.localAddress!, socket.localPort!);
  }

  baseUrl(sandbox: string, prefixed = false): string {
    const { own, publicUrl } = this.sites;
    const isElsewhere = this.only !== undefined && sandbox !== this.only;
    const base = isElsewhere ? (publicUrl ?? own.url) : this.url;
    const isNamed = this.only !== undefined || publicUrl === undefined;
    const named = !isElsewhere && isNamed ? this.sandboxName : undefined;
    return toBaseUrl(base, sandbox, named, prefixed);
  }

  findOrigin(sandbox: string): string | null {
    const { own, origins } = this.sites;
    const port = origins.findPort(sandbox);
    if (port === undefined) return null;
    // Other machines may call the server by names that it does not know.
    const { hostname } = new URL(own.isOnEveryAddress ? this.url : own.url);
    return `${own.scheme}://${hostname}:${port}`;
  }
}
