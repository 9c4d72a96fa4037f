import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Log } from "../hosts/node/log.ts";
import { type RedisFacts, toFleetRefusal } from "../persistence/redis-connection.ts";
import { RENEW } from "../persistence/redis-scripts.ts";
import { type RedisStore, toFleetKey, toMovedRefusal } from "../persistence/redis-store.ts";
import { PersistenceError, type StoreRefusal } from "../persistence/store.ts";

/** The duration of a lease after its last renewal (interfaces.md 15). */
export const LEASE_MS = 5000;
export const RENEW_MS = 1500;
/** A node regards its leases as lost this much earlier than Redis does. */
const MARGIN_MS = 1000;
const POLL_MS = 100;

export const toSessionKey = (url: string) => toFleetKey(`node:${url}`);

/** A session that ended although its node runs, or whose Redis restarted. */
export interface LostSession {
  /** The id of that session. */
  lostSession: string;
  restarted: boolean;
}

/**
 * The session of a node: a key in Redis with a time to live, to which leases refer. The node measures that time on the
 * monotonic clock, a second shorter than Redis, so that a node that was suspended or disconnected detects by itself that
 * it owns nothing.
 */
export class NodeSession {
  private validUntil = Number.NEGATIVE_INFINITY;
  private readonly store: RedisStore;
  private readonly log: Log;
  private readonly onRecover: (lost: LostSession) => Promise<void>;
  private timer: NodeJS.Timeout | undefined;
  private turn: Promise<void> = Promise.resolve();
  private isEnding = false;
  /** Kept until a recovery succeeds. */
  private lost: LostSession | undefined;

  /** @param onRecover settles once the sandboxes of a lost session were reclaimed or dropped */
  constructor(store: RedisStore, log: Log, onRecover: (lost: LostSession) => Promise<void>) {
    this.store = store;
    this.log = log;
    this.onRecover = onRecover;
  }

  get id(): string {
    return this.store.owner.session;
  }

  get url(): string {
    return this.store.owner.url;
  }

  /** Whether this node certainly owns its sandboxes now. */
  get isValid(): boolean {
    return performance.now() < this.validUntil;
  }

  /** Why a request for a sandbox is refused while this session is not valid. */
  toRefusal(sandbox: string): StoreRefusal {
    const { connection } = this.store;
    if (connection.isUp) return toMovedRefusal(sandbox);
    const message = `${connection.place} cannot be reached, so this node cannot know who owns sandbox ${sandbox}`;
    return toFleetRefusal("unreachable", message);
  }

  /** @throws PersistenceError if another live node has this address */
  async begin(): Promise<void> {
    // A live node renews its session; a node that was just killed does not.
    let remaining_ms = Number.POSITIVE_INFINITY;
    while (!(await this.extendValidityIf(() => this.tryAcquire()))) {
      const before_ms = remaining_ms;
      remaining_ms = await this.store.connection.send(["PTTL", toSessionKey(this.url)]);
      if (remaining_ms > before_ms)
        throw new PersistenceError(
          `--node-url ${this.url} is the address of a node that is running; give each node of a fleet an address of its own.`,
        );
      await pause(POLL_MS);
    }
    this.store.connection.onReconnect = (facts) => this.runInTurn(() => this.extendOrRecover(facts));
    this.timer = setInterval(
      () => this.runInTurn(() => this.extendOrRecover({ restarted: false })),
      RENEW_MS,
    );
    this.timer.unref();
  }

  /** Releases all leases at once. */
  async end(): Promise<void> {
    this.isEnding = true;
    clearInterval(this.timer);
    await this.turn;
    this.validUntil = Number.NEGATIVE_INFINITY;
    await this.store.connection.runScript(RENEW, [toSessionKey(this.url)], [this.id, "0"]);
  }

  private runInTurn(work: () => Promise<void>): void {
    this.turn = this.turn.then(async () => {
      // A failed attempt is repeated at the next turn of the timer, or when Redis is back.
      if (!this.isEnding) await work().catch(() => {});
    });
  }

  /** Extends the session. If it is gone, or Redis restarted, finds out which sandboxes are left. */
  private async extendOrRecover({ restarted }: RedisFacts): Promise<void> {
    if (!restarted && !this.lost && (await this.extendValidityIf(() => this.extend()))) return;
    this.validUntil = Number.NEGATIVE_INFINITY;
    this.lost = { lostSession: this.id, ...this.lost, restarted: restarted || this.lost?.restarted === true };
    // If Redis still has the session after a restart, it is continued: other nodes must never see it end.
    if (!(await this.extend())) {
      this.store.owner = { url: this.url, session: randomUUID() };
      if (!(await this.tryAcquire())) {
        this.log.error(`Another node runs under ${this.url}, so this one cannot own anything.`);
        return;
      }
    }
    await this.onRecover(this.lost);
    this.lost = undefined;
    await this.extendValidityIf(() => this.extend());
  }

  private async tryAcquire(): Promise<boolean> {
    const key = toSessionKey(this.url);
    const reply = await this.store.connection.send(["SET", key, this.id, "NX", "PX", String(LEASE_MS)]);
    return reply === "OK";
  }

  private async extend(): Promise<boolean> {
    const key = toSessionKey(this.url);
    return (await this.store.connection.runScript(RENEW, [key], [this.id, String(LEASE_MS)])) === 1;
  }

  /** The session counts as valid from the time of the request to Redis. */
  private async extendValidityIf(ask: () => Promise<boolean>): Promise<boolean> {
    const requestedAt = performance.now();
    if (!(await ask())) return false;
    this.validUntil = requestedAt + LEASE_MS - MARGIN_MS;
    return true;
  }
}
