import type { Answer } from "./read-answer.ts";

const MAX_WAIT_MS = 120_000;
/** A 429 that does not say when to come back. */
const USUAL_WAIT = 5_000;
const WINDOW = 60_000;

/** Keeps within the key's rate limit (section 8), by what the service says of it. */
export class Pace {
  private resumeAt = 0;

  /** Milliseconds to wait before the next request with the key. */
  due(): number {
    return Math.max(0, this.resumeAt - Date.now());
  }

  /** Takes up what an answer says of the window: with nothing left, the next request waits for its end. */
  saw({ headers }: Pick<Answer, "headers">): void {
    const remaining = headers.get("x-ratelimit-remaining") ?? headers.get("x-ratelimit-remaining-requests");
    if (remaining === null) return;
    this.resumeAt = Number(remaining) > 0 ? 0 : Date.now() + Math.min(MAX_WAIT_MS, untilReset(headers));
  }

  /** Milliseconds after which a refused request is worth repeating; undefined: it was not refused for its rate. */
  retryAfter({ status, headers, text }: Pick<Answer, "status" | "headers" | "text">): number | undefined {
    if (status !== 429 || /SPENDING_LIMIT/i.test(text)) return undefined;
    const after = headers.get("retry-after");
    if (after === null) return this.due() || USUAL_WAIT;
    const seconds = /^\d+$/.test(after) ? Number(after) : (Date.parse(after) - Date.now()) / 1000;
    const wait = Number.isFinite(seconds) ? Math.max(0, seconds * 1000) : USUAL_WAIT;
    this.resumeAt = 0;
    return Math.min(MAX_WAIT_MS, wait);
  }
}

function untilReset(headers: Headers): number {
  const duration = headers.get("x-ratelimit-reset-requests");
  const [, minutes, seconds] = /^(?:(\d+)m)?(?:([\d.]+)s)?$/.exec(duration ?? "-") ?? [];
  if (minutes !== undefined || seconds !== undefined) {
    return (Number(minutes ?? 0) * 60 + Number(seconds ?? 0)) * 1000;
  }
  const reset = Number(headers.get("x-ratelimit-reset") ?? Number.NaN) * 1000 - Date.now();
  // A service whose clock is not ours says nothing useful; a window is a minute (section 8).
  return reset > 0 && reset <= WINDOW ? reset : WINDOW;
}
