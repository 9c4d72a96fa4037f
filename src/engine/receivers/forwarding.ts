import { randomUUID } from "node:crypto";
import {
  type IncomingMessage,
  type ServerResponse,
  validateHeaderName,
  validateHeaderValue,
} from "node:http";
import Type, { type Static } from "typebox";
import { Closed, Timestamp } from "../contract/schema.ts";
import type { World } from "../state/world.ts";
import { receivers } from "./receiver-record.ts";

const Headers = (description: string) =>
  Type.Record(
    Type.String(),
    Type.Unsafe<string | string[]>({
      anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
    }),
    { description },
  );

/** A delivery on its way to a receiver elsewhere. */
export const ForwardedDelivery = Closed(
  {
    id: Type.String({ description: "To answer it by" }),
    at: Timestamp({ description: "On the sandbox's clock" }),
    method: Type.String(),
    headers: Headers("As they were sent, without those that are about the connection"),
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

export const ForwardedEvent = Closed(
  {
    ready: Type.Optional(
      Type.Literal(true, { description: "The first event: what comes from now on is told" }),
    ),
    delivery: Type.Optional(ForwardedDelivery),
  },
  { $id: "ForwardedEvent" },
);
export type ForwardedEvent = Static<typeof ForwardedEvent>;

/** What the receiver elsewhere made of it. */
export const ForwardedAnswer = Closed(
  {
    status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
    headers: Type.Optional(Headers("Of the answer; those that are about the connection are left out")),
    body_base64: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9+/]*={0,2}$" })),
    failure: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description: "In place of a status: why there was no answer. The sender's connection breaks.",
      }),
    ),
  },
  { $id: "ForwardedAnswer", examples: [{ status: 200, body_base64: "e30=" }] },
);
export type ForwardedAnswer = Static<typeof ForwardedAnswer>;

/** About one connection, and not about what travels over it (RFC 9110, 7.6.1); lengths are counted anew. */
const OF_THE_CONNECTION =
  /^(connection|content-length|date|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/i;

/** The first header that cannot be sent; undefined when all can. */
export function unsendableHeader({ headers = {} }: ForwardedAnswer): string | undefined {
  return Object.keys(headers).find((name) => {
    try {
      validateHeaderName(name);
      for (const value of [headers[name]!].flat()) validateHeaderValue(name, value);
      return false;
    } catch {
      return true;
    }
  });
}

interface Follower {
  queue: ForwardedDelivery[];
  wake: () => void;
}

interface Waiting {
  world: World;
  receiver_id: string;
  settle: (answer: ForwardedAnswer) => void;
}

/**
 * Carries deliveries to receivers that this server cannot reach, over connections that those behind them opened
 * (interfaces 11). Nothing of it is kept: who comes after a delivery hears of its retry.
 */
export class Forwarding {
  private readonly followers = new WeakMap<World, Map<string, Set<Follower>>>();
  private readonly waiting = new Map<string, Waiting>();

  /** Server-sent events: deliveries to a receiver until the signal aborts or the receiver, or its world, is gone. */
  async *follow(world: World, receiver_id: string, signal: AbortSignal): AsyncIterable<string> {
    const isGone = () => world.isClosed || world.read().get(receivers, receiver_id) === undefined;
    const follower: Follower = { queue: [], wake: () => {} };
    const all = this.followersOf(world, receiver_id);
    all.add(follower);
    const stop = world.subscribe(() => follower.wake());
    const wake = () => follower.wake();
    signal.addEventListener("abort", wake, { once: true });
    try {
      yield told({ ready: true });
      while (!signal.aborted && !isGone()) {
        const delivery = follower.queue.shift();
        if (delivery !== undefined) yield told({ delivery });
        else
          await new Promise<void>((resolve) => {
            follower.wake = resolve;
          });
      }
    } finally {
      stop();
      signal.removeEventListener("abort", wake);
      all.delete(follower);
      // Whom nobody can answer any more need not wait for it.
      if (all.size === 0) this.abandon(world, receiver_id);
    }
  }

  /** Passes a delivery that has been read to its end on, and the answer back. */
  pass(
    about: { world: World; receiver_id: string; at: string; bytes: Buffer },
    request: IncomingMessage,
    response: ServerResponse,
  ): void {
    const { world, receiver_id, at, bytes } = about;
    const followers = this.followersOf(world, receiver_id);
    // The one that came last: whoever had been there before may be a connection that has died unseen.
    const latest = [...followers].at(-1);
    if (latest === undefined) {
      respond(response, AWAY);
      return;
    }
    const id = randomUUID();
    this.waiting.set(id, {
      world,
      receiver_id,
      settle: (answer) => {
        this.waiting.delete(id);
        if (answer.failure === undefined) respond(response, answer);
        else request.socket.resetAndDestroy();
      },
    });
    // The sender has given up, or it is answered.
    response.once("close", () => this.waiting.delete(id));
    const delivery: ForwardedDelivery = {
      id,
      at,
      method: request.method!,
      headers: withoutConnection(sentHeaders(request)),
      body_base64: bytes.toString("base64"),
    };
    latest.queue.push(delivery);
    latest.wake();
  }

  /** False where nothing waits for it any more. */
  answer(world: World, receiver_id: string, id: string, answer: ForwardedAnswer): boolean {
    const waiting = this.waiting.get(id);
    if (waiting === undefined || waiting.world !== world || waiting.receiver_id !== receiver_id) return false;
    waiting.settle(answer);
    return true;
  }

  private abandon(world: World, receiver_id: string): void {
    for (const waiting of [...this.waiting.values()])
      if (waiting.world === world && waiting.receiver_id === receiver_id) waiting.settle(AWAY);
  }

  private followersOf(world: World, receiver_id: string): Set<Follower> {
    let ofWorld = this.followers.get(world);
    if (ofWorld === undefined) {
      ofWorld = new Map();
      this.followers.set(world, ofWorld);
    }
    let followers = ofWorld.get(receiver_id);
    if (followers === undefined) {
      followers = new Set();
      ofWorld.set(receiver_id, followers);
    }
    return followers;
  }
}

function told(event: ForwardedEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

/** As a gateway says it. */
const AWAY: ForwardedAnswer = {
  status: 503,
  headers: { "content-type": "application/json" },
  body_base64: Buffer.from(
    JSON.stringify({ error: "nobody is connected to whom this receiver could forward" }),
  ).toString("base64"),
};

function respond(
  response: ServerResponse,
  { status = 200, headers = {}, body_base64 = "" }: ForwardedAnswer,
): void {
  if (response.destroyed) return;
  const body = status === 204 || status === 304 ? Buffer.alloc(0) : Buffer.from(body_base64, "base64");
  response.writeHead(status, {
    ...withoutConnection(headers),
    "Content-Length": body.length,
    Connection: "keep-alive",
  });
  response.end(body);
}

/** In the spelling of their sender, which a receiver may depend on. */
function sentHeaders({ rawHeaders, headersDistinct }: IncomingMessage): ForwardedDelivery["headers"] {
  const headers: ForwardedDelivery["headers"] = {};
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const values = headersDistinct[rawHeaders[at]!.toLowerCase()]!;
    headers[rawHeaders[at]!] = values.length === 1 ? values[0]! : values;
  }
  return headers;
}

function withoutConnection(headers: ForwardedDelivery["headers"]): ForwardedDelivery["headers"] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.test(name)));
}
