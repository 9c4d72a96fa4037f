import { once } from "node:events";
import net from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { sign } from "../../engine/webhooks/sign.ts";
import type { Locate } from "../../hosts/node/outbound/outbound.ts";
import {
  type Delivery,
  type DeliveryShape,
  type DeliverySource,
  deliveryRequest,
  makeDelivery,
  type Transport,
} from "./delivery.ts";
import { type Effects, type ExpectedEffects, type Probe, ProbeError, type ProbeReading } from "./probe.ts";
import { type RawRequest, type RawResult, type SendLimits, sendRaw } from "./send-raw.ts";

export interface Exchange {
  request: RawRequest;
  /** Null for a request that is no delivery at all. */
  delivery: Delivery | null;
  /** The signature fits the body: the real service could have sent it. */
  genuine: boolean;
  result: RawResult;
}

/** 410 to a genuine delivery disables the webhook (3.3): the service would send nothing more. */
export class WebhookGone extends Error {
  readonly exchange: Exchange;

  constructor(exchange: Exchange) {
    super("answered 410 to a correctly signed delivery, which disables the webhook");
    this.exchange = exchange;
  }
}

export interface SessionOptions extends SendLimits, DeliverySource {
  url: URL;
  locate: Locate;
  serviceName: string;
  probe: Probe | null;
  /** How long a receiver may be busy with the same delivery, and a side effect may follow its answer; milliseconds. */
  patienceMs: number;
  /** How many other deliveries come between a delivery and its repetition, and how long that is put off. */
  memoryDeliveries: number;
  memoryMs: number;
}

/** How often one request comes again after a 429, and how long a run waits for that; then 429 is its answer. */
const MAX_SLOW_DOWNS = 5;
const MAX_SLOW_DOWN_MS = 60_000;
const MAX_SLOW_DOWNS_MS = 300_000;

const MAX_AT_ONCE = 4;

/** One run against one receiver: sends, and remembers all that was sent and answered. */
export class Session {
  readonly exchanges: Exchange[] = [];
  options: SessionOptions;
  /** Whether genuine deliveries share connections, as the sender's do; off once that was seen to fail. */
  reusesConnections = true;
  /** The first delivery that was accepted, and when. */
  first: { delivery: Delivery; at: number } | null = null;
  /** The probe's last settled reading, as long as nothing was sent since. */
  private settled: ProbeReading | null = null;
  private last: ProbeReading | null = null;
  /** Accepted since the last reading, by id: their side effects may still be to come. */
  private readonly owed = new Map<string, Delivery>();
  /** Events that the receiver was seen to have no use for: nothing of them is waited for. */
  private readonly unusedEvents = new Set<string>();
  private readonly accepted = new Set<string>();
  private slowedDownMs = 0;

  constructor(options: SessionOptions) {
    this.options = options;
  }

  makeDelivery(shape?: DeliveryShape): Delivery {
    return makeDelivery(this.options, shape);
  }

  /**
   * Sends a delivery. A genuine one of the service's own form goes over a kept connection where the receiver
   * offers one, and once more over a new one where that breaks: an idle connection may close at any moment.
   * @throws WebhookGone when a genuine delivery is answered 410.
   */
  async deliver(delivery: Delivery, transport?: Transport): Promise<Exchange> {
    const genuine = this.isGenuine(delivery);
    const request = deliveryRequest(this.options, delivery, transport);
    if (genuine && transport === undefined) request.reuse = this.reusesConnections;
    const result = await this.sendPatiently(request);
    if (result.kind !== "none" || !result.reused) return this.note({ request, delivery, genuine, result });
    const again = { ...request, reuse: false };
    return this.note({ request: again, delivery, genuine, result: await this.sendPatiently(again) });
  }

  /** Sends a delivery a single time, whatever becomes of the connection, and takes a 429 for its answer. */
  async deliverOnce(delivery: Delivery, { reuse }: { reuse: boolean }): Promise<Exchange> {
    this.settled = null;
    const request = { ...deliveryRequest(this.options, delivery), reuse };
    const result = await sendRaw(request, this.options);
    return this.note({ request, delivery, genuine: this.isGenuine(delivery), result });
  }

  async get(): Promise<Exchange> {
    const request: RawRequest = {
      method: "GET",
      url: this.options.url,
      headers: [["User-Agent", `${this.options.serviceName}-Webhook/1.0`]],
      body: Buffer.alloc(0),
    };
    const result = await this.sendPatiently(request);
    return this.note({ request, delivery: null, genuine: false, result });
  }

  /** A probe that cannot be read tells nothing: what follows is graded by its answers. */
  async dropUnreadableProbe(): Promise<ProbeError | null> {
    try {
      this.settled = (await this.options.probe?.readSettled({ from: null, owed: new Set() })) ?? null;
      this.last = this.settled;
      return null;
    } catch (error) {
      if (!(error instanceof ProbeError)) throw error;
      this.options = { ...this.options, probe: null };
      return error;
    }
  }

