import type { Exchange } from "./exchange.ts";

/** Scheme, authority and prefix of URLs that are handed out: they stay in the sandbox and follow Host (interfaces 3). */
export function baseUrl({ request, sandbox, prefixed }: Exchange): string {
  const host = request.headers.host;
  const { localAddress, localPort } = request.socket;
  const authority =
    host !== undefined && /^[A-Za-z0-9._\-:[\]]{1,255}$/.test(host)
      ? host
      : `${localAddress?.includes(":") ? `[${localAddress}]` : localAddress}:${localPort}`;
  return `http://${authority}${prefixed || sandbox.name !== "default" ? `/_s/${sandbox.name}` : ""}`;
}
