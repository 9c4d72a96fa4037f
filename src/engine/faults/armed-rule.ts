import type { AnyOperation } from "../contract/operation.ts";
import { getOrAdd } from "../maps.ts";
import { LAST_INSTANT } from "../state/clock.ts";
import { Random } from "../state/random.ts";
import { timers } from "../state/timers.ts";
import type { Transaction } from "../state/transaction.ts";
import type { World } from "../state/world.ts";
import { drawDelay } from "./effects/delay.ts";
import type { AnswerPlan } from "./effects/effect.ts";
import { canAnswer, canNeverTrigger, type Rule } from "./rule.ts";

/** The progress of a rule in one sandbox; plain JSON. */
interface Progress {
  /** Calls that the rule matched, without those that an earlier rule answered. */
  calls: number;
  hits: number;
  /** Calls by operation or event, for random draws: other traffic must not change a draw (interfaces.md 6). */
  counted: Record<string, number>;
  /** The end of its lease, in milliseconds since 1970 on the sandbox's clock. */
  due: number | undefined;
  /** Whether the lease has ended by time. */
  expired: boolean;
}

export interface ScheduleDecision {
  triggers: boolean;
  /** For a sequence: the answer of its entry. */
  entry: AnswerPlan | undefined;
  /** For the journal. */
  why: string;
  delay_ms: number;
}

/** An active rule in one sandbox. */
export class ArmedRule implements LeaseHolder {
  readonly rule: Rule;
  /** The scenario's name, `inline`, or `start` for a rule of the server's options. */
  readonly source: string;
  readonly key: string;
  /** Created once, since a request to which no rule applies must cost nothing. */
  private readonly missReasons = new Map<string, readonly string[]>();
  readonly progress: Progress;

  /** @param saved the progress of another armed rule, which is copied */
  constructor(rule: Rule, source: string, saved: object = {}) {
    this.rule = rule;
    this.source = source;
    this.key = `${source}/${rule.id}`;
    const initial = { calls: 0, hits: 0, counted: {}, due: undefined, expired: false };
    this.progress = { ...initial, ...structuredClone(saved) };
  }

  get lease(): LeaseHolder["lease"] {
    return { subject: this.rule.id, ttl_ms: this.rule.lease.ttl_ms };
  }

  get isSpent(): boolean {
    const { progress, rule } = this;
    if (progress.expired || canNeverTrigger(rule)) return true;
    if (rule.lease.hits !== undefined && progress.hits >= rule.lease.hits) return true;
    const { schedule } = rule;
    if (schedule.kind === "times") return progress.hits >= schedule.times;
    return schedule.kind === "sequence" && progress.calls >= schedule.entries.length;
  }

  /** Whether the rule answers calls or breaks their connection; else it only delays or holds them. */
  get hasAnswer(): boolean {
    const { effect, schedule } = this.rule;
    return effect.answer !== undefined || effect.wire !== undefined || schedule.kind === "sequence";
  }

  /** Whether the rule could only delay or hold a call that an earlier rule delays or holds already. */
  addsNothing(earlier: { isDelayed: boolean; isHeld: boolean }): boolean {
    if (this.hasAnswer) return false;
    const { delay, hold } = this.rule.effect;
    return (delay === undefined || earlier.isDelayed) && (hold === undefined || earlier.isHeld);
  }

  /**
   * Counts a matching call, and decides whether it triggers the rule.
   * @param subject an operation's id or an event's name
   * @param operation of a request; the rule triggers only if the operation can give its answer
   */
  decide(seed: number, subject: string, operation?: AnyOperation): ScheduleDecision {
    const { rule, progress } = this;
    const { delay } = rule.effect;
    progress.calls += 1;
    const isRandom = rule.schedule.kind === "probability" || (delay && "p50_ms" in delay);
    if (isRandom) progress.counted[subject] = (progress.counted[subject] ?? 0) + 1;
    const number = progress.counted[subject] ?? progress.calls;
    const random = (label: string) => new Random(seed, "fault", this.key, subject, number, label);
    const decision = this.evaluateSchedule(() => random("strike").float());
    const triggers = decision.triggers && (operation === undefined || canAnswer(operation, decision.entry));
    if (!triggers) return { ...decision, triggers, delay_ms: 0 };
    progress.hits += 1;
    return { ...decision, delay_ms: delay === undefined ? 0 : drawDelay(delay, () => random("delay")) };
  }

  /** The reasons of a request that does not match; `why` is the first condition that it does not meet. */
  explainMiss(why: string): readonly string[] {
    return getOrAdd(this.missReasons, why, () => [`nearest rule ${this.key} did not match: ${why}`]);
  }

