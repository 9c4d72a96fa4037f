import type { AnyOperation } from "../../engine/contract/operation.ts";
import { isRefusedByFrozenClock } from "./discover-understudy.ts";
import {
  type Answer,
  type Call,
  changesNothing,
  readAnswer,
  readFirstEvents,
  toBrokenAnswer,
} from "./exchange.ts";
import { toCredential } from "./own-operation.ts";

/** The parts of a request that the checks of its answer need. */
export interface SentRequestParts {
  /** Decoded. */
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  /** The JSON that was sent; undefined if there is none. */
  body: unknown;
  headers: Headers;
}

export interface Exchange extends Answer {
  operation: AnyOperation | undefined;
  method: string;
  path: string;
  sent: SentRequestParts;
  /** Whether it was sent with the key. */
  authenticated: boolean;
  /**
   * For a recorded exchange: whether the bodies are complete, when the request was sent and how long
   * it took, in milliseconds; NaN if unknown. Masked values of a recording are not checked.
   */
  recorded?: { hasWholeBodies: boolean; at: number; duration: number };
}

export interface TargetOptions {
  /** Absolute, without a slash at the end. */
  url: string;
  key: string;
  /** Whether requests that change something are allowed. */
  write: boolean;
  signal: AbortSignal;
  /** For each request, in milliseconds. */
  timeoutMs: number;
  /** Rejects with the signal's reason. */
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  userAgent: string;
}

/** The run cannot go on; the message says why. */
export class RunStopped extends Error {}

/** Undoing a change may have to wait for the next rate window. */
const UNDO_TIMEOUT_MS = 180_000;
const MAX_RATE_WAITS = 3;

/** The service under test, as the key's user sees it. Stores every exchange. */
export class Target {
  readonly exchanges: Exchange[] = [];
  readonly options: TargetOptions;
  private readonly pacer = new RequestPacer();
  private runningUndos = 0;

  constructor(options: TargetOptions) {
    this.options = options;
  }

  /**
   * Sends one request; waits if the service's rate limit requires it. A broken exchange is an answer with
   * status 0, not an error.
   * @throws RunStopped if the rate limit never ends
   * @throws the signal's reason
   */
  async send(call: Call): Promise<Exchange> {
    if (!this.options.write && !changesNothing(call))
      throw new Error(`without --write nothing may be changed: ${call.operation!.id}`);
    const authenticated = call.url === undefined && (call.credential ?? "key") === "key";
    for (let waits = 0; ; waits++) {
      if (authenticated) await this.pause(this.pacer.getWaitMs());
      const exchange = await this.sendOnce(call, authenticated);
      this.exchanges.push(exchange);
      this.pacer.readRateHeaders(exchange);
      const retryMs = this.pacer.takeRetryMs(exchange);
      if (retryMs === undefined) return exchange;
      if (waits === MAX_RATE_WAITS)
        throw new RunStopped(
          `the rate limit does not end: after ${waits} waits ${exchange.path} is still 429`,
        );
      if (await isRefusedByFrozenClock(this.options.url, exchange))
        throw new RunStopped(
          "the rate limit does not end, because the sandbox's clock is frozen: run it with `understudy clock run`, then verify again",
        );
      await this.pause(retryMs);
    }
  }

  /** Runs work that undoes a change, even if the run has been stopped. */
  async undo<T>(work: () => Promise<T>): Promise<T> {
    this.runningUndos += 1;
    try {
      return await work();
    } finally {
      this.runningUndos -= 1;
    }
  }

  private async pause(milliseconds: number): Promise<void> {
    if (milliseconds > 0) await this.options.wait(milliseconds, this.getSignal());
  }

  private getSignal(): AbortSignal {
    return this.runningUndos > 0 ? AbortSignal.timeout(UNDO_TIMEOUT_MS) : this.options.signal;
  }

  private async sendOnce(call: Call, authenticated: boolean): Promise<Exchange> {
    const { operation } = call;
    const method = operation?.method ?? "GET";
    const path = toPath(call);
    const stop = this.getSignal();
    stop.throwIfAborted();
    const abort = new AbortController();
    const ownSignals = [abort.signal, AbortSignal.timeout(this.options.timeoutMs)];
    // A request that changes something goes on if the run is stopped: without its answer the change could not be undone.
    const signal = AbortSignal.any(changesNothing(call) ? [stop, ...ownSignals] : ownSignals);
    const credential = authenticated ? toCredential(operation ?? {}, this.options.key) : undefined;
    const headers = { ...credential?.headers, ...this.makeHeaders(call) };
    const request = { operation, method, path, authenticated, sent: toSent(call, headers) };
    const init: RequestInit = { method, redirect: "manual", signal, headers, body: toBody(call) };
    try {
      const url = new URL(call.url ?? this.options.url + path);
      if (credential?.query !== undefined) url.searchParams.append(...credential.query);
      const response = await fetch(url, init);
      const answer = call.endsAfterFirstEvents ? await readFirstEvents(response) : await readAnswer(response);
      return { ...request, ...answer };
    } catch (error) {
      stop.throwIfAborted();
      return { ...request, ...toBrokenAnswer(error) };
    } finally {
      abort.abort();
    }
  }

