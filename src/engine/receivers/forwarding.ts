import { type Static, Type } from "typebox";
import { fromBase64, toBase64, toHex } from "../bytes.ts";
import { isBodyless } from "../contract/operation.ts";
import { ClosedObject, MapOf, Timestamp } from "../contract/schema.ts";
import type { OutboundClient } from "../contract/services.ts";
import { getOrAdd, toPairs } from "../maps.ts";
import { platform, sleep } from "../platform.ts";
import type { World } from "../state/world.ts";
import {
  listHeaderValues,
  type ReceiverRequest,
  type ReceiverResponse,
  receivers,
  toJsonResponse,
} from "./receiver.ts";

const Headers = (description: string) =>
  MapOf(
    Type.Unsafe<string | string[]>({
      anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
    }),
    { description },
  );

/** A delivery to a receiver on another machine. */
export const ForwardedDelivery = ClosedObject(
  {
    id: Type.String({ description: "Names the delivery in the call that answers it" }),
    at: Timestamp({ description: "On the sandbox's clock" }),
    method: Type.String(),
    headers: Headers("As they were sent, without headers of the connection"),
    body_base64: Type.String({ description: "The bytes exactly as they were signed" }),
  },
  {
    $id: "ForwardedDelivery",
    examples: [
      {
        id: "1b6f0a52-6f0e-4a0c-9a55-2f2f6d1c7a10",
        at: "2026-03-15T12:00:00.000Z",
        method: "POST",
        headers: { "content-type": "application/json", "x-service-event": "user.created" },
        body_base64: "e30=",
      },
    ],
  },
);
export type ForwardedDelivery = Static<typeof ForwardedDelivery>;

export const ForwardedEvent = ClosedObject(
  {
    ready: Type.Optional(
      Type.Literal(true, { description: "The first event: deliveries follow from now on" }),
    ),
    delivery: Type.Optional(ForwardedDelivery),
  },
  { $id: "ForwardedEvent" },
);
export type ForwardedEvent = Static<typeof ForwardedEvent>;

/** The response of the receiver on another machine. */
export const ForwardedAnswer = ClosedObject(
  {
    status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
    headers: Type.Optional(Headers("Headers of the answer, without those of the connection")),
    body_base64: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9+/]*={0,2}$" })),
    failure: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description:
          "Instead of a status: why there was no answer. The sender's connection breaks, with this reason in its record.",
      }),
    ),
  },
  { $id: "ForwardedAnswer", examples: [{ status: 200, body_base64: "e30=" }] },
);
export type ForwardedAnswer = Static<typeof ForwardedAnswer>;

