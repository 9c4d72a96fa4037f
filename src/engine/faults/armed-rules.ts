import type { Api } from "../contract/api.ts";
import type { FaultState, SandboxRules, StagedRequest } from "../sandbox/fault-types.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { ArmedRule, type LeaseHolder, Leases } from "./armed-rule.ts";
import { readSavedRule } from "./check-rule.ts";
import { type Rule, readRule } from "./rule.ts";
import type { Scenario, ScenarioSubscriber } from "./scenario.ts";
import { continueStages, StageProgress, toStages } from "./stages.ts";

/** The source of rules that calls add, and of those that the server's options set. */
const INLINE = "inline";
const SERVER = "start";

/** Another inline rule has this id, or the same rule, but without a lease that could be renewed. */
export class RuleExistsError extends Error {
  override readonly name = "RuleExistsError";
  readonly id: string;

  constructor(id: string) {
    super(`the rule ${id} exists`);
    this.id = id;
  }
}

type StageEvent = ReturnType<StageProgress["endCurrent"]>;

/** The rules of one sandbox, with their leases and stages. */
export class ArmedRules implements SandboxRules, ScenarioSubscriber {
  revision = 0;
  /** The newest first. */
  inlineRules: readonly ArmedRule[] = [];
  /** The active scenarios by name, with their rules. */
  activeScenarios: ReadonlyMap<string, readonly ArmedRule[]> = new Map();
  /** By scenario; only active scenarios that have stages. */
  stagesByScenario: ReadonlyMap<string, StageProgress> = new Map();
  private serverRules: readonly ArmedRule[];
  private readonly sandbox: Sandbox;
  private readonly leases: Leases;
  private readonly onChange: () => void;

  /**
   * @param serverRules last in the order of precedence
   * @param onChange called when other rules are in force
   */
  constructor(sandbox: Sandbox, serverRules: readonly Rule[], onChange: () => void) {
    this.sandbox = sandbox;
    this.leases = new Leases(() => sandbox.world);
    this.serverRules = armRules(this.readForSandbox(serverRules), SERVER);
    this.onChange = onChange;
  }

  get scenarios(): readonly string[] {
    return [...this.activeScenarios.keys()];
  }

  get active(): readonly unknown[] {
    return [...this.scenarios, ...this.inlineRules];
  }

  /** All rules, in order of precedence: inline rules before those of scenarios (interfaces.md 3). */
  get allRules(): readonly ArmedRule[] {
    return [...this.inlineRules, ...[...this.activeScenarios.values()].flat(), ...this.serverRules];
  }

  get paths(): readonly string[] {
    return this.allRules.flatMap(({ rule }) => rule.document.match?.path ?? []);
  }

  get stages(): readonly string[] {
    return [...this.stagesByScenario.values()].flatMap((one) =>
      one.stages.map((stage) => one.qualify(stage)),
    );
  }

  /** Rules that may trigger now. */
  get activeRules(): readonly ArmedRule[] {
    return this.allRules.filter((rule) => !rule.isSpent && this.isInForce(rule));
  }

  /** Stages that count requests. */
  get runningStages(): readonly StageProgress[] {
    return [...this.stagesByScenario.values()].filter(({ current }) => current !== undefined);
  }

  /** Whether the rule's stage, if it has one, is the current one; a used-up rule is in force too. */
  isInForce(rule: ArmedRule): boolean {
    return this.stagesByScenario.get(rule.source)?.isInForce(rule.rule.id) ?? true;
  }

  /** Arms a rule in a place of the list, or renews the same rule's lease by time. @throws RuleExistsError */
  add(rule: Rule, place: number): ArmedRule {
    const existing = this.inlineRules.find((one) => one.rule.id === rule.id);
    if (existing !== undefined) {
      if (existing.progress.due === undefined || !isSameRule(existing.rule, rule))
        throw new RuleExistsError(rule.id);
      this.leases.end([existing]);
      this.leases.begin([existing]);
      this.revision += 1;
      return existing;
    }
    const armed = new ArmedRule(rule, INLINE);
    this.replace({ inlineRules: this.inlineRules.toSpliced(place, 0, armed) });
    return armed;
  }

  /** Puts a rule in the place of the inline rule with the same id. */
  change(rule: Rule): ArmedRule {
    const changed = new ArmedRule(rule, INLINE);
    this.replace({ inlineRules: this.inlineRules.map((one) => (one.rule.id === rule.id ? changed : one)) });
    return changed;
  }

