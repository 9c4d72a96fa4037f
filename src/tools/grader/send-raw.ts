import { readFileSync } from "node:fs";
import tls from "node:tls";
import { createAddressPolicy } from "../../hosts/node/outbound/address-policy.ts";
import {
  createLocate,
  createOutbound,
  type Locate,
  type Outbound,
} from "../../hosts/node/outbound/outbound.ts";
import type { OutboundErrorKind } from "../../hosts/node/outbound/outbound-failure.ts";
import type { OutboundRequest } from "../../hosts/node/outbound/outbound-request.ts";
import "../../hosts/node/platform.ts";

export interface RawRequest
  extends Pick<OutboundRequest, "method" | "chunkAt" | "reuse" | "maxAnswerBytes" | "leave"> {
  url: URL;
  body: Buffer;
  /** Sent exactly so: this order, this letter case, duplicates included. `Host` is added. */
  headers: [name: string, value: string][];
}

export interface RawAnswer {
  kind: "answer";
  status: number;
  headers: Record<string, string | string[]>;
  body: Buffer;
  /** The answer went on after what was read. */
  truncated: boolean;
  /** Over a connection that had carried others before. */
  reused: boolean;
  duration_ms: number;
}

export interface NoAnswer {
  kind: "none";
  reason: OutboundErrorKind;
  message: string;
  reused: boolean;
  duration_ms: number;
}

export type RawResult = RawAnswer | NoAnswer | { kind: "left"; reused: boolean; duration_ms: number };

export interface SendLimits {
  outbound: Outbound;
  /** For the whole exchange, connecting included, in milliseconds. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** How a grading reaches its receiver. */
export interface GraderNetwork {
  /** Closed when the grading ends. */
  outbound: Outbound;
  locate: Locate;
}

/**
 * The client of deliveries, pointed at the receiver that is graded; it runs on the partner's machine and calls
 * the address it was told to. `caFile`: certificates (PEM) to trust beside Node's own.
 */
export function openNetwork(caFile?: string): GraderNetwork {
  const policy = createAddressPolicy({ mode: "local" });
  return {
    locate: createLocate({ policy }),
    outbound: createOutbound({
      policy,
      ...(caFile === undefined ? {} : { ca: [...tls.rootCertificates, readFileSync(caFile, "utf8")] }),
    }),
  };
}

/**
 * Sends one request with the client that real deliveries use (G24: no redirects, a total deadline, 64 KB of
 * answer). Network failures are a result; only an aborted `signal` rejects.
 */
export async function sendRaw(
  request: RawRequest,
  { outbound, timeoutMs, signal }: SendLimits,
): Promise<RawResult> {
  signal?.throwIfAborted();
  const result = await outbound.send({
    ...request,
    url: request.url.href,
    timeoutMs,
    ...(signal === undefined ? {} : { signal }),
  });
  signal?.throwIfAborted();
  const { response_code: status, headers, body, truncated, duration_ms, error, reused = false } = result;
  if (error === undefined) return { kind: "answer", status, headers, body, truncated, reused, duration_ms };
  if (error.kind === "left") return { kind: "left", reused, duration_ms };
  return { kind: "none", reason: error.kind, message: error.message, reused, duration_ms };
}