/** Headers about one connection, not about the message (RFC 9110, 7.6.1); lengths are counted again. */
const CONNECTION_HEADER =
  /^(connection|content-length|date|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

interface Follower {
  queue: ForwardedDelivery[];
  wake: () => void;
}

class Followers extends Set<Follower> {
  /** How many clients have connected so far. */
  arrivals = 0;
}

interface WaitingDelivery {
  world: World;
  receiver_id: string;
  delivery_id: string | undefined;
  settle: (response: ReceiverResponse) => void;
}

/** How long a leased receiver waits for a client that reconnects, in milliseconds of the wall clock. */
const GRACE_MS = 5_000;
/** Maximum number of failures that wait for their sender; if there are more, the senders are gone. */
const MAX_FAILURES = 1000;

/**
 * Forwards deliveries to receivers that this server cannot reach, over connections that their side opened (interfaces
 * 11). Nothing is stored: a client that connects after a delivery gets its retry.
 */
export class Forwarding {
  private readonly followers = new WeakMap<World, Map<string, Followers>>();
  private readonly waiting = new Map<string, WaitingDelivery>();
  /** Why the remote receiver gave no answer, by delivery id, until the sender has read it. */
  private readonly failures = new Map<string, string>();
  private readonly onAbandoned: (world: World, receiver_id: string) => void;

  /** @param onAbandoned called when a receiver has had no client for a while */
  constructor(onAbandoned: (world: World, receiver_id: string) => void) {
    this.onAbandoned = onAbandoned;
  }

  /** The sender, but a failure that a remote receiver's client has reported replaces the broken connection's message. */
  wrapSender(outbound: OutboundClient): OutboundClient {
    return {
      send: async (request) => {
        const answer = await outbound.send(request);
        const id = request.headers["X-Service-Delivery"];
        const failure = id === undefined ? undefined : this.failures.get(id);
        if (failure === undefined || answer.error === undefined) return answer;
        this.failures.delete(id!);
        return { ...answer, error: { ...answer.error, message: `${failure} (as the listener saw it)` } };
      },
    };
  }

  /** Server-sent events: deliveries to a receiver until the signal aborts or the receiver, or its world, is gone. */
  async *follow(world: World, receiver_id: string, signal: AbortSignal): AsyncIterable<string> {
    const isGone = () => world.isClosed || world.read().get(receivers, receiver_id) === undefined;
    const follower: Follower = { queue: [], wake: () => {} };
    const followers = this.getFollowers(world, receiver_id);
    followers.add(follower);
    followers.arrivals += 1;
    const unsubscribe = world.subscribe(() => follower.wake());
    const wake = () => follower.wake();
    signal.addEventListener("abort", wake, { once: true });
    try {
      yield toServerSentEvent({ ready: true });
      while (!signal.aborted && !isGone()) {
        const delivery = follower.queue.shift();
        if (delivery !== undefined) yield toServerSentEvent({ delivery });
        else
          await new Promise<void>((resolve) => {
            follower.wake = resolve;
          });
      }
    } finally {
      unsubscribe();
      signal.removeEventListener("abort", wake);
      followers.delete(follower);
      // No client is left that could answer.
      if (followers.size === 0) this.onLastFollowerGone(world, receiver_id);
    }
  }

  private async abandonAfterGrace(world: World, receiver_id: string): Promise<void> {
    const followers = this.getFollowers(world, receiver_id);
    const { arrivals } = followers;
    await sleep(GRACE_MS);
    if (followers.size === 0 && followers.arrivals === arrivals) this.onAbandoned(world, receiver_id);
  }

  /** Forwards a delivery and waits for its answer, or until the sender leaves. */
  forward(
    delivery: { world: World; receiver_id: string; at: string; bytes: Uint8Array },
    { method, rawHeaders, signal }: ReceiverRequest,
  ): Promise<ReceiverResponse> {
    const { world, receiver_id, at, bytes } = delivery;
    // The latest client gets it: the connection of an earlier one may have died unnoticed.
    const latest = [...this.getFollowers(world, receiver_id)].at(-1);
    if (latest === undefined) {
      void this.abandonAfterGrace(world, receiver_id);
      return Promise.resolve(createUnreachableResponse());
    }
    const id = toHex(platform().randomBytes(16));
    const headers = removeConnectionHeaders(collectHeaders(rawHeaders));
    return new Promise((resolve) => {
      const settle = (response: ReceiverResponse) => {
        this.waiting.delete(id);
        signal.removeEventListener("abort", leave);
        resolve(response);
      };
      const leave = () => settle("hang");
      signal.addEventListener("abort", leave);
      const [delivery_id] = listHeaderValues(rawHeaders, "X-Service-Delivery");
      this.waiting.set(id, { world, receiver_id, delivery_id, settle });
      latest.queue.push({ id, at, method, headers, body_base64: toBase64(bytes) });
      latest.wake();
    });
  }

  /** False when nothing waits for this answer. */
  answer(world: World, receiver_id: string, id: string, answer: ForwardedAnswer): boolean {
    const waiting = this.waiting.get(id);
    if (waiting === undefined || waiting.world !== world || waiting.receiver_id !== receiver_id) return false;
    const { delivery_id } = waiting;
    if (answer.failure !== undefined && delivery_id !== undefined) {
      this.failures.set(delivery_id, answer.failure);
      if (this.failures.size > MAX_FAILURES) this.failures.delete(this.failures.keys().next().value!);
    }
    waiting.settle(toResponse(answer));
    return true;
  }

  private onLastFollowerGone(world: World, receiver_id: string): void {
    void this.abandonAfterGrace(world, receiver_id);
    for (const waiting of [...this.waiting.values()])
      if (waiting.world === world && waiting.receiver_id === receiver_id)
        waiting.settle(createUnreachableResponse());
  }

  private getFollowers(world: World, receiver_id: string): Followers {
    const followersByReceiver = getOrAdd(this.followers, world, () => new Map());
    return getOrAdd(followersByReceiver, receiver_id, () => new Followers());
  }
}

function toServerSentEvent(event: ForwardedEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

function createUnreachableResponse(): ReceiverResponse {
  return toJsonResponse(503, {
    error: "no client follows this receiver, so the delivery cannot be forwarded",
  });
}

function toResponse({
  status = 200,
  headers = {},
  body_base64 = "",
  failure,
}: ForwardedAnswer): ReceiverResponse {
  if (failure !== undefined) return "reset";
  const body = fromBase64(isBodyless(status) ? "" : body_base64);
  return { status, headers: { ...removeConnectionHeaders(headers), Connection: "keep-alive" }, body };
}

/** Names are spelled as the sender wrote them, since a receiver may depend on that. */
function collectHeaders(rawHeaders: readonly string[]): ForwardedDelivery["headers"] {
  const spellings = new Map<string, string>();
  const headers: ForwardedDelivery["headers"] = {};
  for (const [name, value] of toPairs(rawHeaders)) {
    const spelling = spellings.get(name.toLowerCase()) ?? name;
    spellings.set(name.toLowerCase(), spelling);
    const earlier = headers[spelling];
    headers[spelling] = earlier === undefined ? value : [earlier, value].flat();
  }
  return headers;
}

function removeConnectionHeaders(headers: ForwardedDelivery["headers"]): ForwardedDelivery["headers"] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !CONNECTION_HEADER.test(name)));
}
