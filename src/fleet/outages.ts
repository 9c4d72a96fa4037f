import type { Log } from "../hosts/node/log.ts";
import type { Target } from "./proxy.ts";

/** Interval of the requests that test whether an unreachable node is back, in milliseconds. */
const TRY_MS = 50;
/** Once a node is unreachable for this long, requests for it no longer wait. */
const LONG_MS = 1000;
const MAX_ENTRIES = 10_000;

interface Outage {
  since: number;
  nextTryAt: number;
}

/** Tracks nodes that cannot be reached, so that requests for the sandboxes they own do not flood their ports. */
export class Outages {
  private readonly log: Log;
  private readonly bySession = new Map<string, Outage>();
  private readonly loggedUrls = new Set<string>();

  constructor(log: Log) {
    this.log = log;
  }

  /** Whether a request may try the owner now: during an outage, one per `TRY_MS` may. */
  mayTry({ session }: Target): boolean {
    const outage = this.bySession.get(session);
    const now = performance.now();
    if (outage === undefined) return true;
    if (now < outage.nextTryAt) return false;
    outage.nextTryAt = now + TRY_MS;
    return true;
  }

  /** Whether the owner has been unreachable for so long that waiting is useless; logs that once. */
  shouldGiveUp({ session, url }: Target): boolean {
    const outage = this.bySession.get(session);
    if (outage === undefined || performance.now() - outage.since <= LONG_MS) return false;
    if (!this.loggedUrls.has(url)) {
      this.log.warn(
        `The node ${url} cannot be reached from here: either it has ended, or its --node-url is not an address at which all nodes reach it.`,
      );
    }
    this.loggedUrls.add(url);
    return true;
  }

  record({ session }: Target): void {
    const now = performance.now();
    if (this.bySession.size > MAX_ENTRIES) this.bySession.clear();
    const outage = this.bySession.get(session);
    this.bySession.set(session, { since: outage?.since ?? now, nextTryAt: now + TRY_MS });
  }

  end({ session, url }: Target): void {
    if (this.bySession.delete(session)) this.loggedUrls.delete(url);
  }
}

const RECENT_MS = 25;

/** Caches whether sessions are alive: requests within a short time share one query. */
export class LivenessCache {
  private readonly bySession = new Map<string, { until: number; answer: Promise<boolean> }>();

  isLive(session: string, ask: () => Promise<boolean>): Promise<boolean> {
    const now = performance.now();
    const recent = this.bySession.get(session);
    if (recent !== undefined && now < recent.until) return recent.answer;
    if (this.bySession.size > MAX_ENTRIES) this.bySession.clear();
    const answer = ask();
    this.bySession.set(session, { until: now + RECENT_MS, answer });
    return answer;
  }
}
