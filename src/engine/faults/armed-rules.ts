import type { Api } from "../contract/api.ts";
import type { EnteredRequest, FaultState, SandboxRules } from "../sandbox/fault-types.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { ArmedRule, type Leased, Leases } from "./armed-rule.ts";
import { readSavedRule } from "./check-rule.ts";
import { type Rule, readRule } from "./rule.ts";
import type { Scenario, ScenarioUser } from "./scenario.ts";
import { followStages, StageProgress, toStages } from "./stages.ts";

/** The source of rules that calls add, and of those that the server's options set. */
const INLINE = "inline";
const BASE = "start";

/** An inline rule has this id already. */
export class RuleExists extends Error {
  override readonly name = "RuleExists";
}

type StageEvent = ReturnType<StageProgress["next"]>;

/** The rules of one sandbox, with their leases and stages. */
export class ArmedRules implements SandboxRules, ScenarioUser {
  revision = 0;
  /** The newest first. */
  inline: readonly ArmedRule[] = [];
  /** The active scenarios by name, with their rules. */
  active: ReadonlyMap<string, readonly ArmedRule[]> = new Map();
  /** By scenario; only active scenarios that have stages. */
  staged: ReadonlyMap<string, StageProgress> = new Map();
  private base: readonly ArmedRule[];
  private readonly sandbox: Sandbox;
  private readonly leases: Leases;
  private readonly onChange: () => void;

  /**
   * @param base rules of the server, after all others
   * @param onChange called when other rules are in force
   */
  constructor(sandbox: Sandbox, base: readonly Rule[], onChange: () => void) {
    this.sandbox = sandbox;
    this.leases = new Leases(() => sandbox.world);
    this.base = arm(this.readForSandbox(base), BASE);
    this.onChange = onChange;
  }

  get scenarios(): readonly string[] {
    return [...this.active.keys()];
  }

  get activeState(): string {
    return [...this.scenarios, ...this.inline.map(({ key }) => key)].join("\n");
  }

  /** All rules, in order of precedence: inline rules before those of scenarios (interfaces 3). */
  get all(): readonly ArmedRule[] {
    return [...this.inline, ...[...this.active.values()].flat(), ...this.base];
  }

  get stages(): readonly string[] {
    return [...this.staged.values()].flatMap((one) => one.stages.map((stage) => one.qualify(stage)));
  }

  /** Those that may trigger now. */
  get inForce(): readonly ArmedRule[] {
    return this.all.filter((rule) => !rule.spent && this.isActive(rule));
  }

  /** Stages that count requests. */
  get running(): readonly StageProgress[] {
    return [...this.staged.values()].filter(({ current }) => current !== undefined);
  }

  /** Whether its stage, if it has one, is the current one. */
  isActive(rule: ArmedRule): boolean {
    return this.staged.get(rule.source)?.isActive(rule.rule.id) ?? true;
  }

  /** The same rule again renews its lease. @throws RuleExists */
  add(rule: Rule): ArmedRule {
    const present = this.inline.find((one) => one.rule.id === rule.id);
    if (present !== undefined) {
      if (present.progress.due === undefined || !isSameRule(present.rule, rule))
        throw new RuleExists(rule.id);
      this.leases.end([present]);
      this.leases.begin([present]);
      this.revision += 1;
      return present;
    }
    const armed = new ArmedRule(rule, INLINE);
    this.replace({ inline: [armed, ...this.inline] });
    return armed;
  }

  /** Puts a rule in the place of the inline rule with the same id. */
  change(rule: Rule): ArmedRule {
    const changed = new ArmedRule(rule, INLINE);
    this.replace({ inline: this.inline.map((one) => (one.rule.id === rule.id ? changed : one)) });
    return changed;
  }

  /** Removes all inline rules, or that with this id. */
  remove(id?: string): void {
    this.replace({ inline: this.inline.filter(({ rule }) => id !== undefined && rule.id !== id) });
  }

  /** Activates exactly these scenarios; those that were active already keep their progress. */
  activate(scenarios: readonly Scenario[]): void {
    const before = this.active;
    this.replace({
      active: new Map(
        scenarios.map(({ name, rules }) => [name, before.get(name) ?? arm(this.readForSandbox(rules), name)]),
      ),
      staged: new Map(scenarios.flatMap((scenario) => this.followStages(scenario))),
    });
  }

  /** Unchanged rules keep their progress. */
  renew(scenario: Scenario): void {
    const { name, rules } = scenario;
    const before = this.active.get(name);
    if (before === undefined) return;
    const renewed = this.readForSandbox(rules).map(
      (rule) => before.find((old) => isSameRule(old.rule, rule)) ?? new ArmedRule(rule, name),
    );
    const others = [...this.staged].filter(([other]) => other !== name);
    this.replace({
      active: new Map([...this.active, [name, renewed]]),
      staged: new Map([...others, ...this.followStages(scenario)]),
    });
  }

  /** Removes all rules but those of the server. To be called when the world is new and has no lease timers yet. */
  reset(): void {
    this.inline = [];
    this.active = new Map();
    this.staged = new Map();
    this.base = this.base.map(({ rule }) => new ArmedRule(rule, BASE));
  }

  state(): Pick<FaultState, "active" | "inline" | "progress" | "stages"> {
    const inline = this.inline.map(({ rule }) => ({ id: rule.id, rule: rule.document }));
    const progress = collectProgress(this.all);
    const stages = this.staged.size === 0 ? undefined : collectProgress([...this.staged.values()]);
    return { active: this.scenarios, inline, progress, ...(stages && { stages }) };
  }

