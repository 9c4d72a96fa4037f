import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { RESOURCES } from "../../src/engine/resources/index.ts";
import { Contract } from "../../src/tools/verify/contract.ts";
import type { VerifyReport } from "../../src/tools/verify/report.ts";
import { runVerify, type VerifyOptions } from "../../src/tools/verify/run-verify.ts";
import { type Api, type Caller, KEYS } from "./harness.ts";

/** Verify measures time with its own clock, which continues while the sandbox's is frozen. */
export const CLOCK_MARGIN_MS = 5_000;

/** Runs verify as one of the reference users. If it meets the rate limit, the sandbox's clock advances. */
export function verify(api: Api, who: Caller, options: Partial<VerifyOptions> = {}): Promise<VerifyReport> {
  return runVerify({
    contract: new Contract(RESOURCES),
    target: api.url,
    key: KEYS[who],
    write: false,
    version: "0",
    signal: new AbortController().signal,
    wait: (milliseconds) => api.advance(milliseconds + CLOCK_MARGIN_MS),
    ...options,
  });
}

export const toIdsToUse = (pairs: Record<string, string>): VerifyOptions["idsToUse"] =>
  new Map(Object.entries(pairs).map(([name, value]) => [name, [value]]));

/** Returns the checks with these outcomes, for messages of failing tests. */
export function describeChecks({ checks, stopped }: VerifyReport, outcomes: readonly string[]): object {
  const shown = checks.filter(({ outcome }) => outcomes.includes(outcome));
  return { stopped, shown: shown.map(({ id, failures, differences }) => ({ id, failures, differences })) };
}

export interface ProxiedRequest {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** Files and images are forwarded byte by byte. */
function chooseEncoding(headers: ProxiedResponse["headers"]): "latin1" | "utf8" {
  return /^(multipart|image)\//.test(String(headers["content-type"])) ? "latin1" : "utf8";
}

export interface ProxiedResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

export interface RecordingServer {
  url: string;
  seen: ProxiedRequest[];
  close(): Promise<void>;
}

/** Forwards requests and lets the test change each response; undefined breaks the connection. */
export async function startProxy(
  upstream: string,
  spoil: (request: ProxiedRequest, answer: ProxiedResponse) => ProxiedResponse | undefined | Promise<never>,
  ask: (request: ProxiedRequest) => ProxiedRequest = (request) => request,
): Promise<RecordingServer> {
  return startRecordingServer(async (received, answer) => {
    const { statusCode, headers, text } = await forward(upstream, ask(received));
    const spoilt = await spoil(received, { status: statusCode, headers, body: text });
    if (spoilt === undefined) return answer.socket?.destroy();
    const { "content-length": _length, "transfer-encoding": _coding, ...rest } = spoilt.headers;
    answer.writeHead(
      spoilt.status,
      Object.fromEntries(Object.entries(rest).filter(([, v]) => v !== undefined)),
    );
    answer.end(spoilt.body, chooseEncoding(spoilt.headers));
  });
}

/** Starts a server that responds as the test says and records its requests. */
export async function startRecordingServer(
  handle: (request: ProxiedRequest, answer: ServerResponse) => unknown,
): Promise<RecordingServer> {
  const seen: ProxiedRequest[] = [];
  const server: Server = createServer(async (incoming, answer) => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const received = {
      method: incoming.method!,
      path: incoming.url!,
      headers: incoming.headers,
      body: Buffer.concat(pieces).toString(chooseEncoding(incoming.headers)),
    };
    seen.push(received);
    await handle(received, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Forwarded {
  statusCode: number;
  headers: IncomingMessage["headers"];
  text: string;
}

/** Keeps connections open, as proxies do: otherwise each response would have `connection: close`. */
const upstreams = new Agent({ keepAlive: true });

function forward(upstream: string, { method, path, headers, body }: ProxiedRequest): Promise<Forwarded> {
  return new Promise((resolve, reject) => {
    const sent = request(upstream + path, { method, headers, agent: upstreams }, async (received) => {
      const pieces: Buffer[] = [];
      try {
        for await (const piece of received) pieces.push(piece as Buffer);
      } catch {
        // The stream was cut. Forward what arrived.
      }
      resolve({
        statusCode: received.statusCode!,
        headers: received.headers,
        text: Buffer.concat(pieces).toString(chooseEncoding(received.headers)),
      });
    });
    sent.on("error", reject);
    sent.end(body, chooseEncoding(headers));
  });
}
