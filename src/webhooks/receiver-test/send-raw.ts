import http from "node:http";
import https from "node:https";

/** The service reads no more of an answer than this (issue: 64 KB at most). */
const MAX_ANSWER_BYTES = 64 * 1024;

export interface RawRequest {
  method: string;
  url: URL;
  /** Sent exactly so: this order, this letter case, duplicates included. `Host` is added. */
  headers: [name: string, value: string][];
  body: Buffer;
  /** Cut points within `body`: it then travels with chunked transfer coding, one chunk per piece. */
  chunkAt?: number[];
  /** Where the client hangs up, as a network failure or a deadline would. */
  leave?: "mid-body" | "after-body" | "at-answer";
}

export interface RawAnswer {
  kind: "answer";
  status: number;
  headers: string[];
  body: Buffer;
  duration_ms: number;
}

export interface NoAnswer {
  kind: "none";
  /** `timeout`, or the system's error code (ECONNREFUSED, ECONNRESET, ENOTFOUND, a TLS code ...). */
  reason: string;
  message: string;
  duration_ms: number;
}

export type RawResult = RawAnswer | NoAnswer | { kind: "left"; duration_ms: number };

export interface SendLimits {
  /** For the whole exchange, connecting included, in milliseconds. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Sends one HTTP/1.1 request over a connection of its own and reads at most 64 KB of the answer.
 * Redirects are not followed and nothing is decompressed, as with real deliveries (G24). Network
 * failures are a result, not an exception; only an aborted `signal` rejects.
 */
export function sendRaw(request: RawRequest, limits: SendLimits): Promise<RawResult> {
  limits.signal?.throwIfAborted();
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const client = openRequest(request);
    let settled = false;
    const settle = (finish: () => void) => {
      if (settled) return;
      settled = true;
      clearTimeout(deadline);
      limits.signal?.removeEventListener("abort", onAbort);
      client.destroy();
      finish();
    };
    const elapsed = () => Math.round(performance.now() - started);
    const fail = (reason: string, message: string) =>
      settle(() => resolve({ kind: "none", reason, message, duration_ms: elapsed() }));
    const left = () => settle(() => resolve({ kind: "left", duration_ms: elapsed() }));
    const onAbort = () => settle(() => reject(limits.signal?.reason));
    const deadline = setTimeout(
      () => fail("timeout", `no complete answer within ${limits.timeoutMs} ms`),
      limits.timeoutMs,
    );
    limits.signal?.addEventListener("abort", onAbort, { once: true });

    client.on("error", (error: NodeJS.ErrnoException) => fail(error.code ?? "error", error.message));
    client.on("response", (response) => {
      if (request.leave) return left();
      collect(response, {
        done: (body) =>
          settle(() =>
            resolve({
              kind: "answer",
              status: response.statusCode ?? 0,
              headers: response.rawHeaders,
              body,
              duration_ms: elapsed(),
            }),
          ),
        broken: (message) => fail("ECONNRESET", message),
      });
    });
    writeBody(client, request, left);
  });
}

function openRequest(request: RawRequest): http.ClientRequest {
  const { url } = request;
  const framing: [string, string][] = [
    ["Host", url.host],
    ["Connection", "close"],
  ];
  if (request.chunkAt) framing.push(["Transfer-Encoding", "chunked"]);
  else if (request.method !== "GET") framing.push(["Content-Length", String(request.body.length)]);
  return (url.protocol === "https:" ? https : http).request(url, {
    method: request.method,
    agent: false,
    // A flat list, because Node then sends names and order untouched.
    headers: [...framing, ...request.headers].flat(),
  });
}

function writeBody(client: http.ClientRequest, request: RawRequest, left: () => void): void {
  const { body, chunkAt, leave } = request;
  if (leave === "mid-body") {
    client.write(body.subarray(0, Math.floor(body.length / 2)), left);
    return;
  }
  let from = 0;
  for (const at of chunkAt ?? []) {
    client.write(body.subarray(from, at));
    from = at;
  }
  // Once handed to the system the bytes arrive even though the connection closes behind them.
  if (leave === "after-body") client.once("finish", left);
  client.end(body.subarray(from));
}

function collect(
  response: http.IncomingMessage,
  outcome: { done: (body: Buffer) => void; broken: (message: string) => void },
): void {
  const pieces: Buffer[] = [];
  let size = 0;
  response.on("data", (piece: Buffer) => {
    pieces.push(piece);
    size += piece.length;
    if (size >= MAX_ANSWER_BYTES) outcome.done(Buffer.concat(pieces).subarray(0, MAX_ANSWER_BYTES));
  });
  response.on("end", () => outcome.done(Buffer.concat(pieces)));
  response.on("error", () =>
    outcome.broken(`status ${response.statusCode}, then the connection broke before the answer was complete`),
  );
}
