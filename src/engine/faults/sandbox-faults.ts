import type { Api } from "../contract/api.ts";
import type { AnyOperation } from "../contract/operation.ts";
import type {
  DeliveryFacts,
  DeliveryFault,
  EnteredRequest,
  FaultFacts,
  FaultInjector,
  FaultState,
  Verdict,
} from "../sandbox/fault-injector.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { decideDelivery } from "./delivery-faults.ts";
import { type Leased, Leases } from "./leases.ts";
import { UNDECLARED_OPERATION } from "./match.ts";
import { type RequestFaultParts, RequestFaults, type RuleObserver } from "./request-faults.ts";
import { ArmedRule, type Rule, readRule } from "./rule.ts";
import { RuleTrace } from "./rule-trace.ts";
import { SandboxScenarios } from "./sandbox-scenarios.ts";
import { readInlineRule, readSavedRule, type Scenario, type ScenarioUser } from "./scenario.ts";
import { followStages, StageProgress, toStages } from "./stages.ts";

/** An inline rule has this id already. */
export class RuleExists extends Error {
  override readonly name = "RuleExists";
}

export interface FaultParts extends RequestFaultParts {
  /** Rules that are active in every sandbox, after all others, and cannot be switched off. */
  base: readonly Rule[];
}

interface OwnRules {
  inlineRules: readonly ArmedRule[];
  active: ReadonlyMap<string, readonly ArmedRule[]>;
  /** By scenario; only active scenarios that have stages. */
  staged: ReadonlyMap<string, StageProgress>;
}

/**
 * The faults of one sandbox: the active rules, and their effects on its requests and deliveries (interfaces 3 and 6).
 */
export class SandboxFaults implements FaultInjector, RuleObserver, ScenarioUser {
  armed = false;
  outside: AnyOperation | undefined = undefined;
  revision = 0;
  /** The newest first. */
  inlineRules: readonly ArmedRule[] = [];
  /** The scenarios that can be activated here. */
  readonly library: SandboxScenarios;
  private readonly parts: FaultParts;
  private readonly sandbox: Sandbox;
  private readonly leases: Leases;
  /** The active scenarios by name, with their rules. */
  private active: OwnRules["active"] = new Map();
  private staged: OwnRules["staged"] = new Map();
  private base: readonly ArmedRule[];
  private first: readonly string[] = [];
  private numbered = 0;
  private requests: RequestFaults;
  private deliveries: readonly ArmedRule[] = [];

  constructor(shared: FaultParts, sandbox: Sandbox) {
    this.library = new SandboxScenarios(shared.scenarios, sandbox);
    const parts = { ...shared, scenarios: this.library };
    this.parts = parts;
    this.sandbox = sandbox;
    this.leases = new Leases(() => sandbox.world);
    this.base = arm(parts.base, BASE);
    this.requests = new RequestFaults(parts, this, []);
    if (parts.base.length > 0) this.rebuild();
  }

  get seed(): number {
    return this.sandbox.seed;
  }

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

  /** The rules of a scenario with their progress here; undefined if it is not active. */
  findRules(scenario: string): readonly ArmedRule[] | undefined {
    return this.active.get(scenario);
  }

  /** The stages of a scenario in this sandbox; undefined if it has none, or is not active. */
  findStages(scenario: string): StageProgress | undefined {
    return this.staged.get(scenario);
  }

  get stages(): readonly string[] {
    return [...this.staged.values()].flatMap((one) => one.stages.map((stage) => one.qualify(stage)));
  }

  /** Scenarios that were active already keep their progress. */
  setScenarios(names: readonly string[], { first } = { first: false }): void {
    this.activate(
      [...new Set(names)].map((name) => this.parts.scenarios.get(name)),
      first,
    );
  }

  private activate(scenarios: readonly Scenario[], first: boolean): void {
    const before = this.active;
    this.replace({
      active: new Map(
        scenarios.map(({ name, rules }) => [name, before.get(name) ?? arm(this.readForSandbox(rules), name)]),
      ),
      staged: new Map(scenarios.flatMap((scenario) => this.followStages(scenario))),
    });
    if (first) this.first = this.scenarios;
    this.followEdits();
  }

  /** A scenario's file was edited: unchanged rules keep their progress. */
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

