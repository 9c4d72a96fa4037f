import { setMaxListeners } from "node:events";
import { request as requestByHttp } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { SandboxClient } from "../../src/client/sandbox.ts";

/** Flaws of a small client of the API; without any, the client is sound. */
export interface Flaws {
  /** The pause in milliseconds before retry n (from 0); undefined: no retry. */
  pause?: (retry: number, retryAfter: number | undefined) => number | undefined;
  /** Advances the sandbox's clock for a pause, so that a busy machine makes no difference. */
  advances?: boolean;
  retries?: (status: number, method: string) => boolean;
  /** Repeats a POST after a network error without checking whether it succeeded. */
  blindRepeat?: boolean;
  /** In milliseconds; 0: no limit. */
  timeoutMs?: number;
  /** Fails for answers with additional fields. */
  strict?: boolean;
  /** Fails for values that it does not know. */
  closed?: boolean;
  /** Waits for ever for the rest of an answer that is not JSON. */
  patientBody?: boolean;
  /** Ignores errors of the body, or of the connection, and so waits for ever after one. */
  deafTo?: "truncated" | "empty";
  redirect?: "follow" | "manual" | "error";
  keyInUrl?: boolean;
  /** Gets a token for each waiting request, instead of one for all. */
  refreshEach?: boolean;
  /** Gets another token after each 401, without end. */
  refreshesForEver?: boolean;
  usesToken?: boolean;
  pages?: "once" | "twice" | "first twice" | "gap" | "stops";
  etags?: boolean;
  restartsUpload?: boolean;
  /** Not a flaw: the official storage client does it too. */
  probesFirst?: boolean;
}

class Refused extends Error {}

/** Fixed factors in place of random ones. */
const JITTER = [0.8, 1.3, 0.6, 1.1];

const computeSoundPause = (retry: number, retryAfter?: number) =>
  retry >= 4 ? undefined : (retryAfter ?? 0) * 1000 + 100 * 2 ** retry * JITTER[retry]!;

/** Replaces `AbortSignal.any`, whose signal Node 20 may collect before its timeout. */
function limitTime(signal: AbortSignal, timeoutMs: number): AbortSignal {
  const either = new AbortController();
  // Node warns from ten listeners on, and a client may send more requests than that.
  setMaxListeners(0, signal);
  const abort = () => either.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  setTimeout(() => either.abort(new DOMException("timed out", "TimeoutError")), timeoutMs).unref();
  return either.signal;
}

export function createClient(
  sandbox: Pick<SandboxClient, "url" | "clock">,
  key: string,
  flaws: Flaws,
  signal: AbortSignal,
) {
  const {
    pause = computeSoundPause,
    retries = (status) => status === 429 || status >= 500,
    // A busy machine may pause for a second.
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
      signal: timeoutMs === 0 ? signal : limitTime(signal, timeoutMs),
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
          // Another request may have refreshed the token since this one was sent.
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
      if (flaws.advances) await sandbox.clock.advance(wait);
      else await sleep(wait, undefined, { signal });
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

/** The time limit ends with the head of the answer. */
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

/** Fails like a client that checks answers against a fixed list of fields. */
function requireKnown(value: unknown): void {
  if (JSON.stringify(value).includes("added_later")) throw new Error("unknown field added_later");
}
