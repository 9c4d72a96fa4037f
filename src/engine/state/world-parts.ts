import type { Clock } from "./clock.ts";
import type { Root } from "./root.ts";
import type { Timer, TimerKind } from "./timers.ts";
import type { EmittedEvent, Transaction, WrittenRecord } from "./transaction.ts";

/**
 * Runs inside the transaction that removes the timer; what it returns runs after the commit and is
 * awaited by `advance`. An effect that resolves with false was called off before it began (a retry whose
 * webhook another retry of the same instant disabled), and the advance does not report it.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: an effect that has nothing to say returns nothing
export type TimerHandler = (tx: Transaction, timer: Timer) => void | (() => Promise<boolean | void>);

export type TimerEffect = Exclude<ReturnType<TimerHandler>, void>;

/** What a listener may do with the world that called it. */
export interface ListenedWorld {
  /** It has ended, or its sandbox has another one now. */
  readonly isClosed: boolean;
  readonly clock: Clock;
  read(): Transaction;
  transact<T>(change: (tx: Transaction) => T, by?: unknown): T;
  /** Registers outbound work that an advance must wait for. */
  track(work: Promise<unknown>): void;
}

export interface WorldParts {
  /** Before each change looks at the clock, for what makes time pass by itself. Must not throw. */
  beforeChange?: () => void;
  timerHandlers: Partial<Record<TimerKind, TimerHandler>>;
  /**
   * Turns emitted events into records (pending deliveries) before the commit. What it returns runs after
   * the commit and is awaited by `advance`, as with timers.
   */
  onEmit: (tx: Transaction, events: readonly EmittedEvent[]) => void | (() => Promise<void>);
  /** After every commit that changed something; must not throw. */
  onCommit: (world: ListenedWorld, commit: Commit) => void;
  /** The root was replaced as a whole by a restore, or the world has ended. Must not throw. */
  onReplace?: (world: ListenedWorld) => void;
  /** A handler threw: its changes are dropped and its timer with them. Must not throw. */
  onTimerError?: (error: unknown, timer: Timer) => void;
}

export interface Commit {
  readonly before: Root;
  readonly after: Root;
  /** In its order; a record may stand in it more than once. */
  readonly written: readonly WrittenRecord[];
  /** Who changed it, as they said; where a timer ran, who advanced the clock. Undefined: nobody said so. */
  readonly by: unknown;
  /** What became due, where that is what changed it. */
  readonly timer: Timer | undefined;
}

/** Everything a snapshot holds of a world (interfaces 4). */
export interface WorldValue {
  readonly root: Root;
  readonly clock: Clock;
  readonly origin: number;
  readonly requests: number;
  /** Random state is the seed, the key of secrets, and `root.draws`. */
  readonly seed: number;
  readonly secretKey: string;
}

export interface WorldOptions {
  root: Root;
  clock: Clock;
  origin: number;
  seed: number;
  secretKey: string;
  wallClock: () => number;
  parts: WorldParts;
}

export interface RanTimer {
  at: string;
  kind: TimerKind;
  subject: string;
}
