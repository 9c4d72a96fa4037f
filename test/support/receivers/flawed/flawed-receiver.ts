import { createHmac } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";

/** State of the receiver between requests. */
export interface Memory {
  /** One entry per side effect, which the probe shows. */
  processed: string[];
  known: Set<string>;
  /** State of individual flaws. */
  scratch: Map<string, unknown>;
}

export interface Context {
  request: http.IncomingMessage;
  response: http.ServerResponse;
  server: http.Server;
  secret: string;
  body: Buffer;
  memory: Memory;
}

export interface Payload {
  event: string;
  delivery_id: string;
  timestamp: string;
  data: Record<string, unknown>;
}

/** Status, body and headers. */
export type Answer = [status: number, text?: string, headers?: Record<string, string>];

/** The steps of a correct receiver. A flaw replaces some of them. */
export interface Steps {
  /** Whether a request of this method is a delivery. */
  takes(context: Context): boolean;
  /** Responds to requests of other methods. */
  get(context: Context): Answer;
  /** Runs before the body is read. `null` continues. */
  screen(context: Context): Answer | null;
  readBody(context: Context): Promise<Buffer>;
  isSigned(context: Context): boolean;
  refuseSignature(context: Context): Answer;
  refuseJson(context: Context): Answer;
  /** Runs after the signature was verified. `null` continues. */
  consider(context: Context, payload: Payload): Answer | null;
  process(context: Context, payload: Payload): Promise<Answer> | Answer;
  /** Runs before the probe is answered. */
  work(context: Context): void;
}

export function computeSignature(secret: string, body: Buffer): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

export function getSentSignature(context: Context): string | undefined {
  return context.request.headers["x-service-signature"] as string | undefined;
}

export const CORRECT_STEPS: Steps = {
  takes: ({ request }) => request.method === "POST",
  get: () => [405, "POST only", { Allow: "POST" }],
  screen: () => null,
  async readBody({ request }) {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    return Buffer.concat(chunks);
  },
  isSigned: (context) => getSentSignature(context) === computeSignature(context.secret, context.body),
  refuseSignature: () => [401, "invalid signature"],
  refuseJson: () => [400, "not JSON"],
  consider: () => null,
  process({ memory }, { delivery_id: id }) {
    if (!memory.known.has(id)) {
      memory.known.add(id);
      memory.processed.push(id);
    }
    return [200, "ok"];
  },
  work: () => {},
};

export interface RunningReceiver {
  url: string;
  probe: string;
  close(): Promise<void>;
}

/** Starts a receiver at /webhook with a probe at /processed. It is correct except for the given steps. */
export async function startReceiver(secret: string, flaw: Partial<Steps> = {}): Promise<RunningReceiver> {
  const steps: Steps = { ...CORRECT_STEPS, ...flaw };
  const memory: Memory = { processed: [], known: new Set(), scratch: new Map() };
  // Keep connections open also on a busy machine: some flaws show only on a reused connection.
  const server = http.createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    const context: Context = { request, response, server, secret, body: Buffer.alloc(0), memory };
    try {
      const [status, text, headers] = await respond(steps, context);
      response.writeHead(status, headers).end(text);
    } catch {
      response.writeHead(500).end("internal error");
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${base}/webhook`,
    probe: `${base}/processed`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function respond(steps: Steps, context: Context): Promise<Answer> {
  const { request, memory } = context;
  if (request.url === "/processed") {
    steps.work(context);
    return [200, JSON.stringify(memory.processed)];
  }
  if (!steps.takes(context)) return steps.get(context);
  const refusal = steps.screen(context);
  if (refusal) return refusal;
  context.body = await steps.readBody(context);
  if (!steps.isSigned(context)) return steps.refuseSignature(context);
  let payload: Payload;
  try {
    payload = JSON.parse(context.body.toString("utf8"));
  } catch {
    return steps.refuseJson(context);
  }
  return steps.consider(context, payload) ?? (await steps.process(context, payload));
}