  /** Removes all inline rules, or the one with this id. */
  remove(id?: string): void {
    this.replace({ inlineRules: this.inlineRules.filter(({ rule }) => id !== undefined && rule.id !== id) });
  }

  /** Activates exactly these scenarios; those that were active already keep their progress. */
  activate(scenarios: readonly Scenario[]): void {
    const before = this.activeScenarios;
    this.replace({
      activeScenarios: new Map(
        scenarios.map(({ name, rules }) => [
          name,
          before.get(name) ?? armRules(this.readForSandbox(rules), name),
        ]),
      ),
      stagesByScenario: new Map(scenarios.flatMap((scenario) => this.getStages(scenario))),
    });
  }

  /** Unchanged rules keep their progress. Returns whether any rule changed. */
  replaceScenario(scenario: Scenario): boolean {
    const { name, rules } = scenario;
    const before = this.activeScenarios.get(name);
    if (before === undefined) return false;
    const renewed = this.readForSandbox(rules).map(
      (rule) => before.find((previous) => isSameRule(previous.rule, rule)) ?? new ArmedRule(rule, name),
    );
    const others = [...this.stagesByScenario].filter(([other]) => other !== name);
    this.replace({
      activeScenarios: new Map([...this.activeScenarios, [name, renewed]]),
      stagesByScenario: new Map([...others, ...this.getStages(scenario)]),
    });
    return renewed.length !== before.length || renewed.some((rule, place) => rule !== before[place]);
  }

  /** Removes all rules but those of the server. To be called when the world is new and has no lease timers yet. */
  reset(): void {
    this.inlineRules = [];
    this.activeScenarios = new Map();
    this.stagesByScenario = new Map();
    this.serverRules = this.serverRules.map(({ rule }) => new ArmedRule(rule, SERVER));
  }

  toState(): Pick<FaultState, "active" | "inline" | "progress" | "stages"> {
    const inline = this.inlineRules.map(({ rule }) => ({ id: rule.id, rule: rule.document }));
    const progress = collectProgress(this.allRules);
    const stages =
      this.stagesByScenario.size === 0 ? undefined : collectProgress([...this.stagesByScenario.values()]);
    return { active: this.scenarios, inline, progress, ...(stages && { stages }) };
  }

  /** @param scenarios those of `active` that still exist */
  restoreState(state: FaultState, scenarios: readonly Scenario[], shift_ms: number): void {
    const { inline, progress, stages = {} } = state;
    const { world, api } = this.sandbox;
    const rules = inline.map(({ id, rule }) => readSavedRule(rule, id, api));
    const now = world.epochNow();
    this.inlineRules = armRules(rules, INLINE, progress);
    this.activeScenarios = new Map(
      scenarios.map((one) => [one.name, armRules(this.readForSandbox(one.rules), one.name, progress)]),
    );
    this.stagesByScenario = new Map(scenarios.flatMap((one) => toStages(one, now, stages[one.name])));
    // The sandbox may have other operations now.
    const serverRules = this.serverRules.map(({ rule }) => readRuleForApi(rule, api));
    this.serverRules = armRules(serverRules, SERVER, progress);
    this.leases.replaceTimers(this.leaseHolders, shift_ms);
    // A file may have changed since its scenario was saved: what has a lease only now begins it.
    const inForce = [...this.activeRules, ...this.runningStages];
    this.leases.begin(inForce.filter(({ progress }) => progress.due === undefined));
    this.notify();
  }

  /** Counts a request of the current stages, and ends those of which it is the last. Undefined if there are none. */
  countRequest(): Pick<StagedRequest, "stages" | "recordStageEnds"> | undefined {
    const all = this.runningStages;
    if (all.length === 0) return undefined;
    const stages = all.map((one) => one.qualify(one.current));
    const now = this.sandbox.world.epochNow();
    const events = all.filter((one) => one.countRequest()).map((one) => this.endStage(one, now));
    this.revision += 1;
    if (events.length > 0) this.notify();
    return {
      stages,
      recordStageEnds: () => {
        for (const event of events) this.recordInHistory(event);
      },
    };
  }

  onHold(): void {
    const ended = [...this.stagesByScenario.values()].filter(({ current }) => current?.until.held);
    if (ended.length === 0) return;
    const now = this.sandbox.world.epochNow();
    for (const stages of ended) this.recordInHistory(this.endStage(stages, now));
    this.notify();
  }

