import { platform } from "../platform.ts";
import { type AdvanceTarget, endOfAdvance } from "./advance-target.ts";
import { type Clock, type ClockMode, makeClock, moveClock, pinClock, readClock, wallDelay } from "./clock.ts";
import { Mutex } from "./mutex.ts";
import { nearestTimer, type PendingTimer, pendingTimers } from "./pending-timers.ts";
import { PendingWork } from "./pending-work.ts";
import type { Root } from "./root.ts";
import { type Timer, timers } from "./timers.ts";
import { Transaction } from "./transaction.ts";
import { WakeUp } from "./wake-up.ts";
import type {
  Commit,
  ListenedWorld,
  RanTimer,
  TimerEffect,
  WorldOptions,
  WorldParts,
  WorldValue,
} from "./world-parts.ts";

/** After so many synchronous steps an advance lets other requests have a turn. */
const STEPS_PER_TURN = 200;

/** The living state of one sandbox. Nothing here awaits while a transaction is open. */
export class World implements ListenedWorld {
  root: Root;
  clock: Clock;
  origin: number;
  /** Requests answered so far; request ids are drawn from it. */
  requests = 0;
  seed: number;
  private secretKey: string;
  private readonly wallClock: () => number;
  private readonly parts: WorldParts;
  private readonly listeners = new Set<() => void>();
  private readonly work = new PendingWork();
  private readonly advances = new Mutex();
  private readonly wakeUp = new WakeUp();
  private nextDue = Number.POSITIVE_INFINITY;
  private by: unknown;
  private closed = false;
  /** Nothing but the clock has changed this world since it was made from its fixture. */
  untouched = true;
  /** What the clock showed at the last change, in milliseconds since 1970; for recordings. */
  changedAt = 0;
  /** Grows with every restore: work that began before one must not write its outcome into what came after. */
  generation = 0;

  constructor(options: WorldOptions) {
    this.root = options.root;
    this.clock = options.clock;
    this.origin = options.origin;
    this.seed = options.seed;
    this.secretKey = options.secretKey;
    this.wallClock = options.wallClock;
    this.parts = options.parts;
    this.arm();
  }

  /** The sandbox's now in milliseconds since 1970. */
  epochNow(): number {
    return readClock(this.clock, this.wallClock());
  }

  /** A view of the present; cheap, and discarded after use. */
  read(): Transaction {
    return new Transaction(this.root, {
      origin: this.origin,
      now: this.epochNow() - this.origin,
      seed: this.seed,
      secretKey: this.secretKey,
    });
  }

  /** Runs `change` and commits what it did; if it throws, nothing happened. `by` is told to whoever listens. */
  transact<T>(change: (tx: Transaction) => T, by: unknown = this.by): T {
    this.parts.beforeChange?.();
    this.catchUp();
    const before = this.root;
    const value = this.transactNow(change, { by, timer: undefined });
    if (this.root !== before) this.untouched = false;
    return value;
  }

  /** What `work` does until it first waits, it does for `by`: changes, and advances that it begins. */
  as<T>(by: unknown, work: () => T): T {
    const before = this.by;
    this.by = by;
    try {
      return work();
    } finally {
      this.by = before;
    }
  }

  /** A change that nobody asked for, since it follows from how the world is made; it stays untouched. */
  arrange(change: (tx: Transaction) => void): void {
    this.transactNow(change, { by: this.by, timer: undefined });
  }

  /**
   * Runs what became due before anyone looks at the world. A frozen clock holds back only what lies
   * ahead of it: what is set for this very instant (a job that takes no time) runs all the same.
   */
  catchUp(): void {
    if (this.nextDue === Number.POSITIVE_INFINITY || this.clock.pinned !== undefined || this.closed) return;
    while (this.nextDue <= this.epochNow() && this.runNext(undefined) !== undefined);
  }

  /** What is due and when, nearest first. */
  pending(): readonly PendingTimer[] {
    return pendingTimers(this.read());
  }

  /**
   * Moves the clock forward to `target`, stopping at every due instant on the way and waiting for what
   * it started. Calls queue behind each other. `"next"` goes to the nearest; a restore or the end of the
   * world cuts the walk short.
   * @throws RangeError when the target lies before the sandbox's now, or after the year 9999
   */
  advance(target: AdvanceTarget): Promise<RanTimer[]> {
    const { by } = this;
    return this.advances.run(() => this.walkTo(target, by));
  }

  /**
   * Replaces the clock. A later now runs what became due; see `advance`.
   * @throws RangeError when `now` lies before the sandbox's now
   */
  setClock(mode: ClockMode, now?: number, rate?: number): Promise<RanTimer[]> {
    const { by } = this;
    return this.advances.run(async () => {
      const { generation } = this;
      const ran = await this.walkTo(now ?? ((present) => (mode === "real" ? this.wallClock() : present)), by);
      if (generation === this.generation) {
        this.clock = makeClock(mode, this.epochNow(), this.wallClock(), rate);
        this.arm();
        this.notify();
      }
      return ran;
    });
  }

