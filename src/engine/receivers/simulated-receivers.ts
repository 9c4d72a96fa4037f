import { type Static, Type } from "typebox";
import { fromUtf8 } from "../bytes.ts";
import { normalizePath } from "../contract/http-url.ts";
import { removeWithDependents } from "../contract/removal.ts";
import { ClosedObject, MapOf, StringEnum, Timestamp } from "../contract/schema.ts";
import { getOrAdd } from "../maps.ts";
import type { WorldReader } from "../state/transaction.ts";
import type { World } from "../state/world.ts";
import { SIGNATURE_HEADER } from "../webhooks/sign.ts";
import { checkSignature } from "./check-signature.ts";
import { Forwarding } from "./forwarding.ts";
import {
  describeAnswer,
  getAnswer,
  listHeaderValues,
  type Receiver,
  type ReceiverRequest,
  type ReceiverResponse,
  receivers,
  simulateAnswer,
  toJsonResponse,
} from "./receiver.ts";

export const ReceivedRequestBody = ClosedObject(
  {
    at: Timestamp({ description: "On the sandbox's clock" }),
    method: Type.String(),
    path: Type.String({ description: "Below the receiver's own; empty for itself" }),
    headers: MapOf(Type.Unsafe<string | string[]>({ type: ["string", "array"] })),
    body: Type.String({ description: "The raw text; a byte that is not UTF-8 becomes U+FFFD" }),
    verdict: StringEnum(["valid", "invalid", "missing"], { description: "On the signature" }),
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
        reason: "the X-Service-Signature header is missing",
        answer: "200",
      },
    ],
  },
);
export type ReceivedRequest = Static<typeof ReceivedRequestBody>;

interface ReceiverParts {
  findWorld: (sandbox: string) => World | undefined;
  /** The signing secret of a webhook of that world. */
  getSecret: (world: WorldReader, webhook_id: string) => string | undefined;
  /** Secrets that a sender may have confused, each with a label. */
  listKnownSecrets: (world: WorldReader) => readonly { label: string; secret: string }[];
  /** Called when a leased receiver was closed because its clients are gone. */
  onLeaseEnd: (world: World, receiver_id: string) => void;
}

const MAX_BODY_BYTES = 10 * 1024 * 1024;
const MAX_STORED_REQUESTS = 10_000;
const MAX_STORED_BYTES = 16 * 1024 * 1024;
/** Estimated bytes of a request without its body, so that many empty ones count too. */
const REQUEST_OVERHEAD_BYTES = 512;
const HEADER_OVERHEAD_BYTES = 64;

interface Log {
  entries: { receiver_id: string; request: ReceivedRequest }[];
  bytes: number;
}

/**
 * Simulates partners' endpoints at `/_receivers/{sandbox}/{id}` and any path below. The requests are stored
 * outside the world, like the journal: bounded, gone after a reset, and untouched by a restore.
 */
export class SimulatedReceivers {
  /** Forwards deliveries of receivers that answer with `forward`. */
  readonly forwarding = new Forwarding((world, receiver_id) => this.endLease(world, receiver_id));
  private readonly parts: ReceiverParts;
  private readonly logs = new WeakMap<World, Log>();

  constructor(parts: ReceiverParts) {
    this.parts = parts;
  }

  /** Lists requests in the order in which they arrived. */
  listRequests(world: World, receiver_id: string): ReceivedRequest[] {
    const entries = this.logs.get(world)?.entries ?? [];
    return entries.filter((entry) => entry.receiver_id === receiver_id).map(({ request }) => request);
  }

