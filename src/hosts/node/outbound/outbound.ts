import { clearTimeout, setTimeout } from "node:timers";
import type { AddressPolicy } from "./address-policy.ts";
import { createAgents } from "./outbound-agents.ts";
import { type HttpUrl, type OpenRequest, startRequest } from "./outbound-connection.ts";
import { createFailure, toFailure } from "./outbound-failure.ts";
import type { OutboundRequest, OutboundResult, RequestOutcome } from "./outbound-request.ts";
import { createSystemLookup, type Lookup, type ResolvedAddress, resolveTarget } from "./resolve-target.ts";

export interface OutboundOptions {
  policy: AddressPolicy;
  /** Replaces the system's resolver; for tests. */
  lookup?: Lookup;
  /** The local address for a URL of the sender's own server; the policy does not apply to it. */
  findOwnAddress?: (url: URL) => LocalAddress | undefined;
  /** Certificates (PEM) to trust in place of Node's own. */
  ca?: string | string[];
}

export interface LocalAddress extends ResolvedAddress {
  /** A port without TLS, whatever the URL says. */
  port: number;
}

interface ResolvedTarget {
  addresses: readonly ResolvedAddress[];
  /** The port of the sender's own server, which is reached without TLS; undefined for any other target. */
  ownPort: number | undefined;
}

/** Resolves a URL's host once, to allowed addresses or the server's own. @throws ForbiddenAddressError, Node's errors */
export type ResolveUrl = (url: URL) => Promise<ResolvedTarget>;

export interface Outbound {
  /** Makes one request. Never rejects: network failures are results. */
  send(request: OutboundRequest): Promise<OutboundResult>;
  /** Ends open attempts as `aborted` and closes all connections; later attempts end as `aborted` at once. */
  close(): void;
}

export function createUrlResolver({
  policy,
  lookup = createSystemLookup(),
  findOwnAddress,
}: Omit<OutboundOptions, "ca">): ResolveUrl {
  return async (url) => {
    const ownAddress = findOwnAddress?.(url);
    if (ownAddress !== undefined) return { addresses: [ownAddress], ownPort: ownAddress.port };
    return { addresses: await resolveTarget(url.hostname, policy, lookup), ownPort: undefined };
  };
}

/**
 * The one client for deliveries, test events, notifications and the receiver grader (sections 4.21 and 6, G15, G24). It follows no
 * redirects and never sends a request twice. Requests never queue for a connection, so a slow receiver delays no other;
 * the caller limits how many run at once.
 */
export function createOutbound({ ca, ...resolverOptions }: OutboundOptions): Outbound {
  const resolveUrl = createUrlResolver(resolverOptions);
  const agents = createAgents(ca);
  const pending = new Set<(result: RequestOutcome) => void>();
  let isClosed = false;

  const send = (request: OutboundRequest): Promise<OutboundResult> =>
    new Promise((resolve) => {
      const startedAt = performance.now();
      let openRequest: OpenRequest | undefined;
      const settle = (result: RequestOutcome) => {
        if (!pending.delete(settle)) return;
        clearTimeout(timer);
        request.signal?.removeEventListener("abort", abort);
        const reused = openRequest?.isReused() ? ({ reused: true } as const) : undefined;
        openRequest?.release();
        resolve({ ...result, ...reused, duration_ms: Math.round(performance.now() - startedAt) });
      };
      const abort = () => settle(createFailure("aborted", "the attempt was cancelled"));
      const expire = () => settle(createFailure("timeout", describeTimeout(openRequest, request)));
      const timer = setTimeout(expire, request.timeoutMs);
      pending.add(settle);
      request.signal?.addEventListener("abort", abort, { once: true });
      if (isClosed || request.signal?.aborted) return abort();

      const target = readTarget(request.url);
      if (typeof target === "string") return settle(createFailure("bad_url", target));
      resolveUrl(target)
        .then(({ addresses, ownPort }) => {
          if (!pending.has(settle)) return;
          if (ownPort !== undefined) target.protocol = "http:";
          openRequest = startRequest({ request, target, ownPort, addresses, agents }, settle);
        })
        .catch((error: unknown) => settle(toFailure(error)));
    });

  const close = () => {
    isClosed = true;
    for (const settle of [...pending]) settle(createFailure("aborted", "the sender was closed"));
    agents.destroy();
  };
  return { send, close };
}

function readTarget(text: string): HttpUrl | string {
  if (!URL.canParse(text)) return "the URL is not an absolute URL with a valid host";
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") return `${url.protocol} is not http: or https:`;
  if (url.username !== "" || url.password !== "") return "the URL carries credentials";
  return url as HttpUrl;
}

/** Reports the stage, unless the receiver simply did not answer. */
function describeTimeout(openRequest: OpenRequest | undefined, { timeoutMs }: OutboundRequest): string {
  const stage = openRequest === undefined ? "the name was not resolved" : openRequest.describeStage();
  return `timed out after ${timeoutMs / 1000} s${stage === undefined ? "" : `: ${stage}`}`;
}
