import { DocumentError } from "../documents/document-error.ts";
import { getOrAdd } from "../maps.ts";
import {
  type DeliveryFacts,
  type DeliveryFault,
  type FaultFacts,
  type FaultInjector,
  type FaultState,
  type FaultVerdict,
  type StagedRequest,
  UnknownScenarioError,
  type UnusableScenario,
} from "../sandbox/fault-types.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { TimerKind } from "../state/clock.ts";
import type { TimerHandler } from "../state/world-parts.ts";
import type { ArmedRule } from "./armed-rule.ts";
import { ArmedRules } from "./armed-rules.ts";
import { type RuleApi, readInlineRule } from "./check-rule.ts";
import { decideDelivery } from "./delivery-faults.ts";
import type { EffectDocument } from "./effects/effect.ts";
import { SandboxScenarios } from "./refusal-scenarios.ts";
import { type RequestFaultParts, RequestFaults, type RuleObserver } from "./request-faults.ts";
import { type Rule, UNDECLARED_OPERATION } from "./rule.ts";
import { RuleTrace } from "./rule-trace.ts";
import type { Scenario } from "./scenario.ts";

interface FaultParts extends RequestFaultParts {
  /** Rules that are active in every sandbox, after all others, and cannot be switched off. */
  serverRules: readonly Rule[];
}

/**
 * The faults of one sandbox: the active rules, and their effects on its requests and deliveries (interfaces.md 3 and 6).
 */
export class SandboxFaults implements FaultInjector, RuleObserver {
  mayAffectRequests = false;
  readonly undeclaredOperation = UNDECLARED_OPERATION;
  matchesUndeclaredPaths = false;
  readonly rules: ArmedRules;
  /** The scenarios that can be activated here. */
  readonly library: SandboxScenarios;
  private readonly sandbox: Sandbox;
  private readonly parts: FaultParts;
  private initialScenarios: readonly string[] = [];
  private lastRuleNumber = 0;
  private requestFaults: RequestFaults;
  private deliveryRules: readonly ArmedRule[] = [];

  constructor(shared: FaultParts, sandbox: Sandbox) {
    this.sandbox = sandbox;
    this.library = new SandboxScenarios(shared.scenarios, sandbox);
    this.parts = { ...shared, scenarios: this.library };
    this.rules = new ArmedRules(sandbox, shared.serverRules, () => this.onRulesChanged());
    this.requestFaults = new RequestFaults(this.parts, this, []);
    if (shared.serverRules.length > 0) this.onRulesChanged();
  }

  get seed(): number {
    return this.sandbox.seed;
  }

  setScenarios(names: readonly string[]): void {
    this.rules.activate([...new Set(names)].map((name) => this.library.get(name)));
    this.updateSubscription();
  }

  setInitialScenarios(names: readonly string[]): void {
    this.setScenarios(names);
    this.initialScenarios = this.rules.scenarios;
  }

  /** Arms a rule, or renews the same rule's lease by time. @throws DocumentError for a wrong rule, RuleExistsError */
  add(document: unknown, place = 0): ArmedRule {
    return this.rules.add(
      readInlineRule(document, this.sandbox.api, () => this.createRuleId()),
      place,
    );
  }

  /**
   * Puts another rule in the place of an inline rule; undefined when there is none of this id.
   * @throws DocumentError for a rule that is wrong
   */
  change(id: string, document: object): ArmedRule | undefined {
    if (!this.hasRule(id)) return undefined;
    return this.rules.change(readInlineRule({ ...document, id }, this.sandbox.api, () => id));
  }

  /** False when there is no inline rule of this id. */
  remove(id: string): boolean {
    if (!this.hasRule(id)) return false;
    this.rules.remove(id);
    return true;
  }

  reset(): void {
    this.rules.reset();
    this.lastRuleNumber = 0;
    this.rules.activate([...this.findUsable(this.initialScenarios).scenarios.values()]);
    this.updateSubscription();
  }

  enterStages(): StagedRequest | undefined {
    const rulesOnArrival = this.requestFaults;
    const entered = this.rules.countRequest();
    return (
      entered && {
        ...entered,
        before: (facts) => rulesOnArrival.before(facts),
        after: (facts) => rulesOnArrival.after(facts),
      }
    );
  }

  toState(): FaultState {
    const opened = this.rules.scenarios.flatMap((name) => {
      const scenario = this.library.openedScenarios.get(name);
      return scenario === undefined ? [] : [{ name, document: scenario.document }];
    });
    return {
      first: this.initialScenarios,
      ...this.rules.toState(),
      ...(opened.length > 0 && { opened }),
      numbered: this.lastRuleNumber,
    };
  }