  /** The probe's state before a check acts; null without a probe. */
  async readProbe(): Promise<ProbeReading | null> {
    if (this.settled !== null || !this.options.probe) return this.settled;
    const owed = [...this.owed.values()];
    this.owed.clear();
    const settled = await this.options.probe.readSettled({
      from: this.last,
      owed: new Set(owed.map(({ id }) => id)),
    });
    for (const { id, event } of settled.ids === null ? [] : owed) {
      if (event !== this.options.event && !settled.ids!.includes(id)) this.unusedEvents.add(event);
    }
    this.settled = settled;
    this.last = settled;
    return settled;
  }

  /** How the side effects since `before` compare with the expected ones; null without a probe. */
  async observeEffects(before: ProbeReading | null, expected: ExpectedEffects): Promise<Effects | null> {
    if (!this.options.probe || !before) return null;
    const effects = await this.options.probe.compare(before, expected);
    this.settled = effects.settled;
    this.last = effects.settled;
    this.owed.clear();
    return effects;
  }

  /** How many requests may be under way without one waiting for another beyond the deadline. */
  atOnce(): number {
    const [first] = this.exchanges;
    const slots = this.options.timeoutMs / 2 / Math.max(first?.result.duration_ms ?? 0, 1);
    return Math.min(Math.max(Math.floor(slots), 1), MAX_AT_ONCE);
  }

  /** Side effects were seen to come so late: from now on they are waited for so long, and half as long again. */
  allowFor(latenessMs: number): void {
    this.options.patienceMs = Math.max(this.options.patienceMs, Math.ceil(latenessMs * 1.5));
    this.options.probe?.allowFor(latenessMs);
  }

  /** Whether something accepts connections, tried until `patienceMs` have passed; null or the reason. */
  async connectionProblem(patienceMs: number): Promise<string | null> {
    const giveUp = performance.now() + patienceMs;
    for (;;) {
      this.options.signal?.throwIfAborted();
      const problem = await tryConnect(this.options, Math.min(this.options.timeoutMs, 10_000));
      if (problem === null || performance.now() >= giveUp) return problem;
      await wait(100);
    }
  }

  async pause(ms: number): Promise<void> {
    await wait(ms, undefined, this.options.signal ? { signal: this.options.signal } : {});
  }

  private isGenuine(delivery: Delivery): boolean {
    return delivery.signature === sign(this.options.secret, delivery.body);
  }

  private note(exchange: Exchange): Exchange {
    const { delivery, genuine, result, request } = exchange;
    this.exchanges.push(exchange);
    if (!genuine || delivery === null || result.kind !== "answer") return exchange;
    if (result.status === 410) throw new WebhookGone(exchange);
    if (result.status >= 200 && result.status <= 299 && request.method === "POST") this.owe(delivery);
    return exchange;
  }

  /** A repetition owes nothing more. */
  private owe(delivery: Delivery): void {
    this.first ??= { delivery, at: performance.now() };
    if (this.accepted.has(delivery.id)) return;
    this.accepted.add(delivery.id);
    if (!this.unusedEvents.has(delivery.event)) this.owed.set(delivery.id, delivery);
  }

  /** 429 says "later" and nothing of the request itself: it comes again after the time asked for. */
  private async sendPatiently(request: RawRequest): Promise<RawResult> {
    this.settled = null;
    for (let times = 0; ; times += 1) {
      const result = await sendRaw(request, this.options);
      if (result.kind !== "answer" || result.status !== 429 || times === MAX_SLOW_DOWNS) return result;
      const pause = Math.min(
        Math.max(Number(result.headers["retry-after"]) || 1, 0.1) * 1000,
        MAX_SLOW_DOWN_MS,
      );
      if (this.slowedDownMs + pause > MAX_SLOW_DOWNS_MS) return result;
      this.slowedDownMs += pause;
      await this.pause(pause);
    }
  }
}

async function tryConnect(
  { url, locate }: Pick<SessionOptions, "url" | "locate">,
  timeoutMs: number,
): Promise<string | null> {
  let socket: net.Socket | undefined;
  try {
    const { addresses, port = Number(url.port) || (url.protocol === "https:" ? 443 : 80) } =
      await locate(url);
    // Only where it was found: the name is not asked again.
    const lookup: net.LookupFunction = (_name, _options, callback) => callback(null, [...addresses]);
    socket = net.connect({ host: "receiver", port, lookup, autoSelectFamily: true });
    await once(socket, "connect", { signal: AbortSignal.timeout(timeoutMs) });
    return null;
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") return `no connection within ${timeoutMs} ms`;
    // Several addresses tried at once fail together, with an empty message of their own.
    const causes = error instanceof AggregateError ? error.errors : [error];
    return causes.map((cause) => (cause instanceof Error ? cause.message : String(cause))).join("; ");
  } finally {
    socket?.destroy();
    socket?.on("error", () => {});
  }
}