  /** Ends the lease with this key, at its due instant or, if a call ends it early, now; false if no rule or stage has it. */
  endLease(key: string): boolean {
    const holder = this.leaseHolders.find((one) => one.key === key);
    if (holder?.progress.due === undefined) return false;
    const end = Math.min(holder.progress.due, this.sandbox.world.epochNow());
    holder.progress.due = undefined;
    if (holder instanceof StageProgress) this.recordInHistory(this.endStage(holder, end));
    else if (holder instanceof ArmedRule) holder.progress.expired = true;
    this.notify();
    return true;
  }

  moveLeases(shift_ms: number): void {
    this.leases.replaceTimers(this.leaseHolders, shift_ms);
    this.revision += 1;
  }

  /** Called when rules have counted a call: used-up rules are no longer evaluated, and their leases end. */
  deactivateSpent(rules: readonly ArmedRule[]): void {
    const spent = rules.filter((rule) => rule.isSpent);
    this.revision += 1;
    if (spent.length === 0) return;
    this.leases.end(spent);
    this.notify();
  }

  private notify(): void {
    this.revision += 1;
    this.onChange();
  }

  /** Everything that may end by time. */
  private get leaseHolders(): readonly LeaseHolder[] {
    return [...this.allRules, ...this.stagesByScenario.values()];
  }

  private getStages(scenario: Scenario): [string, StageProgress][] {
    return continueStages(scenario, this.stagesByScenario.get(scenario.name), this.sandbox.world.epochNow());
  }

  /** Ends the current stage: the leases of its rules end too, and those of the next stage begin. */
  private endStage(stages: StageProgress, at: number): StageEvent {
    this.leases.end([stages]);
    const event = this.updateLeases(() => stages.endCurrent(at), at);
    this.leases.begin([stages], at);
    return event;
  }

  private recordInHistory(event: StageEvent): void {
    this.sandbox.recorder.complete({ kind: "scenario", ...event });
  }

  /** Replaces rules or stages: ends the leases of those removed, and begins those of new ones. */
  private replace(
    changes: Partial<Pick<ArmedRules, "inlineRules" | "activeScenarios" | "stagesByScenario">>,
  ): void {
    const { stagesByScenario } = this;
    this.updateLeases(() => Object.assign(this, changes));
    const before = new Set(stagesByScenario.values());
    const after = new Set(this.stagesByScenario.values());
    this.leases.end([...before].filter((one) => !after.has(one)));
    // A stage of an edited scenario may have begun before the edit.
    for (const one of after) if (!before.has(one)) this.leases.begin([one], one.progress.begun.at(-1)!.at);
    this.notify();
  }

  /** Ends the leases of rules that a change takes out of force, and begins those of others that it puts in force. */
  private updateLeases<T>(change: () => T, at?: number): T {
    const listInForce = () => new Set(this.allRules.filter((rule) => this.isInForce(rule)));
    const before = listInForce();
    const result = change();
    const after = listInForce();
    const added = [...after].filter((rule) => !before.has(rule));
    this.leases.end([...before].filter((rule) => !after.has(rule)));
    this.leases.begin(added, at);
    return result;
  }

  /**
   * Rules of scenarios and options were read for the server; a sandbox with operations of its own reads them again.
   */
  private readForSandbox(rules: readonly Rule[]): readonly Rule[] {
    const { ownResources, api } = this.sandbox;
    return ownResources.length === 0 ? rules : rules.map((rule) => readRuleForApi(rule, api));
  }
}

/** @param progress the saved progress of rules, by their keys */
function armRules(
  rules: readonly Rule[],
  source: string,
  progress: FaultState["progress"] = {},
): ArmedRule[] {
  return rules.map((rule) => new ArmedRule(rule, source, progress[`${source}/${rule.id}`]));
}

/** Returns the rule, read for the operations of an API. */
function readRuleForApi({ document, id }: Rule, { operations }: Api): Rule {
  return readRule(document, id, operations);
}

function collectProgress(all: readonly LeaseHolder[]): Record<string, object> {
  return Object.fromEntries(all.map(({ key, progress }) => [key, structuredClone(progress)]));
}

function isSameRule(a: Rule, b: Rule): boolean {
  return a.id === b.id && JSON.stringify(a.document) === JSON.stringify(b.document);
}