  restoreState(state: FaultState, shift_ms = 0): UnusableScenario[] {
    const { scenarios, unusable } = this.findUsable([...state.active, ...state.first], state.opened);
    this.rules.restoreState(
      state,
      state.active.flatMap((name) => scenarios.get(name) ?? []),
      shift_ms,
    );
    this.lastRuleNumber = state.numbered;
    this.initialScenarios = state.first.filter((name) => scenarios.has(name));
    this.updateSubscription();
    return unusable.filter(({ scenario }) => state.active.includes(scenario));
  }

  close(): void {
    this.library.unsubscribe(this.rules);
  }

  before(facts: FaultFacts): FaultVerdict | Promise<FaultVerdict> {
    return this.requestFaults.before(facts);
  }

  after(facts: FaultFacts): FaultVerdict | Promise<FaultVerdict> {
    return this.requestFaults.after(facts);
  }

  /** Copies of the rules, for a dry run. */
  createTrace(): RuleTrace {
    return new RuleTrace(this.parts, this.rules, this.seed);
  }

  evaluateDelivery(facts: DeliveryFacts): DeliveryFault | undefined {
    const { deliveryRules } = this;
    if (deliveryRules.length === 0) return undefined;
    const fault = decideDelivery(deliveryRules, facts, this.seed);
    this.rules.deactivateSpent(deliveryRules);
    return fault;
  }

  onCounted(rule: ArmedRule): void {
    this.rules.deactivateSpent([rule]);
  }

  /** Indexes the rules again after others became active. */
  private onRulesChanged(): void {
    const rules = this.rules.activeRules;
    this.requestFaults = new RequestFaults(this.parts, this, rules);
    this.deliveryRules = rules.filter(({ rule }) => rule.operations === undefined);
    this.mayAffectRequests =
      this.rules.runningStages.length > 0 || rules.some(({ rule }) => rule.operations !== undefined);
    this.matchesUndeclaredPaths = rules.some(({ rule }) => rule.operations?.has(UNDECLARED_OPERATION.id));
  }

  /** Only sandboxes with an active scenario receive edits; others cost nothing. */
  private updateSubscription(): void {
    if (this.rules.scenarios.length > 0) this.library.subscribe(this.rules);
    else this.library.unsubscribe(this.rules);
  }

  private findUsable(names: readonly string[], opened: FaultState["opened"] = []) {
    const scenarios = new Map<string, Scenario>();
    const unusable: UnusableScenario[] = [];
    for (const name of new Set(names)) {
      try {
        const saved = opened.find((one) => one.name === name);
        if (saved !== undefined) this.library.addDocument(name, saved.document);
        scenarios.set(name, this.library.getLastGood(name));
      } catch (error) {
        unusable.push({ scenario: name, reason: explainUnusable(error) });
      }
    }
    return { scenarios, unusable };
  }

  private hasRule(id: string): boolean {
    return this.rules.inlineRules.some(({ rule }) => rule.id === id);
  }

  private createRuleId(): string {
    let id: string;
    do id = `fault_${++this.lastRuleNumber}`;
    while (this.hasRule(id));
    return id;
  }
}

function explainUnusable(error: unknown): string {
  if (error instanceof UnknownScenarioError) return "no longer exists";
  if (error instanceof DocumentError) return `cannot be used: ${error.format()}`;
  throw error;
}

export interface FaultOptions extends Omit<FaultParts, "serverRules"> {
  /** The declarations that `delay`, a rule for every sandbox, is checked against. */
  api: RuleApi;
  /** The delay of every answer of every sandbox, as in a rule's effect. */
  delay?: EffectDocument["delay"] | undefined;
}

/** The faults of a server's sandboxes. */
export class Faults {
  readonly delay: EffectDocument["delay"];
  private readonly parts: FaultParts;
  private readonly sandboxes = new WeakMap<Sandbox, SandboxFaults>();

  constructor({ delay, api, ...parts }: FaultOptions) {
    this.delay = delay;
    const serverRules =
      delay === undefined ? [] : [readInlineRule({ effect: { delay } }, api, () => "delay")];
    this.parts = { ...parts, serverRules };
  }

  getSandboxFaults(sandbox: Sandbox): SandboxFaults {
    return getOrAdd(this.sandboxes, sandbox, () => new SandboxFaults(this.parts, sandbox));
  }

  /** Ends leases when they are due. */
  createTimerHandlers(sandbox: Sandbox): Partial<Record<TimerKind, TimerHandler>> {
    return {
      lease: (_tx, { key }) => {
        const faults = this.getSandboxFaults(sandbox);
        return async () => faults.rules.endLease(key!);
      },
    };
  }
}
