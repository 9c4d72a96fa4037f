import { setMaxListeners } from "node:events";
import { request as requestByHttp } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxClient } from "../../src/client/sandbox.ts";

/** Small clients of the API: one that behaves well, and flaws that can be switched on one by one. */
export interface Flaws {
  /** Pause before retry number n (from 0) in milliseconds; undefined: no retry. */
  pause?: (retry: number, retryAfter: number | undefined) => number | undefined;
  retries?: (status: number, method: string) => boolean;
  /** Sends a POST again after a network error without looking. */
  blindRepeat?: boolean;
  /** Milliseconds; 0 for none. */
  timeoutMs?: number;
  /** Reads answers so that additions break it. */
  strict?: boolean;
  /** Refuses values that it does not know. */
  closed?: boolean;
  /** Accepts anything as an answer. */
  patientBody?: boolean;
  /** Listens to no error of the body, or to none of the connection: each is then waited for in vain. */
  deafTo?: "truncated" | "empty";
  redirect?: "follow" | "manual" | "error";
  keyInUrl?: boolean;
  /** Token exchanges and refreshes are shared by waiting requests unless set. */
  refreshEach?: boolean;
  /** Gets another token after each 401, for ever. */
  refreshesForEver?: boolean;
  usesToken?: boolean;
  pages?: "once" | "twice" | "first twice" | "gap" | "stops";
  etags?: boolean;
  restartsUpload?: boolean;
  /** No flaw: the official storage client does so too. */
  probesFirst?: boolean;
}

class Refused extends Error {}

/** Factors as a random draw could give them. */
const DRAWN = [0.8, 1.3, 0.6, 1.1];

const SOUND_PAUSE = (retry: number, retryAfter?: number) =>
  retry >= 4 ? undefined : (retryAfter ?? 0) * 1000 + 100 * 2 ** retry * DRAWN[retry]!;

/** Node 20 may collect the signal of `AbortSignal.any` before a timeout aborts it. */
function limited(signal: AbortSignal, timeoutMs: number): AbortSignal {
  const either = new AbortController();
  // A client may send more than the ten requests from which on Node warns.
  setMaxListeners(0, signal);
  const abort = () => either.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  setTimeout(() => either.abort(new DOMException("timed out", "TimeoutError")), timeoutMs).unref();
  return either.signal;
}

export function createClient(
  sandbox: Pick<SandboxClient, "url">,
  key: string,
  flaws: Flaws,
  signal: AbortSignal,
) {
  const {
    pause = SOUND_PAUSE,
    retries = (status) => status === 429 || status >= 500,
    // A busy machine may stop for a second.
    timeoutMs = 2000,
    redirect = "manual",
  } = flaws;
  const etags = new Map<string, { etag: string; body: unknown }>();
  let token: string | undefined;
  let refreshing: Promise<void> | undefined;

  async function exchange() {
    const answer = await fetch(`${sandbox.url}/v1/auth/token`, {
      method: "POST",
      headers: { "api-key": key },
    });
    token = ((await answer.json()) as { access_token: string }).access_token;
  }
  const refresh = () => {
    if (flaws.refreshEach) return exchange();
    refreshing ??= exchange().finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  };

  async function send(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
    const credentials: Record<string, string> = flaws.usesToken
      ? { authorization: `Bearer ${token}` }
      : { "api-key": key };
    const url = new URL(sandbox.url + path);
    if (flaws.keyInUrl) url.searchParams.set("api_key", key);
    const all = {
      ...credentials,
      ...(body && { "content-type": "application/json" }),
      ...headers,
    };
    const content = body && JSON.stringify(body);
    if (flaws.deafTo !== undefined)
      return sendDeaf(url, { method, headers: all, content, signal, timeoutMs, deafTo: flaws.deafTo });
    return fetch(url, {
      ...{ method, redirect, headers: all },
      signal: timeoutMs === 0 ? signal : limited(signal, timeoutMs),
      ...(content && { body: content }),
    });
  }

  /** @returns parsed JSON @throws Refused */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  async function call(method: string, path: string, body?: object): Promise<any> {
    let refreshed = false;
    for (let retry = 0; ; retry += 1) {
      signal.throwIfAborted();
      let wait: number | undefined;
      try {
        const known = flaws.etags ? etags.get(path) : undefined;
        if (flaws.usesToken && token === undefined) await refresh();
        const used = token;
        const answer = await send(method, path, body, known ? { "if-none-match": known.etag } : {});
        if (answer.status === 304) return known!.body;
        if (answer.status === 401 && flaws.usesToken && (!refreshed || flaws.refreshesForEver)) {
          refreshed = true;
          // Another request may have refreshed it since this one was sent.
          if (flaws.refreshEach || token === used) await refresh();
          continue;
        }
        const text = await answer.text();
        if (answer.status < 300) {
          if (flaws.patientBody && !text.startsWith("{")) await sleep(60_000, undefined, { signal });
          const value = JSON.parse(text);
          if (flaws.strict) requireKnown(value);
          if (flaws.closed) requireKnownProviders(value);
          const etag = answer.headers.get("etag");
          if (etag) etags.set(path, { etag, body: value });
          return value;
        }
        const after = answer.headers.get("retry-after");
        const failure = new Refused(`${answer.status}`);
        if (!retries(answer.status, method)) throw failure;
        wait = pause(retry, after === null ? undefined : Number(after));
        if (wait === undefined) throw failure;
      } catch (error) {
        if (error instanceof Refused || error instanceof SyntaxError) throw error;
        if (method !== "GET" && !flaws.blindRepeat) throw error;
        wait = pause(retry, undefined);
        if (wait === undefined) throw error;
      }
      await sleep(wait, undefined, { signal });
    }
  }
  return { call, send };
}

interface DeafRequest {
  method: string;
  headers: Record<string, string>;
  content: string | undefined;
  signal: AbortSignal;
  timeoutMs: number;
  deafTo: NonNullable<Flaws["deafTo"]>;
}

/** Its time limit is for the beginning of the answer. */
function sendDeaf(url: URL, { method, headers, content, signal, timeoutMs, deafTo }: DeafRequest) {
  return new Promise<Response>((resolve, reject) => {
    const ignore = () => {};
    const request = requestByHttp(url, { method, headers }, (answer) => {
      clearTimeout(timer);
      const parts: Buffer[] = [];
      answer.on("data", (part) => parts.push(part));
      answer.on("error", deafTo === "truncated" ? ignore : reject);
      answer.on("end", () => {
        const body = answer.statusCode === 304 ? null : Buffer.concat(parts);
        resolve(
          new Response(body, {
            status: answer.statusCode!,
            headers: answer.headers as Record<string, string>,
          }),
        );
      });
    });
    const timer = setTimeout(() => reject(new Error("no answer")), timeoutMs);
    request.on("close", () => clearTimeout(timer));
    request.on("error", deafTo === "empty" ? ignore : reject);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    request.end(content);
  });
}

function requireKnownProviders({ models = [] }: { models?: { provider: string }[] }): void {
  for (const { provider } of models)
    if (!/^vendor_[a-d]$/.test(provider)) throw new Error(`unknown provider ${provider}`);
}

/** As a client does that checks answers against a closed list of fields. */
function requireKnown(value: unknown): void {
  if (JSON.stringify(value).includes("added_later")) throw new Error("unknown field added_later");
}