  private followStages(scenario: Scenario): [string, StageProgress][] {
    return followStages(scenario, this.staged.get(scenario.name), this.sandbox.world.epochNow());
  }

  /** The same rule again renews its lease. @throws DocumentError for a rule that is wrong, RuleExists */
  add(document: unknown): ArmedRule {
    const rule = readInlineRule(document, this.sandbox.api, () => this.freeId());
    const present = this.inlineRules.find((one) => one.rule.id === rule.id);
    if (present !== undefined) {
      if (present.progress.due === undefined || !isSameRule(present.rule, rule))
        throw new RuleExists(rule.id);
      this.leases.end([present]);
      this.leases.begin([present]);
      this.revision += 1;
      return present;
    }
    const armed = new ArmedRule(rule, INLINE);
    this.replace({ inlineRules: [armed, ...this.inlineRules] });
    return armed;
  }

  /**
   * Puts another rule in the place of an inline rule; undefined when there is none of this id.
   * @throws DocumentError for a rule that is wrong
   */
  change(id: string, document: object): ArmedRule | undefined {
    if (!this.inlineRules.some(({ rule }) => rule.id === id)) return undefined;
    const changed = new ArmedRule(
      readInlineRule({ ...document, id }, this.sandbox.api, () => id),
      INLINE,
    );
    this.replace({ inlineRules: this.inlineRules.map((one) => (one.rule.id === id ? changed : one)) });
    return changed;
  }

  /** False when there is no inline rule of this id. */
  remove(id: string): boolean {
    const left = this.inlineRules.filter(({ rule }) => rule.id !== id);
    if (left.length === this.inlineRules.length) return false;
    this.replace({ inlineRules: left });
    return true;
  }

  /** Removes all inline rules. */
  clear(): void {
    this.replace({ inlineRules: [] });
  }

