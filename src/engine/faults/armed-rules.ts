import type { Api } from "../contract/api.ts";
import type { AnyOperation } from "../contract/operation.ts";
import type { FaultState } from "../sandbox/fault-types.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { Random } from "../state/random.ts";
import { drawDelay } from "./effects/delay.ts";
import type { AnswerPlan } from "./effects/effect.ts";
import { type Leased, Leases } from "./leases.ts";
import { answers, canNeverTrigger, type Rule, readRule } from "./rule.ts";
import type { Scenario } from "./scenario.ts";
import { followStages, StageProgress } from "./stages.ts";

/** The progress of a rule in one sandbox; plain JSON. */
interface Progress {
  /** Calls that matched it, without those that an earlier rule answered. */
  calls: number;
  hits: number;
  /** By operation or event, for random draws: other traffic must not change a draw (interfaces 6). */
  counted: Record<string, number>;
  /** Milliseconds since 1970 on the sandbox's clock at which its lease ends. */
  due: number | undefined;
  /** Whether the lease has ended by time. */
  expired: boolean;
}

/** The schedule's decision on one call. */
export interface ScheduleDecision {
  triggers: boolean;
  /** For a sequence: the answer of its entry. */
  entry: AnswerPlan | undefined;
  /** For the journal. */
  why: string;
  delay_ms: number;
}

/** An active rule in one sandbox. */
export class ArmedRule implements Leased {
  readonly rule: Rule;
  /** The scenario's name, or `inline`. */
  readonly source: string;
  readonly key: string;
  /** Made once, since a request to which no rule applies must cost nothing. */
  private readonly misses = new Map<string, readonly string[]>();
  readonly progress: Progress;

  /** @param saved the progress of another armed rule, which is copied */
  constructor(rule: Rule, source: string, saved: object = {}) {
    this.rule = rule;
    this.source = source;
    this.key = `${source}/${rule.id}`;
    const fresh = { calls: 0, hits: 0, counted: {}, due: undefined, expired: false };
    this.progress = { ...fresh, ...structuredClone(saved) };
  }

  get lease(): Leased["lease"] {
    return { subject: this.rule.id, ttl_ms: this.rule.lease.ttl_ms };
  }

  get spent(): boolean {
    const { progress, rule } = this;
    if (progress.expired || canNeverTrigger(rule)) return true;
    if (rule.lease.hits !== undefined && progress.hits >= rule.lease.hits) return true;
    const { schedule } = rule;
    if (schedule.kind === "times") return progress.hits >= schedule.times;
    return schedule.kind === "sequence" && progress.calls >= schedule.entries.length;
  }

  /** Whether it could only delay or hold what an earlier rule delays or holds already. */
  addsNothing(before: { isDelayed: boolean; isHeld: boolean }): boolean {
    const { effect, schedule } = this.rule;
    if (effect.answer !== undefined || effect.wire !== undefined || schedule.kind === "sequence")
      return false;
    const { delay, hold } = effect;
    return (delay === undefined || before.isDelayed) && (hold === undefined || before.isHeld);
  }

  /** Counts a call that matched, of this operation or event, and decides whether the rule is triggered. */
  decide(seed: number, subject: string, operation?: AnyOperation): ScheduleDecision {
    const { rule, progress } = this;
    const { delay } = rule.effect;
    progress.calls += 1;
    const drawn = rule.schedule.kind === "probability" || (delay && "p50_ms" in delay);
    if (drawn) progress.counted[subject] = (progress.counted[subject] ?? 0) + 1;
    const number = progress.counted[subject] ?? progress.calls;
    const random = (label: string) => new Random(seed, "fault", this.key, subject, number, label);
    const decision = this.askSchedule(() => random("strike").float());
    const triggers = decision.triggers && (operation === undefined || answers(operation, decision.entry));
    if (!triggers) return { ...decision, triggers, delay_ms: 0 };
    progress.hits += 1;
    return { ...decision, delay_ms: delay === undefined ? 0 : drawDelay(delay, () => random("delay")) };
  }

  /** The first condition that the request does not meet. */
  missed(why: string): readonly string[] {
    let reasons = this.misses.get(why);
    if (reasons === undefined) {
      reasons = [`nearest rule ${this.key} did not match: ${why}`];
      this.misses.set(why, reasons);
    }
    return reasons;
  }

  private askSchedule(draw: () => number): Omit<ScheduleDecision, "delay_ms"> {
    const { schedule } = this.rule;
    const { calls, hits } = this.progress;
    switch (schedule.kind) {
      case "always":
        return { triggers: true, entry: undefined, why: "it triggers on every call" };
      case "times":
        return { triggers: true, entry: undefined, why: `hit ${hits + 1} of ${schedule.times}` };
      case "every": {
        const triggers = calls % schedule.every === 0;
        return { triggers, entry: undefined, why: `call ${calls}, triggers on every ${schedule.every}` };
      }
      case "probability": {
        const drawn = draw();
        const triggers = drawn < schedule.probability;
        const why = `draw ${drawn.toFixed(4)} is ${triggers ? "" : "not "}below ${schedule.probability}`;
        return { triggers, entry: undefined, why };
      }
      case "sequence": {
        const entry = schedule.entries[calls - 1];
        const why = `entry ${calls} of ${schedule.entries.length}: ${schedule.words[calls - 1]}`;
        return { triggers: entry !== undefined, entry, why };
      }
    }
  }
}

/** The source of rules that calls add, and of those that the server's options set. */
export const INLINE = "inline";
export const BASE = "start";

interface OwnRules {
  inlineRules: readonly ArmedRule[];
  active: ReadonlyMap<string, readonly ArmedRule[]>;
  staged: ReadonlyMap<string, StageProgress>;
}

