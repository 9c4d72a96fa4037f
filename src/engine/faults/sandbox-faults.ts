import type { Api } from "../contract/api.ts";
import type { AnyOperation } from "../contract/operation.ts";
import type {
  DeliveryFacts,
  DeliveryFault,
  FaultFacts,
  FaultInjector,
  FaultState,
  Verdict,
} from "../sandbox/fault-injector.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { EffectPlan } from "./effects/effect.ts";
import { Leases } from "./leases.ts";
import { UNDECLARED_OPERATION } from "./match.ts";
import { type RequestFaultParts, RequestFaults, type RuleObserver } from "./request-faults.ts";
import { ArmedRule, type Decision, type Rule, readRule } from "./rule.ts";
import { RuleTrace } from "./rule-trace.ts";
import { readInlineRule, type Scenario, type ScenarioUser } from "./scenario.ts";

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
  private readonly parts: FaultParts;
  private readonly sandbox: Sandbox;
  private readonly leases: Leases;
  /** The active scenarios by name, with their rules. */
  private active: OwnRules["active"] = new Map();
  private base: readonly ArmedRule[];
  private first: readonly string[] = [];
  private numbered = 0;
  private requests: RequestFaults;
  private deliveries: readonly ArmedRule[] = [];

  constructor(parts: FaultParts, sandbox: Sandbox) {
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

  /** Scenarios that were active already keep their progress. */
  setScenarios(names: readonly string[], first = false): void {
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
    });
    if (first) this.first = this.scenarios;
    this.followEdits();
  }

  /** A scenario's file was edited: unchanged rules keep their progress. */
  renew({ name, rules }: Scenario): void {
    const before = this.active.get(name);
    if (before === undefined) return;
    const renewed = this.readForSandbox(rules).map(
      (rule) => before.find((old) => isSameRule(old.rule, rule)) ?? new ArmedRule(rule, name),
    );
    this.replace({ active: new Map([...this.active, [name, renewed]]) });
  }

  /** @throws DocumentError for a rule that is wrong, RuleExists */
  add(document: unknown): ArmedRule {
    const rule = readInlineRule(document, this.sandbox.api, () => this.freeId());
    if (this.inlineRules.some((one) => one.rule.id === rule.id)) throw new RuleExists(rule.id);
    const armed = new ArmedRule(rule, INLINE);
    this.replace({ inlineRules: [armed, ...this.inlineRules] });
    return armed;
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
    const resume = this.leases.suspend(this.rules);
    return () => {
      resume();
      this.revision += 1;
    };
  }

  /** The lease with this key ended; false when it is not a rule's. */
  leaseEnded(key: string): boolean {
    const found = this.rules.find((rule) => rule.key === key);
    if (found?.progress.due === undefined) return false;
    found.progress.due = undefined;
    found.progress.expired = true;
    this.rebuild();
    return true;
  }

  state(): FaultState {
    const inline = this.inlineRules.map(({ rule }) => ({ id: rule.id, rule: rule.document }));
    const progress = Object.fromEntries(this.rules.map((rule) => [rule.key, structuredClone(rule.progress)]));
    return { first: this.first, active: this.scenarios, inline, progress, numbered: this.numbered };
  }

  restoreState({ first, active, inline, progress, numbered }: FaultState): string[] {
    const { scenarios, base } = this.parts;
    const { api } = this.sandbox;
    const found = active.filter((name) => scenarios.has(name));
    const rules = inline.map(({ id, rule }) => readInlineRule({ ...rule, id }, api, () => id));
    this.numbered = numbered;
    this.first = first.filter((name) => scenarios.has(name));
    this.inlineRules = arm(rules, INLINE, progress);
    this.active = new Map(
      found.map((name) => [name, arm(this.readForSandbox(scenarios.lastGood(name).rules), name, progress)]),
    );
    this.base = arm(base, BASE, progress);
    this.leases.settle(this.rules);
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
    return new RuleTrace(this.parts, { rules: this.rules, seed: this.seed });
  }

  /** As with requests, the first rule that answers decides and the first that delays sets the delay. */
  delivery({ event, webhook_id }: DeliveryFacts): DeliveryFault | undefined {
    const { deliveries } = this;
    if (deliveries.length === 0) return undefined;
    let fault: DeliveryFault | undefined;
    for (const armed of deliveries) {
      const { delivers, effect } = armed.rule;
      if (armed.spent || !delivers(event, webhook_id) || (armed.onlyDelays && fault !== undefined)) continue;
      const decision = armed.decide(this.seed, event);
      if (!decision.triggers) continue;
      const { wire } = effect;
      const delay_ms = fault?.holds_ms ?? decision.delay_ms;
      fault = {
        decision: `fault:${armed.key}`,
        holds_ms: Math.max(delay_ms, wire?.effect.delivery.holds_ms(wire.over_ms) ?? 0),
        answer: toReceiverAnswer(effect, decision),
        reasons: [...(fault?.reasons ?? []), `${armed.key} triggered: ${decision.why}`],
      };
      if (fault.answer !== undefined || wire !== undefined) break;
    }
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
  private replace({ inlineRules = this.inlineRules, active = this.active }: Partial<OwnRules>): void {
    const before = new Set(this.rules);
    this.inlineRules = inlineRules;
    this.active = active;
    const now = new Set(this.rules);
    this.leases.end([...before].filter((rule) => !now.has(rule)));
    this.leases.begin([...now].filter((rule) => !before.has(rule)));
    this.rebuild();
  }

  private rebuild(): void {
    const rules = this.rules.filter((rule) => !rule.spent);
    this.requests = new RequestFaults(this.parts, this, rules);
    this.deliveries = rules.filter(({ rule }) => rule.operations === undefined);
    this.armed = this.deliveries.length < rules.length;
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

/** Sources of rules outside scenarios: calls, and the options of the server. */
const INLINE = "inline";
const BASE = "start";

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

/** The receiver's answer to a delivery. A broken connection has none, even if the rule defines one. */
function toReceiverAnswer({ answer: own, wire }: EffectPlan, { entry }: Decision): DeliveryFault["answer"] {
  const breaks = wire?.effect.delivery.breaks;
  if (breaks !== undefined) return { response_code: 0, error: `${breaks}, as a fault asked` };
  const answer = entry ?? own;
  return answer?.kind === "status" ? { response_code: answer.status } : undefined;
}