  reset(): void {
    // The world is new, and has no lease timers yet.
    this.inlineRules = [];
    this.active = new Map();
    this.staged = new Map();
    this.base = arm(this.parts.base, BASE);
    this.numbered = 0;
    this.activate(
      this.first.map((name) => this.parts.scenarios.lastGood(name)),
      true,
    );
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

  enter(): EnteredRequest | undefined {
    const all = [...this.staged.values()].filter(({ current }) => current !== undefined);
    if (all.length === 0) return undefined;
    const { requests } = this;
    const stages = all.map((one) => one.qualify(one.current));
    const now = this.sandbox.world.epochNow();
    const events = all.filter((one) => one.count()).map((one) => this.endStage(one, now));
    this.revision += 1;
    if (events.length > 0) this.rebuild();
    return {
      stages,
      before: (facts) => requests.before(facts),
      after: (facts) => requests.after(facts),
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
    this.rebuild();
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

  private isActive(rule: ArmedRule): boolean {
    return this.staged.get(rule.source)?.isActive(rule) ?? true;
  }

  /** Everything that may end by time. */
  private get leased(): readonly Leased[] {
    return [...this.rules, ...this.staged.values()];
  }

  state(): FaultState {
    const inline = this.inlineRules.map(({ rule }) => ({ id: rule.id, rule: rule.document }));
    const progress = collectProgress(this.rules);
    const stages = this.staged.size === 0 ? undefined : collectProgress([...this.staged.values()]);
    const { first, scenarios: active, numbered } = this;
    return { first, active, inline, progress, numbered, ...(stages && { stages }) };
  }

  restoreState({ first, active, inline, progress, numbered, stages: saved = {} }: FaultState): string[] {
    const { scenarios, base } = this.parts;
    const { api } = this.sandbox;
    const found = active.filter((name) => scenarios.has(name));
    const rules = inline.map(({ id, rule }) => readSavedRule(rule, id, api));
    this.numbered = numbered;
    this.first = first.filter((name) => scenarios.has(name));
    this.inlineRules = arm(rules, INLINE, progress);
    this.active = new Map(
      found.map((name) => [name, arm(this.readForSandbox(scenarios.lastGood(name).rules), name, progress)]),
    );
    const now = this.sandbox.world.epochNow();
    this.staged = new Map(found.flatMap((name) => toStages(scenarios.lastGood(name), now, saved[name])));
    this.base = arm(base, BASE, progress);
    this.leases.settle(this.leased);
    this.followEdits();
    this.rebuild();
    return active.filter((name) => !found.includes(name));
  }

  close(): void {
    this.parts.scenarios.release(this);
  }

  before(facts: FaultFacts): Verdict | Promise<Verdict> {
    return this.requests.before(facts);
  }

  after(facts: FaultFacts): Verdict | Promise<Verdict> {
    return this.requests.after(facts);
  }

  /** For a dry run: evaluates copies of the rules. */
  trace(): RuleTrace {
    const isActive = (rule: ArmedRule) => this.isActive(rule);
    return new RuleTrace(this.parts, { rules: this.rules, seed: this.seed, isActive });
  }

  delivery(facts: DeliveryFacts): DeliveryFault | undefined {
    const { deliveries } = this;
    if (deliveries.length === 0) return undefined;
    const fault = decideDelivery(deliveries, facts, this.seed);
    this.releaseSpent(deliveries);
    return fault;
  }

  onCounted(rule: ArmedRule): void {
    this.releaseSpent([rule]);
  }

  /** A used-up rule is no longer evaluated; without rules, requests skip the evaluation. */
  private releaseSpent(rules: readonly ArmedRule[]): void {
    const spent = rules.filter((rule) => rule.spent);
    this.revision += 1;
    if (spent.length === 0) return;
    this.leases.end(spent);
    this.rebuild();
  }

  /** Replaces the active rules: ends the leases of removed rules, and begins those of new ones. */
  private replace(next: Partial<OwnRules>): void {
    const { staged } = this;
    this.followLeases(() => Object.assign(this, next));
    const replaced = [...staged].filter(([name, one]) => this.staged.get(name) !== one);
    this.leases.end(replaced.map(([, one]) => one));
    const added = [...this.staged].filter(([name, one]) => staged.get(name) !== one);
    this.leases.begin(added.map(([, one]) => one));
    this.rebuild();
  }

  /** Ends the leases of rules that a change takes out of force, and begins those of others that it puts in force. */
  private followLeases<T>(change: () => T, at?: number): T {
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

  private rebuild(): void {
    const rules = this.rules.filter((rule) => !rule.spent && this.isActive(rule));
    this.requests = new RequestFaults(this.parts, this, rules);
    this.deliveries = rules.filter(({ rule }) => rule.operations === undefined);
    const isStaged = [...this.staged.values()].some(({ current }) => current !== undefined);
    this.armed = isStaged || this.deliveries.length < rules.length;
    this.outside = rules.some(({ rule }) => rule.operations?.has(UNDECLARED_OPERATION.id))
      ? UNDECLARED_OPERATION
      : undefined;
    this.revision += 1;
  }

  /** Only sandboxes with an active scenario receive edits; others cost nothing. */
  private followEdits(): void {
    if (this.active.size > 0) this.parts.scenarios.use(this);
    else this.parts.scenarios.release(this);
  }

  /** Rules of scenarios refer to the server's operations; a sandbox with its own needs them read again. */
  private readForSandbox(rules: readonly Rule[]): readonly Rule[] {
    const { own, api } = this.sandbox;
    return own.length === 0 ? rules : rules.map((rule) => readFor(rule, api));
  }

  private freeId(): string {
    for (;;) {
      const id = `fault_${++this.numbered}`;
      if (!this.inlineRules.some(({ rule }) => rule.id === id)) return id;
    }
  }
}

type StageEvent = ReturnType<StageProgress["next"]>;

/** Sources of rules outside scenarios: calls, and the options of the server. */
const INLINE = "inline";
const BASE = "start";

function collectProgress(all: readonly Leased[]): Record<string, object> {
  return Object.fromEntries(all.map(({ key, progress }) => [key, structuredClone(progress)]));
}

/** @param progress the saved progress of rules, by their keys */
function arm(rules: readonly Rule[], source: string, progress: FaultState["progress"] = {}): ArmedRule[] {
  return rules.map((rule) => new ArmedRule(rule, source, progress[`${source}/${rule.id}`]));
}

/** Returns the rule, read for the operations of an API. */
function readFor({ document, id }: Rule, { operations }: Api): Rule {
  return readRule(document, id, operations);
}

function isSameRule(a: Rule, b: Rule): boolean {
  return a.id === b.id && JSON.stringify(a.document) === JSON.stringify(b.document);
}