  /** Shows a later instant; what becomes due on the way runs with the next change. Not while an advance runs. */
  passTo(instant: number): void {
    if (this.clock.pinned === undefined && instant > this.epochNow())
      this.clock = moveClock(this.clock, instant, this.wallClock());
  }

  track(work: Promise<unknown>): void {
    this.work.track(work);
  }

  /** Resolves when no tracked work is under way. */
  settled(): Promise<void> {
    return this.work.settled();
  }

  /** Calls back after every commit, clock change, restore and at the end; returns the way to stop. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  value(): WorldValue {
    return {
      root: this.root,
      clock: moveClock(this.clock, this.epochNow(), this.wallClock()),
      origin: this.origin,
      requests: this.requests,
      seed: this.seed,
      secretKey: this.secretKey,
    };
  }

  /** Makes this the present; the clock shows again what it showed when the value was taken. */
  restore(value: WorldValue): void {
    this.root = value.root;
    this.origin = value.origin;
    this.requests = value.requests;
    this.seed = value.seed;
    this.secretKey = value.secretKey;
    this.generation += 1;
    this.untouched = false;
    this.clock = moveClock(value.clock, value.clock.at, this.wallClock());
    this.arm();
    this.parts.onReplace?.(this);
    this.notify();
  }

  /** Keys what must not be guessed from the seed alone; another after a restore from elsewhere. */
  get currentSecretKey(): string {
    return this.secretKey;
  }

  get isClosed(): boolean {
    return this.closed;
  }

  close(): void {
    this.closed = true;
    this.wakeUp.clear();
    this.parts.onReplace?.(this);
    this.notify();
  }

  private transactNow<T>(change: (tx: Transaction) => T, who: Pick<Commit, "by" | "timer">): T {
    const tx = this.read();
    const value = change(tx);
    const effect = tx.emitted.length > 0 ? this.parts.onEmit(tx, tx.emitted) : undefined;
    this.commit(tx, who);
    if (effect) this.track(effect());
    return value;
  }

  private commit(tx: Transaction, { by, timer }: Pick<Commit, "by" | "timer">): void {
    const before = this.root;
    const after = tx.result();
    if (after === before) return;
    this.root = after;
    this.changedAt = tx.absolute(tx.now);
    if (after.tables.get(timers.name) !== before.tables.get(timers.name)) this.arm();
    this.parts.onCommit(this, { before, after, written: tx.written, by, timer });
    this.notify();
  }

  private async walkTo(target: AdvanceTarget, by: unknown): Promise<RanTimer[]> {
    this.catchUp();
    await this.settled();
    const { generation } = this;
    const now = this.epochNow();
    const end = endOfAdvance(target, now, this.nextDue);
    const ran = new Set<RanTimer>();
    let steps = 0;
    this.clock = pinClock(this.clock, now);
    try {
      while (this.nextDue <= end && !this.closed) {
        this.clock = pinClock(this.clock, Math.max(this.nextDue, this.epochNow()));
        const step = this.runNext(by);
        if (step === undefined) break;
        const { kind, subject } = step.timer;
        const entry = { at: new Date(this.epochNow()).toISOString(), kind, subject };
        ran.add(entry);
        void step.effect?.then((made) => made === false && ran.delete(entry)).catch(() => {});
        // What is due at one instant is started together, so that one slow effect holds up no other.
        if (this.nextDue > this.epochNow()) await this.settled();
        if (++steps % STEPS_PER_TURN === 0) await platform().nextTurn();
        if (generation !== this.generation) return [...ran];
      }
    } finally {
      if (generation === this.generation) {
        this.clock = moveClock(this.clock, end, this.wallClock());
        this.arm();
        this.notify();
      }
    }
    return [...ran];
  }

  private runNext(by: unknown): { timer: Timer; effect?: ReturnType<TimerEffect> } | undefined {
    const first = nearestTimer(this.read());
    if (first === undefined) return undefined;
    const who = { by, timer: first };
    try {
      const effect = this.transactNow((tx) => {
        tx.remove(timers, first.id);
        return this.parts.timerHandlers[first.kind]?.(tx, first);
      }, who);
      if (effect) {
        const running = effect();
        this.track(running);
        return { timer: first, effect: running };
      }
    } catch (error) {
      // Left in place, the timer would be due again at once and for ever.
      this.transactNow((tx) => tx.remove(timers, first.id), who);
      this.parts.onTimerError?.(error, first);
    }
    return { timer: first };
  }

  /** Points the alarm at the nearest due instant. */
  private arm(): void {
    const first = nearestTimer(this.read());
    this.nextDue = first === undefined ? Number.POSITIVE_INFINITY : this.origin + first.due;
    if (this.closed || first === undefined) this.wakeUp.clear();
    else this.wakeUp.set(wallDelay(this.clock, this.nextDue, this.wallClock()), this.ring);
  }

  private readonly ring = (): void => {
    this.catchUp();
    this.arm();
  };

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}