  async handle(request: ReceiverRequest): Promise<ReceiverResponse> {
    const [, , sandbox = "", id = ""] = normalizePath(request.path).split("/");
    const world = this.parts.findWorld(sandbox);
    if (world === undefined || world.read().get(receivers, id) === undefined)
      return createRefusal(404, `there is no receiver ${id.slice(0, 80)} in sandbox ${sandbox.slice(0, 80)}`);
    const bytes = await request.read(MAX_BODY_BYTES);
    if (bytes === "gone") return "hang";
    if (bytes === "too-large") return createRefusal(413, `a receiver reads at most ${MAX_BODY_BYTES} bytes`);
    const receiver = world.read().get(receivers, id);
    if (receiver === undefined) return createRefusal(404, `the receiver ${id} was deleted`);
    const answer = getAnswer(receiver.answers, receiver.served);
    world.transact((tx) => tx.put(receivers, { ...receiver, served: receiver.served + 1 }));
    const receivedRequest = this.describeRequest(world, receiver, {
      request,
      bytes,
      answer: describeAnswer(answer),
    });
    this.logRequest(world, id, receivedRequest);
    if (answer !== "forward") return simulateAnswer(answer, request.signal);
    // Anyone may call a receiver, and a forwarded request reaches a user's own machine.
    if (receivedRequest.verdict !== "valid")
      return createRefusal(403, `only signed deliveries are forwarded: ${receivedRequest.reason}`);
    return this.forwarding.forward({ world, receiver_id: id, at: receivedRequest.at, bytes }, request);
  }

  private endLease(world: World, receiver_id: string): void {
    if (world.isClosed || world.read().get(receivers, receiver_id)?.leased !== true) return;
    const title = `The receiver ${receiver_id} was closed, because its listener is gone.`;
    const change = { kind: "control", title, subject: receiver_id } as const;
    world.transact((tx) => removeWithDependents(tx, receivers, receiver_id), { change });
    this.parts.onLeaseEnd(world, receiver_id);
  }

  private describeRequest(
    world: World,
    receiver: Receiver,
    { request, bytes, answer }: { request: ReceiverRequest; bytes: Uint8Array; answer: string },
  ): ReceivedRequest {
    const reader = world.read();
    const body = fromUtf8(bytes);
    const { verdict, reason } = checkSignature({
      secret: receiver.secret ?? this.findSecret(reader, body),
      header: listHeaderValues(request.rawHeaders, SIGNATURE_HEADER),
      body: bytes,
      otherSecrets: () => this.parts.listKnownSecrets(reader),
    });
    return {
      at: reader.toIso(reader.now),
      method: request.method,
      path: request.path.split("/").slice(4).join("/"),
      headers: { ...request.headers },
      body,
      verdict,
      reason,
      answer,
    };
  }

  private findSecret(world: WorldReader, body: string): string | undefined {
    try {
      const { webhook_id } = JSON.parse(body) as { webhook_id?: unknown };
      return typeof webhook_id === "string" ? this.parts.getSecret(world, webhook_id) : undefined;
    } catch {
      return undefined;
    }
  }

  private logRequest(world: World, receiver_id: string, request: ReceivedRequest): void {
    const log = getOrAdd(this.logs, world, () => ({ entries: [], bytes: 0 }));
    log.entries.push({ receiver_id, request });
    log.bytes += estimateBytes(request);
    while (
      log.entries.length > MAX_STORED_REQUESTS ||
      (log.bytes > MAX_STORED_BYTES && log.entries.length > 1)
    ) {
      log.bytes -= estimateBytes(log.entries.shift()!.request);
    }
  }
}

/** The approximate bytes of a stored request: everything whose length its sender chooses. */
function estimateBytes({ body, path, headers, reason }: ReceivedRequest): number {
  let bytes = REQUEST_OVERHEAD_BYTES + body.length + path.length + reason.length;
  for (const [name, value] of Object.entries(headers))
    bytes += HEADER_OVERHEAD_BYTES + name.length + String(value).length;
  return bytes;
}

function createRefusal(status: number, error: string): ReceiverResponse {
  const response = toJsonResponse(status, { error });
  // The rest of the body stays unread.
  if (status === 413 && typeof response === "object")
    return { ...response, headers: { ...response.headers, Connection: "close" } };
  return response;
}
