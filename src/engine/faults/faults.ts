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
import type { ArmedRule } from "./armed-rule.ts";
import { ArmedRules } from "./armed-rules.ts";
import { type RuleApi, readInlineRule } from "./check-rule.ts";
import { decideDelivery } from "./delivery-faults.ts";
import type { EffectDocument } from "./effects/effect.ts";
import { SandboxScenarios } from "./refusal-scenarios.ts";
import { type RequestFaultParts, RequestFaults, type RuleObserver } from "./request-faults.ts";
import { type Rule, UNDECLARED_OPERATION } from "./rule.ts";
import { RuleTrace } from "./rule-trace.ts";

export interface FaultParts extends RequestFaultParts {
  /** Rules that are active in every sandbox, after all others, and cannot be switched off. */
  base: readonly Rule[];
}

/**
 * The faults of one sandbox: the active rules, and their effects on its requests and deliveries (interfaces 3 and 6).
 */
export class SandboxFaults implements FaultInjector, RuleObserver {
  armed = false;
  readonly outside = UNDECLARED_OPERATION;
  reachesOutside = false;
  readonly rules: ArmedRules;
  /** The scenarios that can be activated here. */
  readonly library: SandboxScenarios;
  private readonly sandbox: Sandbox;
  private readonly parts: FaultParts;
  private first: readonly string[] = [];
  private numbered = 0;
  private requests: RequestFaults;
  private deliveries: readonly ArmedRule[] = [];

  constructor(shared: FaultParts, sandbox: Sandbox) {
    this.sandbox = sandbox;
    this.library = new SandboxScenarios(shared.scenarios, sandbox);
    this.parts = { ...shared, scenarios: this.library };
    this.rules = new ArmedRules(sandbox, shared.base, () => this.followRules());
    this.requests = new RequestFaults(this.parts, this, []);
    if (shared.base.length > 0) this.followRules();
  }

  get seed(): number {
    return this.sandbox.seed;
  }

  /** Scenarios that were active already keep their progress. */
  setScenarios(names: readonly string[], { first } = { first: false }): void {
    this.rules.activate([...new Set(names)].map((name) => this.library.get(name)));
    if (first) this.first = this.rules.scenarios;
    this.followEdits();
  }

  /** The same rule again renews its lease. @throws DocumentError for a rule that is wrong, RuleExists */
  add(document: unknown): ArmedRule {
    return this.rules.add(readInlineRule(document, this.sandbox.api, () => this.freeId()));
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

  /** Removes all inline rules. */
  clear(): void {
    this.rules.remove();
  }

  reset(): void {
    this.rules.reset();
    this.numbered = 0;
    this.rules.activate(this.first.map((name) => this.library.getLastGood(name)));
    this.followEdits();
  }

  enter(): EnteredRequest | undefined {
    const { requests } = this;
    const entered = this.rules.enter();
    return (
      entered && {
        ...entered,
        before: (facts) => requests.before(facts),
        after: (facts) => requests.after(facts),
      }
    );
  }

  state(): FaultState {
    return { first: this.first, ...this.rules.state(), numbered: this.numbered };
  }

  restoreState(state: FaultState): string[] {
    const { library } = this;
    const found = state.active.filter((name) => library.has(name));
    this.rules.restoreState(
      state,
      found.map((name) => library.getLastGood(name)),
    );
    this.numbered = state.numbered;
    this.first = state.first.filter((name) => library.has(name));
    this.followEdits();
    return state.active.filter((name) => !found.includes(name));
  }

  close(): void {
    this.library.release(this.rules);
  }

  before(facts: FaultFacts): FaultVerdict | Promise<FaultVerdict> {
    return this.requests.before(facts);
  }

  after(facts: FaultFacts): FaultVerdict | Promise<FaultVerdict> {
    return this.requests.after(facts);
  }

  /** For a dry run: evaluates copies of the rules. */
  trace(): RuleTrace {
    return new RuleTrace(this.parts, this.rules, this.seed);
  }

  delivery(facts: DeliveryFacts): DeliveryFault | undefined {
    const { deliveries } = this;
    if (deliveries.length === 0) return undefined;
    const fault = decideDelivery(deliveries, facts, this.seed);
    this.rules.releaseSpent(deliveries);
    return fault;
  }

  onCounted(rule: ArmedRule): void {
    this.rules.releaseSpent([rule]);
  }

  /** Other rules are in force. */
  private followRules(): void {
    const rules = this.rules.inForce;
    this.requests = new RequestFaults(this.parts, this, rules);
    this.deliveries = rules.filter(({ rule }) => rule.operations === undefined);
    this.armed = this.rules.running.length > 0 || this.deliveries.length < rules.length;
    this.reachesOutside = rules.some(({ rule }) => rule.operations?.has(UNDECLARED_OPERATION.id));
  }

  /** Only sandboxes with an active scenario receive edits; others cost nothing. */
  private followEdits(): void {
    if (this.rules.scenarios.length > 0) this.library.use(this.rules);
    else this.library.release(this.rules);
  }

  private hasRule(id: string): boolean {
    return this.rules.inline.some(({ rule }) => rule.id === id);
  }

  private freeId(): string {
    let id: string;
    do id = `fault_${++this.numbered}`;
    while (this.hasRule(id));
    return id;
  }
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
        return async () => faults.rules.leaseEnded(key ?? subject);
      },
    };
  }
}
