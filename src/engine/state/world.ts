import { platform } from "../platform.ts";
import {
  type AdvanceTarget,
  type Clock,
  type ClockMode,
  calculateWallDelay,
  getEndOfAdvance,
  makeClock,
  moveClock,
  readClock,
  type TimerKind,
  WakeUp,
} from "./clock.ts";
import { ChangeListeners, Mutex, RunningWork } from "./concurrency.ts";
import type { Root } from "./tables.ts";
import { type PendingTimer, type Timer, timers } from "./timers.ts";
import { Transaction } from "./transaction.ts";
import type {
  ObservedWorld,
  RanTimer,
  TimerEffect,
  WorldOptions,
  WorldParts,
  WorldValue,
} from "./world-parts.ts";

/** Synchronous steps of an advance between two turns of the event loop, in which other requests are handled. */
const STEPS_PER_TURN = 200;

/** The living state of one sandbox. Nothing here awaits while a transaction is open. */
export class World implements ObservedWorld {
  root: Root;
  clock: Clock;
  origin: number;
  /** Requests that have arrived so far; the id of the next one is drawn from this number. */
  requests = 0;
  seed: number;
  /** The key of everything that must not be guessable from the seed alone; a restore may replace it. */
  secretKey: string;
  private readonly wallClock: () => number;
  private readonly parts: WorldParts;
  private readonly listeners = new ChangeListeners();
  private readonly runningWork = new RunningWork();
  private readonly advances = new Mutex();
  private readonly wakeUp = new WakeUp();
  private nextDue = Number.POSITIVE_INFINITY;
  private currentSource: unknown;
  isClosed = false;
  /** Whether the running advance must end, or the latest one ended early. */
  isStopped = false;
  /** Whether only timers, leases and `setUp` have changed this world since it was created from its fixture. */
  isUntouched = true;
  /** The clock's instant at the last change, in milliseconds since 1970; for recordings. */
  changedAt = 0;
  /** The clock's instant just before the latest restore, which moved the clock. */
  restoredAt = 0;
  /** During an advance: the clock's instant before the latest step, in milliseconds since 1970; else Infinity. */
  instantBeforeStep = Number.POSITIVE_INFINITY;
  /** Grows with every restore, so that work that began before does not write its outcome into the restored world. */
  generation = 0;

  constructor(options: WorldOptions) {
    this.parts = options.parts;
    this.root = this.addTables(options.root);
    this.clock = options.clock;
    this.origin = options.origin;
    this.seed = options.seed;
    this.secretKey = options.secretKey;
    this.wallClock = options.wallClock;
    this.scheduleWakeUp();
  }

  /** The sandbox's current time, in milliseconds since 1970. */
  epochNow(): number {
    return readClock(this.clock, this.wallClock());
  }

  /** A transaction that only reads the current world; cheap, and discarded after use. */
  read(): Transaction {
    const { root, origin, seed, secretKey } = this;
    return new Transaction(root, { origin, now: this.epochNow() - origin, seed, secretKey });
  }

  /** Runs `change` and commits its writes; if it throws, nothing changes. `onCommit` receives the source. */
  transact<T>(change: (tx: Transaction) => T, source: unknown = this.currentSource): T {
    this.parts.beforeChange?.();
    this.catchUp();
    const before = this.root;
    const value = this.commitChange(change, source);
    if (this.root !== before) this.isUntouched = false;
    return value;
  }

  /** Runs `work`; its changes and advances have this source, up to its first await. */
  runAs<T>(source: unknown, work: () => T): T {
    const outerSource = this.currentSource;
    this.currentSource = source;
    try {
      return work();
    } finally {
      this.currentSource = outerSource;
    }
  }

  /** Changes the setup of the world, without a request; the world still counts as untouched. */
  setUp(change: (tx: Transaction) => void): void {
    this.commitChange(change, this.currentSource);
  }

  /** Call this after the collections have changed: it adds a table for each new one. */
  addMissingTables(): void {
    this.root = this.addTables(this.root);
  }

  dropTables(names: readonly string[]): void {
    if (names.length > 0) this.root = { ...this.root, tables: this.root.tables.without(names) };
  }