/** The rules of one sandbox and their leases. */
export abstract class ArmedRules implements OwnRules {
  revision = 0;
  /** The newest first. */
  inlineRules: readonly ArmedRule[] = [];
  /** The active scenarios by name, with their rules. */
  active: OwnRules["active"] = new Map();
  /** By scenario; only active scenarios that have stages. */
  staged: OwnRules["staged"] = new Map();
  protected base: readonly ArmedRule[];
  protected readonly sandbox: Sandbox;
  protected readonly leases: Leases;

  constructor(sandbox: Sandbox, base: readonly Rule[]) {
    this.sandbox = sandbox;
    this.leases = new Leases(() => sandbox.world);
    this.base = arm(base, BASE);
  }

  /** Called when other rules have become active. */
  protected abstract rebuild(): void;

  get scenarios(): readonly string[] {
    return [...this.active.keys()];
  }

  get activeState(): string {
    return [...this.scenarios, ...this.inlineRules.map(({ key }) => key)].join("\n");
  }

  /** All active rules, in order of precedence: inline rules before those of scenarios (interfaces 3). */
  get rules(): readonly ArmedRule[] {
    return [...this.inlineRules, ...[...this.active.values()].flat(), ...this.base];
  }

  get stages(): readonly string[] {
    return [...this.staged.values()].flatMap((one) => one.stages.map((stage) => one.qualify(stage)));
  }

  protected followStages(scenario: Scenario): [string, StageProgress][] {
    return followStages(scenario, this.staged.get(scenario.name), this.sandbox.world.epochNow());
  }

  /** Ends the current stage: the leases of its rules end too, and those of the next stage begin. */
  protected endStage(stages: StageProgress, at: number): StageEvent {
    this.leases.end([stages]);
    const event = this.followLeases(() => stages.next(at), at);
    this.leases.begin([stages], at);
    return event;
  }

  protected isActive(rule: ArmedRule): boolean {
    return this.staged.get(rule.source)?.isActive(rule.rule.id) ?? true;
  }

  /** Everything that may end by time. */
  protected get leased(): readonly Leased[] {
    return [...this.rules, ...this.staged.values()];
  }

  suspendLeases(): () => void {
    const resume = this.leases.suspend(this.leased);
    return () => {
      resume();
      this.revision += 1;
    };
  }

  /** The lease with this key ended; false when it is not a rule's. */
  leaseEnded(key: string): boolean {
    const found = this.leased.find((one) => one.key === key);
    const due = found?.progress.due;
    if (due === undefined) return false;
    found!.progress.due = undefined;
    if (found instanceof StageProgress) this.record(this.endStage(found, due));
    else (found as ArmedRule).progress.expired = true;
    this.rebuild();
    return true;
  }

  onHold(): void {
    const ended = [...this.staged.values()].filter(({ current }) => current?.until.held);
    if (ended.length === 0) return;
    const now = this.sandbox.world.epochNow();
    for (const one of ended) this.record(this.endStage(one, now));
    this.rebuild();
  }

  protected record(event: StageEvent): void {
    this.sandbox.recorder.complete({ kind: "scenario", ...event });
  }

  /** A used-up rule is no longer evaluated; without rules, requests skip the evaluation. */
  protected releaseSpent(rules: readonly ArmedRule[]): void {
    const spent = rules.filter((rule) => rule.spent);
    this.revision += 1;
    if (spent.length === 0) return;
    this.leases.end(spent);
    this.rebuild();
  }

  /** Replaces the active rules: ends the leases of removed rules, and begins those of new ones. */
  protected replace(next: Partial<OwnRules>): void {
    const { staged } = this;
    this.followLeases(() => Object.assign(this, next));
    const replaced = [...staged].filter(([name, one]) => this.staged.get(name) !== one);
    this.leases.end(replaced.map(([, one]) => one));
    const added = [...this.staged].filter(([name, one]) => staged.get(name) !== one);
    this.leases.begin(added.map(([, one]) => one));
    this.rebuild();
  }

  /** Ends the leases of rules that a change takes out of force, and begins those of others that it puts in force. */
  protected followLeases<T>(change: () => T, at?: number): T {
    const list = () => new Set(this.rules.filter((rule) => this.isActive(rule)));
    const before = list();
    const result = change();
    const now = list();
    this.leases.end([...before].filter((rule) => !now.has(rule)));
    this.leases.begin(
      [...now].filter((rule) => !before.has(rule)),
      at,
    );
    return result;
  }

  followApi(): void {
    const refit = (armed: readonly ArmedRule[]) =>
      armed.map(
        ({ rule, source, progress }) => new ArmedRule(readFor(rule, this.sandbox.api), source, progress),
      );
    this.inlineRules = refit(this.inlineRules);
    this.active = new Map([...this.active].map(([name, armed]) => [name, refit(armed)]));
    this.base = refit(this.base);
    this.rebuild();
  }

  /**
   * Rules of scenarios were read for the server's operations; a sandbox with operations of its own reads them again.
   */
  protected readForSandbox(rules: readonly Rule[]): readonly Rule[] {
    const { own, api } = this.sandbox;
    return own.length === 0 ? rules : rules.map((rule) => readFor(rule, api));
  }
}

type StageEvent = ReturnType<StageProgress["next"]>;

/** @param progress the saved progress of rules, by their keys */
export function arm(
  rules: readonly Rule[],
  source: string,
  progress: FaultState["progress"] = {},
): ArmedRule[] {
  return rules.map((rule) => new ArmedRule(rule, source, progress[`${source}/${rule.id}`]));
}

/** Returns the rule, read for the operations of an API. */
function readFor({ document, id }: Rule, { operations }: Api): Rule {
  return readRule(document, id, operations);
}
