import type { IncomingMessage } from "node:http";
import { BlockList, isIPv6 } from "node:net";
import { type Site, toBaseUrl } from "../../engine/pipeline/plain-http.ts";
import type { OwnAddress } from "./own-address.ts";
import type { SandboxOrigins } from "./sandbox-origins.ts";

interface SiteOptions {
  /** The base of all URLs that are handed out at the server's own port, without a slash at its end. */
  publicUrl?: string | undefined;
  /** Addresses and CIDR ranges of proxies, whose `Forwarded` and `X-Forwarded-*` are trusted. */
  trustProxy?: readonly string[] | undefined;
}

/** `{name}.localhost` names a sandbox (interfaces.md 16). */
const NAMED_HOST = /^(.+)\.localhost\.?(?::(\d*))?$/i;
const HOST = /^[A-Za-z0-9._\-:[\]]{1,255}$/;

const isHost = (text: string) => HOST.test(text) && URL.canParse(`http://${text}`);

/** Knows how clients reach a server; the only source of the base of URLs in answers. */
export class Sites {
  readonly ownAddress: OwnAddress;
  readonly origins: SandboxOrigins;
  readonly publicUrl: string | undefined;
  private readonly proxies: BlockList | undefined;

  /** @throws Error for a proxy that is neither an address nor a range */
  constructor(
    { ownAddress, origins }: Pick<Sites, "ownAddress" | "origins">,
    { publicUrl, trustProxy = [] }: SiteOptions,
  ) {
    this.ownAddress = ownAddress;
    this.origins = origins;
    this.publicUrl = publicUrl?.replace(/\/+$/, "");
    this.proxies = trustProxy.length === 0 ? undefined : toBlockList(trustProxy);
  }

  forRequest(request: IncomingMessage): Site {
    return new RequestSite(this, request);
  }

  /** Scheme and host of the client's request, as a trusted proxy reports them. */
  readOrigin({ headers, socket, url }: IncomingMessage): { proto: string; host: string | undefined } {
    const { remoteAddress: peerAddress } = socket;
    const origin = { proto: this.ownAddress.scheme, host: readAuthority(url!) ?? headers.host };
    if (this.proxies === undefined || peerAddress === undefined) return origin;
    if (!this.proxies.check(peerAddress, isIPv6(peerAddress) ? "ipv6" : "ipv4")) return origin;
    const { forwarded } = headers;
    const readForwarded = (name: string) =>
      readParameter(forwarded ?? "", name) ?? readFirst(headers[`x-forwarded-${name}`]);
    const [proto, host] = [readForwarded("proto")?.toLowerCase(), readForwarded("host")];
    return {
      ...origin,
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
  for (const entry of addresses) {
    const [address, bits, ...extraParts] = entry.split("/") as [string, string?, ...string[]];
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    try {
      if (extraParts.length > 0 || bits === "") throw new Error();
      if (bits === undefined) list.addAddress(address, family);
      else list.addSubnet(address, Number(bits), family);
    } catch {
      throw new Error(`"${entry}" is neither an address nor a range; write it as in 10.0.0.5 or 10.0.0.0/8`);
    }
  }
  return list;
}

class RequestSite implements Site {
  readonly onlySandbox: string | undefined;
  private readonly sites: Sites;
  private readonly request: IncomingMessage;

  constructor(sites: Sites, request: IncomingMessage) {
    this.sites = sites;
    this.request = request;
    this.onlySandbox = sites.origins.findSandbox(request.socket);
  }

  get sandboxName(): string | undefined {
    const { host } = this.sites.readOrigin(this.request);
    const [, hostName, port] = NAMED_HOST.exec(host ?? "") ?? [];
    const name = hostName?.toLowerCase();
    const isOwnName = `${name}.localhost` === this.sites.ownAddress.host;
    if (this.onlySandbox === undefined) return isOwnName ? undefined : name;
    // The name of another sandbox is refused. A proxy may pass on a host with another port, which its client called.
    const isOfPort = Number(port) === this.request.socket.localPort;
    return isOwnName || !isOfPort ? this.onlySandbox : name;
  }

  get url(): string {
    const { ownAddress, publicUrl } = this.sites;
    const { socket } = this.request;
    if (this.onlySandbox === undefined && publicUrl !== undefined) return publicUrl;
    const { proto, host } = this.sites.readOrigin(this.request);
    if (ownAddress.isFromSelf(socket) && `http://${host}` === ownAddress.selfUrl) return ownAddress.url;
    if (host !== undefined && isHost(host)) return `${proto}://${host}`;
    return ownAddress.toUrl(socket.localAddress!, socket.localPort!);
  }

  baseUrl(sandbox: string, hasPrefix = false): string {
    const { ownAddress, publicUrl } = this.sites;
    const isOtherSandbox = this.onlySandbox !== undefined && sandbox !== this.onlySandbox;
    const base = isOtherSandbox ? (publicUrl ?? ownAddress.url) : this.url;
    const mayOmitPrefix = this.onlySandbox !== undefined || publicUrl === undefined;
    const unprefixedName = !isOtherSandbox && mayOmitPrefix ? this.sandboxName : undefined;
    return toBaseUrl(base, sandbox, unprefixedName, hasPrefix);
  }

  findOrigin(sandbox: string): string | null {
    const { ownAddress, origins } = this.sites;
    const port = origins.findPort(sandbox);
    if (port === undefined) return null;
    // Other machines may call the server by names that it does not know.
    const { hostname } = new URL(ownAddress.isOnEveryAddress ? this.url : ownAddress.url);
    // A name such as `orders.localhost` would name another sandbox at this port.
    return `${ownAddress.scheme}://${hostname.replace(/^.+\.localhost$/, "localhost")}:${port}`;
  }
}
