import type { IncomingMessage, ServerResponse } from "node:http";
import Type, { type Static } from "typebox";
import { Closed, Timestamp, Words } from "../contract/schema.ts";
import type { WorldReader } from "../state/transaction.ts";
import type { World } from "../state/world.ts";
import { SIGNATURE_HEADER } from "../webhooks/sign.ts";
import { Forwarding } from "./forwarding.ts";
import { readDelivery } from "./read-delivery.ts";
import { answerTo, describeAnswer, simulateAnswer } from "./receiver-answer.ts";
import { type Receiver, receivers } from "./receiver-record.ts";
import { verdict } from "./verdict.ts";

/** What reached a receiver, as it is listed. */
export const ReceivedRequestBody = Closed(
  {
    at: Timestamp({ description: "On the sandbox's clock" }),
    method: Type.String(),
    path: Type.String({ description: "Below the receiver's own; empty for itself" }),
    headers: Type.Record(Type.String(), Type.Unsafe<string | string[]>({ type: ["string", "array"] })),
    body: Type.String({ description: "The raw text; a byte that is no UTF-8 becomes U+FFFD" }),
    verdict: Words(["valid", "invalid", "missing"], { description: "On the signature" }),
    reason: Type.String(),
    answer: Type.String({ description: "How it was answered, such as `503`, `hang` or `forward`" }),
  },
  {
    $id: "ReceivedRequest",
    examples: [
      {
        at: "2026-03-15T12:00:00.000Z",
        method: "POST",
        path: "",
        headers: { "content-type": "application/json", "x-service-event": "user.created" },
        body: '{"event":"user.created"}',
        verdict: "missing",
        reason: "there is no X-Service-Signature header",
        answer: "200",
      },
    ],
  },
);
export type ReceivedRequest = Static<typeof ReceivedRequestBody>;

export interface ReceiverParts {
  world: (sandbox: string) => World | undefined;
  /** The signing secret of a webhook of that world. */
  secretOf: (world: WorldReader, webhook_id: string) => string | undefined;
  /** Secrets that a sender may have mixed up, with a name to call them by. */
  candidates: (world: WorldReader) => readonly { label: string; secret: string }[];
}

const MAX_BODY_BYTES = 10 * 1024 * 1024;
const MAX_KEPT_REQUESTS = 10_000;
const MAX_KEPT_BYTES = 16 * 1024 * 1024;
/** What a request costs beside its body; a rough figure, so that a flood of empty ones counts too. */
const REQUEST_OVERHEAD_BYTES = 512;
const HEADER_OVERHEAD_BYTES = 64;

interface Log {
  entries: { receiver_id: string; request: ReceivedRequest }[];
  bytes: number;
}

/**
 * Simulates partners' endpoints at `/_receivers/{sandbox}/{id}` and any path below. The requests are kept beside
 * the world, like the journal: bounded, gone after a reset, and untouched by a restore.
 */
export class SimulatedReceivers {
  /** Of those whose answers come from elsewhere. */
  readonly forwarding = new Forwarding();
  private readonly parts: ReceiverParts;
  private readonly logs = new WeakMap<World, Log>();

  constructor(parts: ReceiverParts) {
    this.parts = parts;
  }

  /** Whether such a path is a receiver's, one that is gone included. */
  answersAt(path: string): boolean {
    return /^\/_receivers\/[^/]+\/[^/]+/.test(path);
  }

  /** In the order in which they came. */
  requests(world: World, receiver_id: string): ReceivedRequest[] {
    const entries = this.logs.get(world)?.entries ?? [];
    return entries.filter((entry) => entry.receiver_id === receiver_id).map(({ request }) => request);
  }

  async handle(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const [, , sandbox = "", id = ""] = path.split("/");
    const world = this.parts.world(sandbox);
    if (world === undefined || world.read().get(receivers, id) === undefined) {
      request.resume();
      return refuse(
        response,
        404,
        `there is no receiver ${id.slice(0, 80)} in sandbox ${sandbox.slice(0, 80)}`,
      );
    }
    const bytes = await readDelivery(request, MAX_BODY_BYTES);
    if (bytes === "gone") return;
    if (bytes === "too-large")
      return refuse(response, 413, `a receiver reads at most ${MAX_BODY_BYTES} bytes`);
    const receiver = world.read().get(receivers, id);
    if (receiver === undefined) return refuse(response, 404, `the receiver ${id} is gone`);
    const answer = answerTo(receiver.answers, receiver.served);
    world.transact((tx) => tx.put(receivers, { ...receiver, served: receiver.served + 1 }));
    const received = this.received(world, receiver, { request, bytes, path, answer: describeAnswer(answer) });
    this.remember(world, id, received);
    if (answer !== "forward") return simulateAnswer(answer, request, response);
    // Anyone may call a receiver; what it passes on reaches somebody's own machine.
    if (received.verdict !== "valid")
      return refuse(response, 403, `only signed deliveries are forwarded: ${received.reason}`);
    this.forwarding.pass({ world, receiver_id: id, at: received.at, bytes }, request, response);
  }

  private received(
    world: World,
    receiver: Receiver,
    about: { request: IncomingMessage; bytes: Buffer; path: string; answer: string },
  ): ReceivedRequest {
    const { request, bytes, path, answer } = about;
    const present = world.read();
    const body = bytes.toString("utf8");
    const judgement = verdict({
      secret: receiver.secret ?? this.secretFor(present, body),
      header: request.headersDistinct[SIGNATURE_HEADER.toLowerCase()],
      body: bytes,
      candidates: () => this.parts.candidates(present),
    });
    return {
      at: present.iso(present.now),
      method: request.method!,
      path: path.split("/").slice(4).join("/"),
      headers: request.headers as ReceivedRequest["headers"],
      body,
      verdict: judgement.verdict,
      reason: judgement.reason,
      answer,
    };
  }

  private secretFor(world: WorldReader, body: string): string | undefined {
    try {
      const { webhook_id } = JSON.parse(body) as { webhook_id?: unknown };
      return typeof webhook_id === "string" ? this.parts.secretOf(world, webhook_id) : undefined;
    } catch {
      return undefined;
    }
  }

  private remember(world: World, receiver_id: string, request: ReceivedRequest): void {
    let log = this.logs.get(world);
    if (log === undefined) {
      log = { entries: [], bytes: 0 };
      this.logs.set(world, log);
    }
    log.entries.push({ receiver_id, request });
    log.bytes += costOf(request);
    while (log.entries.length > MAX_KEPT_REQUESTS || (log.bytes > MAX_KEPT_BYTES && log.entries.length > 1)) {
      log.bytes -= costOf(log.entries.shift()!.request);
    }
  }
}

/** Bytes that a kept request holds, roughly: everything its sender chose the length of. */
function costOf({ body, path, headers, reason }: ReceivedRequest): number {
  let cost = REQUEST_OVERHEAD_BYTES + body.length + path.length + reason.length;
  for (const [name, value] of Object.entries(headers))
    cost += HEADER_OVERHEAD_BYTES + name.length + String(value).length;
  return cost;
}

function refuse(response: ServerResponse, status: number, error: string): void {
  if (response.destroyed) return;
  const body = JSON.stringify({ error });
  response.writeHead(status, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
    ...(status === 413 ? { Connection: "close" } : {}),
  });
  response.end(body);
}
