import { once } from "node:events";
import net from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { sign } from "../webhooks/sign.ts";
import {
  type Delivery,
  type DeliveryShape,
  deliveryRequest,
  makeDelivery,
  type Transport,
} from "./delivery.ts";
import { type ExpectedEffects, type Probe, ProbeError, type ProbeReading } from "./probe.ts";
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

export interface SessionOptions extends SendLimits {
  url: URL;
  secret: string;
  webhookId: string;
  serviceName: string;
  probe: Probe | null;
  /** How long a receiver may be busy with the same delivery, or ask to be called later; milliseconds. */
  patienceMs: number;
}

/** How often one request comes again after a 429, and how long a run waits for that; then 429 is its answer. */
const SLOWED_DOWN_TIMES = 5;
const SLOWED_DOWN_MS = 60_000;

/** One run against one receiver: sends, and remembers all that was sent and answered. */
export class Session {
  readonly exchanges: Exchange[] = [];
  options: SessionOptions;
  /** The probe's last settled reading, as long as nothing was sent since. */
  private settled: ProbeReading | null = null;
  private last: ProbeReading | null = null;
  /** Accepted since the last reading: their side effects may still be to come. */
  private readonly owed = new Set<string>();
  private readonly accepted = new Set<string>();
  private slowedDownMs = 0;

  constructor(options: SessionOptions) {
    this.options = options;
  }

  makeDelivery(shape?: DeliveryShape): Delivery {
    return makeDelivery(this.options, shape);
  }

  /** @throws WebhookGone when a genuine delivery is answered 410. */
  async deliver(delivery: Delivery, transport?: Transport): Promise<Exchange> {
    const genuine = delivery.signature === sign(this.options.secret, delivery.body);
    return this.exchange(deliveryRequest(this.options, delivery, transport), { delivery, genuine });
  }

  async get(): Promise<Exchange> {
    const request: RawRequest = {
      method: "GET",
      url: this.options.url,
      headers: [["User-Agent", `${this.options.serviceName}-Webhook/1.0`]],
      body: Buffer.alloc(0),
    };
    return this.exchange(request, { delivery: null, genuine: false });
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
    const owed = new Set(this.owed);
    this.owed.clear();
    this.settled = await this.options.probe.readSettled({ from: this.last, owed });
    this.last = this.settled;
    return this.settled;
  }

  /**
   * How the side effects since `before` differ from the expected ones, or null when they do not;
   * `unknown` without a probe.
   */
  async effectsDiffer(
    before: ProbeReading | null,
    expected: ExpectedEffects,
  ): Promise<string | null | "unknown"> {
    if (!this.options.probe || !before) return "unknown";
    const { difference, settled } = await this.options.probe.compare(before, expected);
    this.settled = settled;
    this.last = settled;
    this.owed.clear();
    return difference;
  }

  /** Whether something accepts connections, tried until `patienceMs` have passed; null or the reason. */
  async connectionProblem(patienceMs: number): Promise<string | null> {
    const giveUp = performance.now() + patienceMs;
    for (;;) {
      this.options.signal?.throwIfAborted();
      const problem = await tryConnect(this.options.url, Math.min(this.options.timeoutMs, 10_000));
      if (problem === null || performance.now() >= giveUp) return problem;
      await wait(100);
    }
  }

  private async exchange(
    request: RawRequest,
    about: Pick<Exchange, "delivery" | "genuine">,
  ): Promise<Exchange> {
    this.settled = null;
    const result = await this.sendPatiently(request);
    const exchange: Exchange = { request, ...about, result };
    this.exchanges.push(exchange);
    const accepted = result.kind === "answer" && result.status >= 200 && result.status <= 299;
    if (about.genuine && about.delivery && accepted) this.owe(about.delivery.id);
    if (about.genuine && result.kind === "answer" && result.status === 410) throw new WebhookGone(exchange);
    return exchange;
  }

  /** A repetition owes nothing more. */
  private owe(delivery_id: string): void {
    if (this.accepted.has(delivery_id)) return;
    this.accepted.add(delivery_id);
    this.owed.add(delivery_id);
  }

  /** 429 says "later" and nothing of the request itself: it comes again after the time asked for. */
  private async sendPatiently(request: RawRequest): Promise<RawResult> {
    for (let times = 0; ; times += 1) {
      const result = await sendRaw(request, this.options);
      if (result.kind !== "answer" || result.status !== 429 || times === SLOWED_DOWN_TIMES) return result;
      const pause = Math.min(Math.max(Number(result.headers["retry-after"]) || 1, 0.1) * 1000, 10_000);
      if (this.slowedDownMs + pause > SLOWED_DOWN_MS) return result;
      this.slowedDownMs += pause;
      await this.pause(pause);
    }
  }

  async pause(ms: number): Promise<void> {
    await wait(ms, undefined, this.options.signal ? { signal: this.options.signal } : {});
  }
}

async function tryConnect(url: URL, timeoutMs: number): Promise<string | null> {
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const socket = net.connect({ host, port });
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(timeoutMs) });
    return null;
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") return `no connection within ${timeoutMs} ms`;
    // Several addresses tried at once fail together, with an empty message of their own.
    const causes = error instanceof AggregateError ? error.errors : [error];
    return causes.map((cause) => (cause instanceof Error ? cause.message : String(cause))).join("; ");
  } finally {
    socket.destroy();
    socket.on("error", () => {});
  }
}
