import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import { calculateWallDelay } from "../engine/state/clock.ts";
import { timers } from "../engine/state/timers.ts";
import { queuedAttempts } from "../engine/webhooks/queued-attempts.ts";
import { type RedisStore, toFleetKey } from "../persistence/redis-store.ts";

const KEY = toFleetKey("due");
const MAX_LISTED = 100;
/** A scaled clock computes slightly different instants for the same timer. */
const SAME_MS = 20;

/**
 * The instant of the next timer of each sandbox, on the wall clock (interfaces.md 15), so that some node takes
 * over a sandbox without an owner when its timer is due. Written before the commit that sets the timer, and corrected
 * after it.
 */
export class DueSandboxes {
  private readonly store: RedisStore;
  /** What Redis has, by sandbox, in milliseconds since 1970; -Infinity if that is unknown. */
  private readonly recordedInstants = new Map<string, number>();

  constructor(store: RedisStore) {
    this.store = store;
  }

  /** Writes an earlier instant, before the commit with its timer. */
  recordBeforeCommit(sandbox: Sandbox): void {
    const dueAt = findNextDue(sandbox);
    if (dueAt < (this.recordedInstants.get(sandbox.name) ?? Number.POSITIVE_INFINITY) - SAME_MS)
      this.writeDue(sandbox.name, dueAt);
  }

  recordAfterCommit(sandbox: Sandbox): void {
    const dueAt = findNextDue(sandbox);
    const recorded = this.recordedInstants.get(sandbox.name) ?? Number.POSITIVE_INFINITY;
    if (Math.abs(dueAt - recorded) > SAME_MS) this.writeDue(sandbox.name, dueAt);
  }

  remove(sandbox: string): void {
    if (this.recordedInstants.has(sandbox)) this.writeDue(sandbox, Number.POSITIVE_INFINITY);
  }

  /** The next owner records the due instant itself. */
  release(sandbox: string): void {
    this.recordedInstants.delete(sandbox);
  }

  /** Called after a takeover: the instant in Redis is unknown, so the next commit writes it. */
  adopt(sandbox: string): void {
    this.recordedInstants.set(sandbox, Number.NEGATIVE_INFINITY);
  }

  /** Names of due sandboxes, the longest due first. */
  async list(): Promise<string[]> {
    const until = String(Date.now());
    const command = ["ZRANGEBYSCORE", KEY, "-inf", until, "LIMIT", "0", String(MAX_LISTED)];
    return this.store.connection.send(command);
  }

  /** A connection keeps the order of its commands, so the caller need not wait. */
  private writeDue(sandbox: string, due: number): void {
    const isNever = due === Number.POSITIVE_INFINITY;
    const command = isNever ? ["ZREM", KEY, sandbox] : ["ZADD", KEY, String(due), sandbox];
    if (isNever) this.recordedInstants.delete(sandbox);
    else this.recordedInstants.set(sandbox, due);
    this.store.connection
      .send(command)
      .catch(() => this.recordedInstants.set(sandbox, Number.NEGATIVE_INFINITY));
  }
}

/** Queued deliveries are due at once, whatever the sandbox's clock says. */
function findNextDue({ world }: Sandbox): number {
  const { root, clock, origin } = world;
  const now = Date.now();
  if ((root.tables.get(queuedAttempts.name)?.size ?? 0) > 0) return now;
  const first = world.read().index(timers, "due", "").page(0, 1)[0];
  if (first === undefined) return Number.POSITIVE_INFINITY;
  return Math.floor(now + calculateWallDelay(clock, origin + first.due, now));
}