  private evaluateSchedule(draw: () => number): Omit<ScheduleDecision, "delay_ms"> {
    const { schedule } = this.rule;
    const { calls, hits } = this.progress;
    switch (schedule.kind) {
      case "always":
        return { triggers: true, entry: undefined, why: "it triggers on every call" };
      case "times":
        return { triggers: true, entry: undefined, why: `hit ${hits + 1} of ${schedule.times}` };
      case "every": {
        const { every } = schedule;
        const why = `call ${calls}; the rule triggers on calls ${every}, ${2 * every}, ${3 * every}, …`;
        return { triggers: calls % every === 0, entry: undefined, why };
      }
      case "probability": {
        const value = draw();
        const triggers = value < schedule.probability;
        const why = `draw ${value.toFixed(4)} is ${triggers ? "" : "not "}below ${schedule.probability}`;
        return { triggers, entry: undefined, why };
      }
      case "sequence": {
        const entry = schedule.entries[calls - 1];
        const why = `entry ${calls} of ${schedule.entries.length}: ${schedule.labels[calls - 1]}`;
        return { triggers: entry !== undefined, entry, why };
      }
    }
  }
}

export interface SelectedRules {
  /** Those that name the caller, or no caller. */
  rules: readonly ArmedRule[];
  /** The first of those that name another caller. */
  otherCallerRule: ArmedRule | undefined;
}

/** Rules of one operation and phase. They are selected once per caller, since a thousand may name other callers. */
export class RulesByCaller {
  readonly all: readonly ArmedRule[];
  private readonly callers: ReadonlySet<string | undefined>;
  private readonly selectionsByCaller = new Map<string | undefined, SelectedRules>();

  constructor(all: readonly ArmedRule[]) {
    this.all = all;
    this.callers = new Set(all.map(({ rule }) => rule.principal));
  }

  /** @param user the caller's id; all callers that no rule names share a selection */
  select(user: string | undefined): SelectedRules {
    const caller = this.callers.has(user) ? user : undefined;
    return getOrAdd(this.selectionsByCaller, caller, () => {
      const isFor = ({ rule: { principal } }: ArmedRule) => principal === undefined || principal === caller;
      return { rules: this.all.filter(isFor), otherCallerRule: this.all.find((armed) => !isFor(armed)) };
    });
  }
}

/** A rule, or a stage of a scenario, that may end by time. */
export interface LeaseHolder {
  readonly key: string;
  readonly lease: { subject: string; ttl_ms: number | undefined };
  /** `due`: milliseconds since 1970 on the sandbox's clock. */
  readonly progress: { due: number | undefined };
  /** Moves its other instants, for a world of another time. */
  moveBy?(shift_ms: number): void;
}

/**
 * Leases by time are timers of the sandbox's world, so `clock pending` lists them and `advance` ends them.
 * A restore replaces the world and must leave faults as they are (interfaces.md 4): the remaining time of each lease is
 * carried over.
 */
export class Leases {
  private readonly world: () => World;

  constructor(world: () => World) {
    this.world = world;
  }

  /** @param now the instant at which the leases begin; by default the current one */
  begin(holders: readonly LeaseHolder[], now?: number): void {
    const leased = holders.filter(({ lease }) => lease.ttl_ms !== undefined);
    if (leased.length === 0) return;
    const start = now ?? this.world().epochNow();
    for (const { progress, lease } of leased) progress.due = Math.min(LAST_INSTANT, start + lease.ttl_ms!);
    this.changeTimers((tx) => schedule(tx, leased));
  }

  end(holders: readonly LeaseHolder[]): void {
    const leased = holders.filter(({ progress }) => progress.due !== undefined);
    if (leased.length === 0) return;
    this.changeTimers((tx) => {
      for (const { key } of leased) tx.unschedule("lease", key);
    });
    for (const { progress } of leased) progress.due = undefined;
  }

  /** Replaces the world's lease timers by those of these holders, after moving the ends of their leases. */
  replaceTimers(holders: readonly LeaseHolder[], shift_ms = 0): void {
    for (const holder of holders) {
      const { progress } = holder;
      if (progress.due !== undefined) progress.due = Math.min(LAST_INSTANT, progress.due + shift_ms);
      holder.moveBy?.(shift_ms);
    }
    // A scenario that was edited while no server ran may have lost its leases.
    const leased = holders.filter(({ lease, progress }) => lease.ttl_ms && progress.due);
    const world = this.world().read();
    const oldTimers = [...world.index(timers, "by_kind", "lease")];
    if (leased.length === 0 && oldTimers.length === 0) return;
    this.changeTimers((tx) => {
      for (const { id } of oldTimers) tx.remove(timers, id);
      schedule(tx, leased);
    });
  }

  /** Leases do not count as changes (`isUntouched`): the fixture can still be reloaded, and a bundle can replay the world. */
  private changeTimers(change: (tx: Transaction) => void): void {
    const world = this.world();
    const { isUntouched } = world;
    world.transact(change);
    world.isUntouched = isUntouched;
  }
}

function schedule(tx: Transaction, holders: readonly LeaseHolder[]): void {
  for (const { key, progress, lease } of holders) {
    tx.schedule({ kind: "lease", subject: lease.subject, key, due: tx.toInstant(progress.due!) });
  }
}