  /**
   * Runs the timers that became due, also those due at the very instant of a frozen clock (a job that takes no time).
   * During an advance, which pins the clock and runs them itself, it does nothing.
   */
  catchUp(): void {
    if (this.nextDue === Number.POSITIVE_INFINITY || this.clock.pinned !== undefined || this.isClosed) return;
    while (this.nextDue <= this.epochNow() && this.runTimer(undefined) !== undefined);
  }

  /** Lists pending timers, the nearest first. */
  listPending(): readonly PendingTimer[] {
    const tx = this.read();
    const pending = [...tx.index(timers, "due", "")];
    return pending.map(({ due, kind, subject }) => ({ due_at: tx.toIso(due), kind, subject }));
  }

  /**
   * Moves the clock forward to `target`. It stops at every due instant on the way, and waits for the work that starts
   * there. Calls queue behind each other. A restore, `stopAdvance` or the end of the world ends the advance early.
   * @throws RangeError if the target is before the sandbox's current time, or after the year 9999
   */
  advance(target: AdvanceTarget): Promise<RanTimer[]> {
    const { currentSource } = this;
    return this.advances.run(() => this.advanceTo(target, currentSource));
  }

  /** Ends an advance under way at the instant that it has reached. */
  stopAdvance(): void {
    this.isStopped = true;
  }

  /** Runs a pending timer now, before it is due, and waits for its work. Undefined if there is none. */
  runEarly(kind: TimerKind, subject: string): Promise<RanTimer> | undefined {
    const { currentSource } = this;
    const timer = this.transact((tx) =>
      [...tx.index(timers, "by_kind", kind)].find((one) => one.subject === subject),
    );
    if (timer === undefined) return undefined;
    this.runTimer(currentSource, timer);
    const at = new Date(this.epochNow()).toISOString();
    return this.whenSettled().then(() => ({ at, kind, subject }));
  }

  /**
   * Replaces the clock. A later `now` runs the timers that became due, as `advance` does.
   * @throws RangeError if `now` is before the sandbox's current time
   */
  setClock(mode: ClockMode, now?: number, rate?: number): Promise<RanTimer[]> {
    const { currentSource } = this;
    return this.advances.run(async () => {
      const { generation } = this;
      const target = now ?? ((current: number) => (mode === "real" ? this.wallClock() : current));
      const ran = await this.advanceTo(target, currentSource);
      if (generation === this.generation) {
        this.clock = makeClock(mode, this.epochNow(), this.wallClock(), rate);
        this.scheduleWakeUp();
        this.listeners.notify();
      }
      return ran;
    });
  }

  /** Moves the clock to a later instant, during an advance too; timers due before it run with the next change. */
  skipTo(instant: number): void {
    if (instant <= this.epochNow()) return;
    const isAdvancing = this.clock.pinned !== undefined;
    this.clock = isAdvancing
      ? { ...this.clock, pinned: instant }
      : moveClock(this.clock, instant, this.wallClock());
  }

  track(work: Promise<unknown>): void {
    this.runningWork.track(work);
  }

  /** Resolves when no tracked work is running. */
  whenSettled(): Promise<void> {
    return this.runningWork.whenSettled();
  }

  /** Calls back after every commit, clock change and restore, and at the end; returns a function that stops it. */
  subscribe(listener: () => void): () => void {
    return this.listeners.add(listener);
  }

  /** Resolves at the next commit, clock change or restore, at the end, or when the signal aborts. */
  waitForChange(signal: AbortSignal): Promise<void> {
    return this.isClosed ? Promise.resolve() : this.listeners.waitForNext(signal);
  }

  toValue(): WorldValue {
    const { root, origin, requests, seed, secretKey } = this;
    const clock = moveClock(this.clock, this.epochNow(), this.wallClock());
    return { root, clock, origin, requests, seed, secretKey };
  }

  /** Restores the value; the clock shows its instant. */
  restore(value: WorldValue): void {
    const root = this.addTables(value.root);
    const clock = moveClock(value.clock, value.clock.at, this.wallClock());
    this.restoredAt = this.epochNow();
    Object.assign(this, value, { root, clock, changedAt: clock.at });
    this.generation += 1;
    this.isUntouched = false;
    this.scheduleWakeUp();
    this.parts.onReplace?.(this);
    this.listeners.notify();
  }

