import type {
  DeliveryFacts,
  DeliveryFault,
  FaultFacts,
  FaultInjector,
  FaultState,
  Verdict,
} from "../sandbox/fault-injector.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { TimerKind } from "../state/clock.ts";
import type { TimerHandler } from "../state/world-parts.ts";
import type { ArmedRule } from "./armed-rule.ts";
import { evaluateDelivery } from "./delivery-faults.ts";
import type { EffectDocument } from "./effects/effect.ts";
import { Leases } from "./leases.ts";
import { OUTSIDE } from "./match.ts";
import { type RequestFaultParts, RequestFaults, type RulesInForce } from "./request-faults.ts";
import { readInlineRule } from "./rule.ts";
import { RuleIndex } from "./rule-index.ts";
import { RuleSet, type RuleSources } from "./rule-set.ts";
import { RuleTrace } from "./rule-trace.ts";

export interface FaultOptions extends Omit<FaultParts, "base"> {
  /** By how much every answer of every sandbox is late, as in a rule's effect. */
  delay?: EffectDocument["delay"] | undefined;
}

/** The faults of a server's sandboxes. */
export class Faults {
  /** By how much every answer of every sandbox is late, where the server was started so. */
  readonly delay: EffectDocument["delay"];
  private readonly parts: FaultParts;
  private readonly sandboxes = new WeakMap<Sandbox, SandboxFaults>();

  constructor({ delay, ...parts }: FaultOptions) {
    this.delay = delay;
    const base = delay === undefined ? [] : [readInlineRule({ effect: { delay } }, parts.api, () => "delay")];
    this.parts = { ...parts, base };
  }

  of(sandbox: Sandbox): SandboxFaults {
    let faults = this.sandboxes.get(sandbox);
    if (faults === undefined) {
      faults = new SandboxFaults(this.parts, sandbox);
      this.sandboxes.set(sandbox, faults);
    }
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

export interface FaultParts extends RuleSources, RequestFaultParts {}

/** The faults of one sandbox: which rules are in force, and what they do to its requests and deliveries. */
export class SandboxFaults implements FaultInjector, RulesInForce {
  armed = false;
  outside: typeof OUTSIDE | undefined = undefined;
  revision = 0;
  readonly rules: RuleSet;
  private readonly parts: FaultParts;
  private readonly sandbox: Sandbox;
  private readonly leases: Leases;
  private readonly requests: RequestFaults;
  index = NO_RULES;
  private deliveries: readonly ArmedRule[] = [];

  constructor(parts: FaultParts, sandbox: Sandbox) {
    this.parts = parts;
    this.sandbox = sandbox;
    this.leases = new Leases(() => sandbox.world);
    this.requests = new RequestFaults(parts, this);
    this.rules = new RuleSet(parts, { changed: () => this.rebuild(), leases: this.leases });
    if (parts.base.length > 0) this.rebuild();
  }

  get seed(): number {
    return this.sandbox.seed;
  }

  get scenarios(): readonly string[] {
    return this.rules.active;
  }

  get inForce(): string {
    const { active, inlineRules } = this.rules;
    return [...active, ...inlineRules.map(({ key }) => key)].join("\n");
  }

  setScenarios(names: readonly string[], first = false): void {
    this.rules.activate(names, first);
  }

  reset(): void {
    this.rules.reset();
  }

  suspendLeases(): () => void {
    const resume = this.leases.suspend(this.rules.all());
    return () => {
      resume();
      this.revision += 1;
    };
  }

  leaseEnded(key: string): boolean {
    return this.rules.expire(key);
  }

  state(): FaultState {
    return this.rules.state();
  }

  restoreState(state: FaultState): string[] {
    return this.rules.restoreState(state);
  }

  close(): void {
    this.rules.close();
  }

  before(facts: FaultFacts): Verdict | Promise<Verdict> {
    return this.requests.before(facts);
  }

  after(facts: FaultFacts): Verdict | Promise<Verdict> {
    return this.requests.after(facts);
  }

  /** For a dry run: evaluates copies of the rules. */
  trace(): RuleTrace {
    return new RuleTrace(this.parts, { rules: this.rules.all(), seed: this.sandbox.seed });
  }

  delivery(facts: DeliveryFacts): DeliveryFault | undefined {
    if (this.deliveries.length === 0) return undefined;
    const fault = evaluateDelivery(this.deliveries, facts, this.sandbox.seed);
    this.releaseSpent(this.deliveries);
    return fault;
  }

  onCounted(rule: ArmedRule): void {
    this.releaseSpent([rule]);
  }

  /** A spent rule leaves the index, so that the last one leaves requests alone. */
  private releaseSpent(rules: readonly ArmedRule[]): void {
    const spent = rules.filter((rule) => rule.spent);
    this.revision += 1;
    if (spent.length === 0) return;
    this.leases.end(spent);
    this.rebuild();
  }

  private rebuild(): void {
    const rules = this.rules.all();
    this.index = rules.length === 0 ? NO_RULES : new RuleIndex(rules);
    this.deliveries = this.index.deliveries();
    this.armed = this.index.hasRequestRules();
    this.outside = this.index.of(OUTSIDE, "before").all.length > 0 ? OUTSIDE : undefined;
    this.revision += 1;
  }
}

const NO_RULES = new RuleIndex([]);
