import type {
  DeliveryFacts,
  DeliveryFault,
  EnteredRequest,
  FaultFacts,
  FaultInjector,
  FaultState,
  FaultVerdict,
} from "../sandbox/fault-types.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { TimerKind } from "../state/clock.ts";
import type { TimerHandler } from "../state/world-parts.ts";
import { ArmedRule, ArmedRules, arm, BASE, INLINE } from "./armed-rules.ts";
import type { RuleApi } from "./check-rule.ts";
import { decideDelivery } from "./delivery-faults.ts";
import type { EffectDocument } from "./effects/effect.ts";
import { readInlineRule, readSavedRule } from "./inline-rule.ts";
import type { Leased } from "./leases.ts";
import { SandboxScenarios } from "./refusal-scenarios.ts";
import { type RequestFaultParts, RequestFaults, type RuleObserver } from "./request-faults.ts";
import { type Rule, UNDECLARED_OPERATION } from "./rule.ts";
import { RuleTrace } from "./rule-trace.ts";
import type { Scenario, ScenarioUser } from "./scenario.ts";
import { toStages } from "./stages.ts";

/** An inline rule has this id already. */
export class RuleExists extends Error {
  override readonly name = "RuleExists";
}

export interface FaultParts extends RequestFaultParts {
  /** Rules that are active in every sandbox, after all others, and cannot be switched off. */
  base: readonly Rule[];
}

/**
 * The faults of one sandbox: the active rules, and their effects on its requests and deliveries (interfaces 3 and 6).
 */
export class SandboxFaults extends ArmedRules implements FaultInjector, RuleObserver, ScenarioUser {
  armed = false;
  readonly outside = UNDECLARED_OPERATION;
  reachesOutside = false;
  /** The scenarios that can be activated here. */
  readonly library: SandboxScenarios;
  private readonly parts: FaultParts;
  private first: readonly string[] = [];
  private numbered = 0;
  private requests: RequestFaults;
  private deliveries: readonly ArmedRule[] = [];

  constructor(shared: FaultParts, sandbox: Sandbox) {
    super(sandbox, shared.base);
    this.library = new SandboxScenarios(shared.scenarios, sandbox);
    this.parts = { ...shared, scenarios: this.library };
    this.requests = new RequestFaults(this.parts, this, []);
    if (shared.base.length > 0) this.rebuild();
  }

  get seed(): number {
    return this.sandbox.seed;
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

  before(facts: FaultFacts): FaultVerdict | Promise<FaultVerdict> {
    return this.requests.before(facts);
  }

  after(facts: FaultFacts): FaultVerdict | Promise<FaultVerdict> {
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

  protected override rebuild(): void {
    const rules = this.rules.filter((rule) => !rule.spent && this.isActive(rule));
    this.requests = new RequestFaults(this.parts, this, rules);
    this.deliveries = rules.filter(({ rule }) => rule.operations === undefined);
    const isStaged = [...this.staged.values()].some(({ current }) => current !== undefined);
    this.armed = isStaged || this.deliveries.length < rules.length;
    this.reachesOutside = rules.some(({ rule }) => rule.operations?.has(UNDECLARED_OPERATION.id));
    this.revision += 1;
  }

  /** Only sandboxes with an active scenario receive edits; others cost nothing. */
  private followEdits(): void {
    if (this.active.size > 0) this.parts.scenarios.use(this);
    else this.parts.scenarios.release(this);
  }

  private freeId(): string {
    for (;;) {
      const id = `fault_${++this.numbered}`;
      if (!this.inlineRules.some(({ rule }) => rule.id === id)) return id;
    }
  }
}

function collectProgress(all: readonly Leased[]): Record<string, object> {
  return Object.fromEntries(all.map(({ key, progress }) => [key, structuredClone(progress)]));
}

function isSameRule(a: Rule, b: Rule): boolean {
  return a.id === b.id && JSON.stringify(a.document) === JSON.stringify(b.document);
}

export interface FaultOptions extends Omit<FaultParts, "base"> {
  /** The operations of rules for every sandbox. */
  api: RuleApi;
  /** The delay of every answer of every sandbox, as in a rule's effect. */
  delay?: EffectDocument["delay"] | undefined;
}

/** The faults of a server's sandboxes. */
export class Faults {
  /** The delay of every answer of every sandbox, if the server was started with one. */
  readonly delay: EffectDocument["delay"];
  private readonly parts: FaultParts;
  private readonly sandboxes = new WeakMap<Sandbox, SandboxFaults>();

  constructor({ delay, api, ...parts }: FaultOptions) {
    this.delay = delay;
    const base = delay === undefined ? [] : [readInlineRule({ effect: { delay } }, api, () => "delay")];
    this.parts = { ...parts, base };
  }

  of(sandbox: Sandbox): SandboxFaults {
    const faults = this.sandboxes.get(sandbox) ?? new SandboxFaults(this.parts, sandbox);
    this.sandboxes.set(sandbox, faults);
    return faults;
  }

  /** Ends leases when they are due. */
  timers(sandbox: Sandbox): Partial<Record<TimerKind, TimerHandler>> {
    return {
      lease: (_tx, { key, subject }) => {
        const faults = this.of(sandbox);
        return async () => faults.leaseEnded(key ?? subject);
      },
    };
  }
}
