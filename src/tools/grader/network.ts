import { once } from "node:events";
import net from "node:net";
import tls from "node:tls";
import { readUserText } from "../../documents/files.ts";
import { ALLOW_ALL } from "../../hosts/node/outbound/address-policy.ts";
import {
  createOutbound,
  createUrlResolver,
  type Outbound,
  type ResolveUrl,
} from "../../hosts/node/outbound/outbound.ts";
import { toFailure } from "../../hosts/node/outbound/outbound-failure.ts";
import type { OutboundRequest, OutboundResult } from "../../hosts/node/outbound/outbound-request.ts";
import "../../hosts/node/platform.ts";

export interface RawRequest
  extends Pick<OutboundRequest, "method" | "chunkAt" | "reuse" | "maxAnswerBytes" | "leave"> {
  url: URL;
  body: Buffer;
  /** Sent as they are: in this order and letter case, with duplicates. `Host` is added. */
  headers: [name: string, value: string][];
}

export interface SendOptions {
  outbound: Outbound;
  /** For the whole request, connecting included, in milliseconds. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** The network access of a run. */
export interface GraderNetwork {
  /** Closed when the grading ends. */
  outbound: Outbound;
  resolveUrl: ResolveUrl;
}

/**
 * Opens a network that may call any address, since the grader runs on the user's own machine. `caFile`:
 * certificates (PEM) to trust in addition to Node's own.
 */
export function openNetwork(caFile?: string): GraderNetwork {
  const ca = caFile === undefined ? {} : { ca: [...tls.rootCertificates, readUserText(caFile)] };
  const outbound = createOutbound({ policy: ALLOW_ALL, ...ca });
  return { resolveUrl: createUrlResolver({ policy: ALLOW_ALL }), outbound };
}

/**
 * Sends one request with the client that real deliveries use (G24: no redirects, a total deadline, 64 KB of
 * answer). Network failures are a result; only an aborted `signal` rejects.
 */
export async function sendRaw(
  { url, ...request }: RawRequest,
  { outbound, timeoutMs, signal }: SendOptions,
): Promise<OutboundResult> {
  signal?.throwIfAborted();
  const result = await outbound.send({ ...request, url: url.href, timeoutMs, ...(signal && { signal }) });
  signal?.throwIfAborted();
  return result;
}

/** Opens a connection, without TLS, and closes it. Returns null, or the reason why that failed. */
export async function tryConnect(
  url: URL,
  resolveUrl: ResolveUrl,
  timeoutMs: number,
): Promise<string | null> {
  let socket: net.Socket | undefined;
  try {
    const { addresses, ownPort } = await resolveUrl(url);
    const port = ownPort ?? (Number(url.port) || (url.protocol === "https:" ? 443 : 80));
    // Connects to the checked addresses only: the name is not resolved again.
    const lookup: net.LookupFunction = (_name, _options, callback) => callback(null, [...addresses]);
    socket = net.connect({ host: "receiver", port, lookup, autoSelectFamily: true });
    await once(socket, "connect", { signal: AbortSignal.timeout(timeoutMs) });
    return null;
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError")
      return `no connection within ${timeoutMs / 1000} s`;
    // If several addresses were tried, the error itself has an empty message.
    const causes = error instanceof AggregateError ? error.errors : [error];
    return causes.map((cause) => toFailure(cause).error.message).join("; ");
  } finally {
    socket?.destroy();
    socket?.on("error", () => {});
  }
}
