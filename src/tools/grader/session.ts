import { setTimeout as wait } from "node:timers/promises";
import { sign } from "../../engine/webhooks/sign.ts";
import type { ResolveUrl } from "../../hosts/node/outbound/outbound.ts";
import type { OutboundResult } from "../../hosts/node/outbound/outbound-request.ts";
import {
  type DeliveryShape,
  type DeliverySource,
  makeDelivery,
  type RequestVariant,
  type TestDelivery,
  toRequest,
} from "./delivery.ts";
import { type RawRequest, type SendOptions, sendRaw, tryConnect } from "./network.ts";
import { type Effects, type ExpectedEffects, type Probe, ProbeError, type ProbeReading } from "./probe.ts";
import type { OptionNames } from "./report.ts";

/** One request to the receiver, and its result. */
export interface Attempt {
  request: RawRequest;
  /** Null for a request that is not a delivery. */
  delivery: TestDelivery | null;
  /** Whether the signature fits the body, as in a delivery of the real service. */
  genuine: boolean;
  result: OutboundResult;
}

/** Whether the receiver gave no answer in time; not if the sender itself closed the connection (`leave`). */
export const hasNoAnswer = ({ error }: OutboundResult): boolean =>
  error !== undefined && error.kind !== "left";

/** 410 to a genuine delivery disables the webhook (section 3.3): the service would send nothing more. */
export class WebhookGone extends Error {
  readonly attempt: Attempt;

  constructor(attempt: Attempt) {
    super("answered 410 to a correctly signed delivery, which disables the webhook");
    this.attempt = attempt;
  }
}

interface SessionOptions extends SendOptions, DeliverySource {
  url: URL;
  resolveUrl: ResolveUrl;
  serviceName: string;
  probe: Probe | null;
  /** How long a receiver may be busy with one delivery, and how long after its answer a side effect may come; milliseconds. */
  patienceMs: number;
  /** How many other deliveries are sent before a delivery is repeated, and how long the repetition waits. */
  memoryDeliveries: number;
  memoryMs: number;
  onNotice?: ((notice: string) => void) | undefined;
  /** For advice. */
  names: OptionNames;
}

/** Limits after a 429: repetitions of a request, each wait, and all waits of the run; then the 429 is its answer. */
const MAX_RATE_LIMIT_RETRIES = 5;
const MAX_RATE_LIMIT_WAIT_MS = 60_000;
const MAX_TOTAL_RATE_LIMIT_WAIT_MS = 300_000;

const MAX_CONCURRENCY = 8;
const SLOW_MS = 250;

/** One run against one receiver: sends requests and records all attempts. */
export class Session {
  readonly attempts: Attempt[] = [];
  readonly options: SessionOptions;
  /** Whether genuine deliveries share connections, as the service's do; false once that has failed. */
  reusesConnections = true;
  /** The first delivery that was accepted, and when. */
  firstAccepted: { delivery: TestDelivery; at: number } | null = null;
  /** The probe's last reading, once it had settled. */
  private lastReading: ProbeReading | null = null;
  /** The same, until something is sent; then null. */
  private settledReading: ProbeReading | null = null;
  /** Deliveries accepted since the last reading, by id: their side effects may still follow. */
  private readonly pending = new Map<string, TestDelivery>();
  /** Events without a side effect in this receiver, for which the run does not wait. */
  private readonly unusedEvents = new Set<string>();
  /** The ids of deliveries that were accepted. */
  readonly acceptedIds = new Set<string>();
  /** The shortest time in which a genuine delivery was answered, in milliseconds. */
  fastestMs = Number.POSITIVE_INFINITY;
  private totalRateLimitWaitMs = 0;
  /** How long the run waited for the first side effect, if it never came; milliseconds. */
  waitedMs: number | undefined;

  constructor(options: SessionOptions) {
    this.options = options;
  }

  makeDelivery(shape?: DeliveryShape): TestDelivery {
    return makeDelivery(this.options, shape);
  }

  /**
   * Sends a delivery. A genuine, unchanged one uses an idle connection if the receiver keeps one open. If that connection
   * breaks, the delivery is sent again over a new one, since an idle connection may close at any time.
   * @throws WebhookGone if a genuine delivery is answered 410.
   */
  async deliver(delivery: TestDelivery, variant?: RequestVariant): Promise<Attempt> {
    const genuine = this.isGenuine(delivery);
    const request = toRequest(this.options, delivery, variant);
    if (genuine && variant === undefined) request.reuse = this.reusesConnections;
    const result = await this.sendPatiently(request);
    if (!result.reused || !hasNoAnswer(result) || result.error?.kind === "timeout")
      return this.record({ request, delivery, genuine, result });
    const retry = { ...request, reuse: false };
    return this.record({ request: retry, delivery, genuine, result: await this.sendPatiently(retry) });
  }

  /** Sends a delivery once, without another try if the connection breaks or the answer is 429. */
  async deliverOnce(delivery: TestDelivery, { reuse }: { reuse: boolean }): Promise<Attempt> {
    this.settledReading = null;
    const request = { ...toRequest(this.options, delivery), reuse };
    const result = await sendRaw(request, this.options);
    return this.record({ request, delivery, genuine: this.isGenuine(delivery), result });
  }

  async sendGet(): Promise<Attempt> {
    const request: RawRequest = {
      method: "GET",
      url: this.options.url,
      headers: [["User-Agent", `${this.options.serviceName}-Webhook/1.0`]],
      body: Buffer.alloc(0),
    };
    const result = await this.sendPatiently(request);
    return this.record({ request, delivery: null, genuine: false, result });
  }