  private makeHeaders({ credential, body, headers }: Call): Record<string, string> {
    const ownHeaders: Record<string, string> = { "user-agent": this.options.userAgent };
    if (typeof credential === "object") Object.assign(ownHeaders, credential);
    if (body !== undefined && !isRaw(body)) ownHeaders["content-type"] = "application/json";
    return { ...ownHeaders, ...headers };
  }
}

function toSent({ params = {}, query = {}, body }: Call, headers: Record<string, string>): SentRequestParts {
  return {
    params,
    query: Object.fromEntries(toTexts(query)),
    body: isRaw(body) ? undefined : body,
    headers: new Headers(headers),
  };
}

/** @throws Error for a parameter without a value, which is a bug in this program */
function toPath({ operation, path, url, params = {}, query }: Call): string {
  if (url !== undefined) return new URL(url).pathname;
  const filled = (path ?? operation?.path ?? "").replaceAll(/\{([^{}]+)\}/g, (_match, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`no value for {${name}} of ${operation?.id}`);
    return encodeURIComponent(value);
  });
  const search = new URLSearchParams(toTexts(query ?? {})).toString();
  return search === "" ? filled : `${filled}?${search}`;
}

function toTexts(query: NonNullable<Call["query"]>): [name: string, value: string][] {
  return Object.entries(query).map(([name, value]) => [name, String(value)]);
}

function isRaw(body: unknown): body is string | Uint8Array | FormData {
  return typeof body === "string" || body instanceof Uint8Array || body instanceof FormData;
}

function toBody({ body }: Call): RequestInit["body"] {
  if (body === undefined) return undefined;
  return isRaw(body) ? (body as RequestInit["body"]) : JSON.stringify(body);
}

const MAX_WAIT_MS = 120_000;
/** The wait after a 429 without a time. */
const DEFAULT_WAIT_MS = 5_000;
const WINDOW_MS = 60_000;

/** Keeps within the key's rate limit (section 8), as the service's headers state it. */
export class RequestPacer {
  private resumeAt = 0;

  /** Milliseconds to wait before the next request with the key. */
  getWaitMs(): number {
    return Math.max(0, this.resumeAt - Date.now());
  }

  /** Reads the rate headers of an answer: if nothing is left, the next request waits for the end of the window. */
  readRateHeaders({ headers }: Pick<Answer, "headers">): void {
    const remaining = headers.get("x-ratelimit-remaining") ?? headers.get("x-ratelimit-remaining-requests");
    if (remaining === null) return;
    this.resumeAt = Number(remaining) > 0 ? 0 : Date.now() + Math.min(MAX_WAIT_MS, countMsToReset(headers));
  }

  /**
   * The wait before a refused request is repeated, in milliseconds; undefined: the rate limit was not the reason. A
   * `Retry-After` replaces the wait that the rate headers set.
   */
  takeRetryMs({ status, headers, text }: Pick<Answer, "status" | "headers" | "text">): number | undefined {
    if (status !== 429 || /SPENDING_LIMIT/i.test(text)) return undefined;
    const after = headers.get("retry-after");
    if (after === null) return this.getWaitMs() || DEFAULT_WAIT_MS;
    const seconds = /^\d+$/.test(after) ? Number(after) : (Date.parse(after) - Date.now()) / 1000;
    const wait = Number.isFinite(seconds) ? Math.max(0, seconds * 1000) : DEFAULT_WAIT_MS;
    this.resumeAt = 0;
    return Math.min(MAX_WAIT_MS, wait);
  }
}

function countMsToReset(headers: Headers): number {
  const duration = headers.get("x-ratelimit-reset-requests");
  const [, minutes, seconds] = /^(?:(\d+)m)?(?:([\d.]+)s)?$/.exec(duration ?? "") ?? [];
  if (minutes !== undefined || seconds !== undefined)
    return (Number(minutes ?? 0) * 60 + Number(seconds ?? 0)) * 1000;
  const reset = Number(headers.get("x-ratelimit-reset") ?? Number.NaN) * 1000 - Date.now();
  // If the service's clock differs from ours, waits one window, a minute (section 8).
  return reset > 0 && reset <= WINDOW_MS ? reset : WINDOW_MS;
}
