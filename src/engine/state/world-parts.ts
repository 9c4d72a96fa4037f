import type { Clock, TimerKind } from "./clock.ts";
import type { AnyCollection } from "./collection.ts";
import type { Root } from "./tables.ts";
import type { Timer } from "./timers.ts";
import type { EmittedEvent, Transaction, WrittenRecord } from "./transaction.ts";

/**
 * Runs inside the transaction that removes the timer. Its effect, if any, runs after the commit and is awaited by
 * `advance`. An effect that resolves with false was cancelled before it began (a retry whose webhook another retry of
 * the same instant disabled), and the advance does not report it.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: most handlers and effects return nothing
export type TimerHandler = (tx: Transaction, timer: Timer) => void | (() => Promise<boolean | void>);

export type TimerEffect = Exclude<ReturnType<TimerHandler>, void>;

/** The part of a world that its listeners use. */
export interface ObservedWorld {
  /** Whether the world has ended, or its sandbox has replaced it. */
  readonly isClosed: boolean;
  readonly clock: Clock;
  read(): Transaction;
  transact<T>(change: (tx: Transaction) => T, source?: unknown): T;
  /** Registers outbound work that an advance must wait for. */
  track(work: Promise<unknown>): void;
}

export interface WorldParts {
  /** Lists the collections of the world; called again after a restore, and after operations have changed. */
  collections?: () => readonly AnyCollection[];
  /** Called before each change looks at the clock; a replay moves it then. Must not throw. */
  beforeChange?: () => void;
  timerHandlers: Partial<Record<TimerKind, TimerHandler>>;
  /**
   * Turns emitted events into records (pending deliveries) before the commit. Its effect runs after the commit and is
   * awaited by `advance`, as with timers.
   */
  onEmit: (tx: Transaction, events: readonly EmittedEvent[]) => void | (() => Promise<void>);
  /** After every commit that changed something; must not throw. */
  onCommit: (world: ObservedWorld, commit: Commit) => void;
  /** A restore replaced the whole root, or the world has ended. Must not throw. */
  onReplace?: (world: ObservedWorld) => void;
  /** A handler threw: its changes are dropped and its timer with them. Must not throw. */
  onTimerError?: (error: unknown, timer: Timer) => void;
}

export interface Commit {
  readonly before: Root;
  readonly after: Root;
  /** In the order of the writes; a record may be in it more than once. */
  readonly writes: readonly WrittenRecord[];
  /** The source that the caller gave, or, if a timer ran, the source of the advance; undefined if none was given. */
  readonly source: unknown;
  /** The timer that made the change. */
  readonly timer: Timer | undefined;
}

/** The world's part of a snapshot (interfaces.md 4). */
export interface WorldValue {
  readonly root: Root;
  readonly clock: Clock;
  /** Milliseconds since 1970; the instants in `root` are relative to it. */
  readonly origin: number;
  /** How many requests the sandbox has had; the next one's id follows from it. */
  readonly requests: number;
  /** The random state is the seed, the key of secrets, and `root.draws`. */
  readonly seed: number;
  readonly secretKey: string;
}

export interface WorldOptions extends Omit<WorldValue, "requests"> {
  wallClock: () => number;
  parts: WorldParts;
}

export interface RanTimer {
  at: string;
  kind: TimerKind;
  subject: string;
}