  /** Drops a probe that cannot be read, so that checks go by answers alone. */
  async dropUnreadableProbe(): Promise<ProbeError | null> {
    try {
      this.settledReading =
        (await this.options.probe?.readSettled({ from: null, pending: new Set() })) ?? null;
      this.lastReading = this.settledReading;
      return null;
    } catch (error) {
      if (!(error instanceof ProbeError)) throw error;
      this.options.probe = null;
      return error;
    }
  }

  /** The probe's state before a check acts; null without a probe. */
  async readProbe(): Promise<ProbeReading | null> {
    if (this.settledReading !== null || !this.options.probe) return this.settledReading;
    const pending = [...this.pending.values()];
    this.pending.clear();
    const reading = await this.options.probe.readSettled({
      from: this.lastReading,
      pending: new Set(pending.map(({ id }) => id)),
    });
    for (const { id, event } of pending) {
      if (event !== this.options.event && reading.ids?.includes(id) === false) this.unusedEvents.add(event);
    }
    this.settledReading = reading;
    this.lastReading = reading;
    return reading;
  }

  /** How the side effects since `before` compare with the expected ones; null without a probe. */
  async observeEffects(before: ProbeReading | null, expected: ExpectedEffects): Promise<Effects | null> {
    if (!this.options.probe || !before) return null;
    const effects = await this.options.probe.compare(before, expected);
    this.settledReading = effects.lastReading;
    this.lastReading = effects.lastReading;
    this.pending.clear();
    return effects;
  }

  /** Whether every delivery takes long; checks then send fewer. */
  get isSlow(): boolean {
    return this.fastestMs > SLOW_MS && this.fastestMs < Number.POSITIVE_INFINITY;
  }

  /** Whether a slow receiver handled deliveries one after another that were sent together. */
  handlesOneByOne(sent: readonly Attempt[]): boolean {
    const longest = Math.max(...sent.map(({ result }) => result.duration_ms));
    return this.isSlow && longest > (sent.length - 0.5) * this.fastestMs;
  }

  /** How many requests can be sent at once without one missing its deadline because it waits for another. */
  calculateConcurrency(): number {
    const slots = this.options.timeoutMs / 2 / Math.max(this.fastestMs, 1);
    return Math.min(Math.max(Math.floor(slots), 1), MAX_CONCURRENCY);
  }

  /** Raises the wait for later side effects to one and a half times this delay. */
  adaptToLateness(latenessMs: number): void {
    this.options.patienceMs = Math.max(this.options.patienceMs, Math.ceil(latenessMs * 1.5));
    this.options.probe?.adaptToLateness(latenessMs);
  }

  /** Shortens the wait for later side effects, because the first did not come within `waitedMs`. */
  shortenWaitingAfter(waitedMs: number): void {
    this.waitedMs = waitedMs;
    this.options.probe?.shortenPatience();
  }

  /** Tries to connect to the receiver for as long as its patience lasts. Returns null if it accepts, otherwise the reason. */
  async findConnectionProblem(): Promise<string | null> {
    const { signal, url, resolveUrl, timeoutMs, patienceMs } = this.options;
    const giveUp = performance.now() + patienceMs;
    for (;;) {
      signal?.throwIfAborted();
      const problem = await tryConnect(url, resolveUrl, Math.min(timeoutMs, 10_000));
      if (problem === null || performance.now() >= giveUp) return problem;
      await wait(100);
    }
  }

  async pause(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: this.options.signal });
  }

  private isGenuine(delivery: TestDelivery): boolean {
    return delivery.signature === sign(this.options.secret, delivery.body);
  }

  private record(attempt: Attempt): Attempt {
    const { delivery, genuine, result, request } = attempt;
    this.attempts.push(attempt);
    // The service sends deliveries by POST only.
    if (!genuine || delivery === null || request.method !== "POST") return attempt;
    const { response_code: status } = result;
    if (status > 0) this.fastestMs = Math.min(this.fastestMs, result.duration_ms);
    if (status === 410) throw new WebhookGone(attempt);
    if (status >= 200 && status <= 299) this.expectEffect(delivery);
    return attempt;
  }

  /** Records that a side effect may follow; a repetition has none. */
  private expectEffect(delivery: TestDelivery): void {
    this.firstAccepted ??= { delivery, at: performance.now() };
    if (this.acceptedIds.has(delivery.id)) return;
    this.acceptedIds.add(delivery.id);
    if (!this.unusedEvents.has(delivery.event)) this.pending.set(delivery.id, delivery);
  }

  /** A 429 only asks to wait, so the request is sent again after the time in the answer. */
  private async sendPatiently(request: RawRequest): Promise<OutboundResult> {
    this.settledReading = null;
    for (let retries = 0; ; retries += 1) {
      const result = await sendRaw(request, this.options);
      if (result.response_code !== 429 || retries === MAX_RATE_LIMIT_RETRIES) return result;
      const after = String(result.headers["retry-after"]);
      const seconds = Number(after) || (Date.parse(after) - Date.now()) / 1000 || 1;
      const pause = Math.min(Math.max(seconds, 0.1) * 1000, MAX_RATE_LIMIT_WAIT_MS);
      if (this.totalRateLimitWaitMs + pause > MAX_TOTAL_RATE_LIMIT_WAIT_MS) return result;
      this.totalRateLimitWaitMs += pause;
      await this.pause(pause);
    }
  }
}