  close(): void {
    this.isClosed = true;
    this.wakeUp.clear();
    this.parts.onReplace?.(this);
    this.listeners.notify();
  }

  private commitChange<T>(change: (tx: Transaction) => T, source: unknown, timer?: Timer): T {
    const tx = this.read();
    const value = change(tx);
    const effect = tx.events.length > 0 ? this.parts.onEmit(tx, tx.events) : undefined;
    const before = this.root;
    const after = tx.toRoot();
    if (after !== before) {
      this.root = after;
      this.changedAt = tx.toEpoch(tx.now);
      if (after.tables.get(timers.name) !== before.tables.get(timers.name)) this.scheduleWakeUp();
      this.parts.onCommit(this, { before, after, writes: tx.writes, source, timer });
      this.listeners.notify();
    }
    if (effect) this.track(effect());
    return value;
  }

  private async advanceTo(target: AdvanceTarget, source: unknown): Promise<RanTimer[]> {
    this.isStopped = false;
    this.catchUp();
    await this.whenSettled();
    const { generation } = this;
    const now = this.epochNow();
    const end = getEndOfAdvance(target, now, this.nextDue);
    const ran = new Set<RanTimer>();
    let steps = 0;
    this.clock = { ...this.clock, pinned: now };
    try {
      while (this.nextDue <= end && !this.isClosed && !this.isStopped) {
        this.instantBeforeStep = this.epochNow();
        this.clock = { ...this.clock, pinned: Math.max(this.nextDue, this.instantBeforeStep) };
        const step = this.runTimer(source);
        if (step === undefined) break;
        const { kind, subject } = step.timer;
        const entry = { at: new Date(this.epochNow()).toISOString(), kind, subject };
        ran.add(entry);
        void step.effect?.then((hasBegun) => hasBegun === false && ran.delete(entry)).catch(() => {});
        // All effects of one instant start together, so a slow one does not delay the others.
        if (this.nextDue > this.epochNow()) await this.whenSettled();
        if (++steps % STEPS_PER_TURN === 0) await platform().nextTurn();
        if (generation !== this.generation) return [...ran];
      }
    } finally {
      this.instantBeforeStep = Number.POSITIVE_INFINITY;
      if (generation === this.generation) {
        const hasEnded = this.isStopped || this.isClosed;
        this.clock = moveClock(this.clock, hasEnded ? this.epochNow() : end, this.wallClock());
        this.scheduleWakeUp();
        this.listeners.notify();
      }
    }
    return [...ran];
  }

  private runTimer(
    source: unknown,
    timer = this.read().findNearestTimer(),
  ): { timer: Timer; effect?: ReturnType<TimerEffect> } | undefined {
    if (timer === undefined) return undefined;
    try {
      const run = (tx: Transaction) => {
        tx.remove(timers, timer.id);
        const early = { ...timer, due: tx.now, planned: timer.due };
        return this.parts.timerHandlers[timer.kind]?.(tx, timer.due > tx.now ? early : timer);
      };
      const startEffect = this.commitChange(run, source, timer);
      if (startEffect) {
        const effect = startEffect();
        this.track(effect);
        return { timer, effect };
      }
    } catch (error) {
      // Otherwise the timer would be due again at once, and forever.
      this.commitChange((tx) => tx.remove(timers, timer.id), source, timer);
      this.parts.onTimerError?.(error, timer);
    }
    return { timer };
  }

  private addTables(root: Root): Root {
    const tables = root.tables.addMissing(this.parts.collections?.() ?? []);
    return tables === root.tables ? root : { ...root, tables };
  }

  /** Sets the wake-up to the nearest due instant. */
  private scheduleWakeUp(): void {
    const first = this.read().findNearestTimer();
    this.nextDue = first === undefined ? Number.POSITIVE_INFINITY : this.origin + first.due;
    if (this.isClosed || first === undefined) this.wakeUp.clear();
    else this.wakeUp.set(calculateWallDelay(this.clock, this.nextDue, this.wallClock()), this.onWakeUp);
  }

  private readonly onWakeUp = (): void => {
    this.catchUp();
    this.scheduleWakeUp();
  };
}
