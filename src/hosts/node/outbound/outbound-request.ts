import type { OutboundAnswer } from "../../../engine/contract/services.ts";

export interface OutboundRequest {
  /** Absolute http or https URL without credentials. */
  url: string;
  method: string;
  /**
   * Sent in this spelling; only Host, Connection and Content-Length are added. A list is sent in its order,
   * repeated names included, over a connection of its own that is closed after the answer, unless `reuse` says
   * otherwise.
   */
  headers: Record<string, string | string[]> | readonly (readonly [name: string, value: string])[];
  body: Uint8Array;
  /** Cut points within `body`: it then travels with chunked transfer coding, one chunk per piece. */
  chunkAt?: readonly number[] | undefined;
  /** Whether a request with a list of headers may use a pooled connection, and return it to the pool. */
  reuse?: boolean | undefined;
  /** How much of the answer is read; default 64 KB. */
  maxAnswerBytes?: number | undefined;
  /** The point at which to close the connection, as a network failure or a deadline would; ends as `left`. */
  leave?: "mid-body" | "after-body" | "at-answer" | undefined;
  /** From the call of `send` to the end of the answer, name resolution included; milliseconds of wall clock. */
  timeoutMs: number;
  signal?: AbortSignal;
}

/** Why an attempt got no complete answer. */
export type OutboundErrorKind =
  | "timeout"
  | "refused"
  | "reset"
  | "incomplete"
  | "unreachable"
  | "dns"
  | "tls"
  | "forbidden_address"
  | "protocol"
  | "bad_url"
  | "unsendable"
  | "aborted"
  | "left"
  | "network";

export interface OutboundResult extends OutboundAnswer {
  headers: Record<string, string | string[]>;
  /** As sent, never decompressed; at most 64 KB, or `maxAnswerBytes`. */
  body: Buffer;
  /** The answer's body was longer than the part that was read. */
  truncated: boolean;
  /** Present if its connection carried other requests before. */
  reused?: true;
  error?: { kind: OutboundErrorKind; message: string };
}

export type RequestOutcome = Omit<OutboundResult, "duration_ms" | "reused">;