  /** @param scenarios those of `active` that still exist */
  restoreState({ inline, progress, stages = {} }: FaultState, scenarios: readonly Scenario[]): void {
    const { world, api } = this.sandbox;
    const rules = inline.map(({ id, rule }) => readSavedRule(rule, id, api));
    const now = world.epochNow();
    this.inline = arm(rules, INLINE, progress);
    this.active = new Map(
      scenarios.map((one) => [one.name, arm(this.readForSandbox(one.rules), one.name, progress)]),
    );
    this.staged = new Map(scenarios.flatMap((one) => toStages(one, now, stages[one.name])));
    this.base = this.base.map(({ rule, key }) => new ArmedRule(rule, BASE, progress[key]));
    this.leases.settle(this.leased);
    this.notify();
  }

  /** Counts a request of the current stages, and ends those of which it is the last. Undefined if there are none. */
  enter(): Pick<EnteredRequest, "stages" | "leave"> | undefined {
    const all = this.running;
    if (all.length === 0) return undefined;
    const stages = all.map((one) => one.qualify(one.current));
    const now = this.sandbox.world.epochNow();
    const events = all.filter((one) => one.count()).map((one) => this.endStage(one, now));
    this.revision += 1;
    if (events.length > 0) this.notify();
    return {
      stages,
      leave: () => {
        for (const event of events) this.record(event);
      },
    };
  }

  onHold(): void {
    const ended = [...this.staged.values()].filter(({ current }) => current?.until.held);
    if (ended.length === 0) return;
    const now = this.sandbox.world.epochNow();
    for (const one of ended) this.record(this.endStage(one, now));
    this.notify();
  }

  /** The lease with this key ended; false when it is not a rule's. */
  leaseEnded(key: string): boolean {
    const found = this.leased.find((one) => one.key === key);
    const due = found?.progress.due;
    if (due === undefined) return false;
    found!.progress.due = undefined;
    if (found instanceof StageProgress) this.record(this.endStage(found, due));
    else (found as ArmedRule).progress.expired = true;
    this.notify();
    return true;
  }

  suspendLeases(): () => void {
    const resume = this.leases.suspend(this.leased);
    return () => {
      resume();
      this.revision += 1;
    };
  }

  /** A used-up rule is no longer evaluated; without rules, requests skip the evaluation. */
  releaseSpent(rules: readonly ArmedRule[]): void {
    const spent = rules.filter((rule) => rule.spent);
    this.revision += 1;
    if (spent.length === 0) return;
    this.leases.end(spent);
    this.notify();
  }

  followApi(): void {
    const { api } = this.sandbox;
    const refit = (armed: readonly ArmedRule[]) =>
      armed.map(({ rule, source, progress }) => new ArmedRule(readFor(rule, api), source, progress));
    this.inline = refit(this.inline);
    this.active = new Map([...this.active].map(([name, armed]) => [name, refit(armed)]));
    this.base = refit(this.base);
    this.notify();
  }

  private notify(): void {
    this.revision += 1;
    this.onChange();
  }

  /** Everything that may end by time. */
  private get leased(): readonly Leased[] {
    return [...this.all, ...this.staged.values()];
  }

  private followStages(scenario: Scenario): [string, StageProgress][] {
    return followStages(scenario, this.staged.get(scenario.name), this.sandbox.world.epochNow());
  }

  /** Ends the current stage: the leases of its rules end too, and those of the next stage begin. */
  private endStage(stages: StageProgress, at: number): StageEvent {
    this.leases.end([stages]);
    const event = this.followLeases(() => stages.next(at), at);
    this.leases.begin([stages], at);
    return event;
  }

  private record(event: StageEvent): void {
    this.sandbox.recorder.complete({ kind: "scenario", ...event });
  }

  /** Replaces rules: ends the leases of removed rules, and begins those of new ones. */
  private replace(next: Partial<Pick<ArmedRules, "inline" | "active" | "staged">>): void {
    const { staged } = this;
    this.followLeases(() => Object.assign(this, next));
    const replaced = [...staged].filter(([name, one]) => this.staged.get(name) !== one);
    this.leases.end(replaced.map(([, one]) => one));
    const added = [...this.staged].filter(([name, one]) => staged.get(name) !== one);
    this.leases.begin(added.map(([, one]) => one));
    this.notify();
  }

  /** Ends the leases of rules that a change takes out of force, and begins those of others that it puts in force. */
  private followLeases<T>(change: () => T, at?: number): T {
    const list = () => new Set(this.all.filter((rule) => this.isActive(rule)));
    const before = list();
    const result = change();
    const now = list();
    const added = [...now].filter((rule) => !before.has(rule));
    this.leases.end([...before].filter((rule) => !now.has(rule)));
    this.leases.begin(added, at);
    return result;
  }

  /**
   * Rules of scenarios and options were read for the server; a sandbox with operations of its own reads them again.
   */
  private readForSandbox(rules: readonly Rule[]): readonly Rule[] {
    const { own, api } = this.sandbox;
    return own.length === 0 ? rules : rules.map((rule) => readFor(rule, api));
  }
}

/** @param progress the saved progress of rules, by their keys */
function arm(rules: readonly Rule[], source: string, progress: FaultState["progress"] = {}): ArmedRule[] {
  return rules.map((rule) => new ArmedRule(rule, source, progress[`${source}/${rule.id}`]));
}

/** Returns the rule, read for the operations of an API. */
function readFor({ document, id }: Rule, { operations }: Api): Rule {
  return readRule(document, id, operations);
}

function collectProgress(all: readonly Leased[]): Record<string, object> {
  return Object.fromEntries(all.map(({ key, progress }) => [key, structuredClone(progress)]));
}

function isSameRule(a: Rule, b: Rule): boolean {
  return a.id === b.id && JSON.stringify(a.document) === JSON.stringify(b.document);
}
