import { DocumentError } from "../documents/document-error.ts";
import type {
  DeliveryFacts,
  DeliveryFault,
  FaultFacts,
  FaultGate,
  FaultState,
  Verdict,
} from "../sandbox/fault-gate.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { Leases } from "./leases.ts";
import { type OverrideFault, RefusedOverride, readOverride, type ScenarioNames } from "./override.ts";
import type { SpendingOf } from "./plausible-refusal.ts";
import { RuleSet, type RuleSources } from "./rule-set.ts";
import { effectOf } from "./rules/answer-of.ts";
import { ArmedRule } from "./rules/armed-rule.ts";
import { judge } from "./rules/judge.ts";
import { judgeDelivery } from "./rules/judge-delivery.ts";
import type { Rule } from "./rules/rule.ts";
import { type Phase, RuleIndex, UNTOUCHED } from "./rules/rule-index.ts";

export interface FaultParts extends RuleSources {
  spending: SpendingOf;
  /** Whether requests may bring faults of their own (interfaces 3). */
  overrides: boolean;
  /** The scenarios that they may name. */
  names: ScenarioNames;
}

/** The faults of one sandbox: which rules are in force, and what they do to its requests and deliveries. */
export class SandboxFaults implements FaultGate {
  armed = false;
  revision = 0;
  readonly rules: RuleSet;
  private readonly parts: FaultParts;
  private readonly sandbox: Sandbox;
  private readonly leases: Leases;
  private index = NO_RULES;
  private deliveries: readonly ArmedRule[] = [];

  constructor(parts: FaultParts, sandbox: Sandbox) {
    this.parts = parts;
    this.sandbox = sandbox;
    this.leases = new Leases(() => sandbox.world);
    this.rules = new RuleSet(parts, { changed: () => this.rebuild(), leases: this.leases });
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
    try {
      const override = readOverride(facts, {
        scenarios: this.parts.names,
        allowed: this.parts.overrides,
      });
      if (override === undefined) return this.judged(facts, "before", undefined);
      const { delay_ms, fault } = override;
      if (fault === undefined) return this.judged(facts, "before", delay_ms);
      if (fault.kind === "scenario") return this.byScenario(facts, "before", { name: fault.name, delay_ms });
      return this.byHeader(facts, fault, delay_ms ?? 0);
    } catch (error) {
      if (error instanceof RefusedOverride) return refused(error.message);
      // A scenario whose file is broken cannot strike, and the request must say so rather than succeed.
      if (error instanceof DocumentError) return refused(error.format());
      throw error;
    }
  }

  after(facts: FaultFacts): Verdict | Promise<Verdict> {
    // A request that brought its own delay has had it; no rule adds another.
    const delay_ms = facts.headers["x-sandbox-delay"] === undefined ? undefined : 0;
    const name = facts.headers["x-sandbox-fault"];
    if (name !== undefined) return this.byScenario(facts, "after", { name: String(name).trim(), delay_ms });
    return this.judged(facts, "after", delay_ms);
  }

  delivery(facts: DeliveryFacts): DeliveryFault | undefined {
    if (this.deliveries.length === 0) return undefined;
    const fault = judgeDelivery(this.deliveries, facts, this.sandbox.seed);
    this.noteAsked(this.deliveries);
    return fault;
  }

  private judged(facts: FaultFacts, phase: Phase, delay_ms: number | undefined): Verdict | Promise<Verdict> {
    const bucket = this.index.of(facts.operation, phase);
    const rules = bucket.of(facts.principal?.user_id);
    if (rules.length === 0 && !delay_ms) return bucket.foreign;
    return judge(rules, facts, {
      seed: this.sandbox.seed,
      spending: this.parts.spending,
      onAsked: (rule) => this.noteAsked([rule]),
      delay_ms,
      otherwise: bucket.foreign,
    });
  }

  private byHeader(
    facts: FaultFacts,
    { plan, name }: Extract<OverrideFault, { kind: "plan" }>,
    delay_ms: number,
  ): Verdict | Promise<Verdict> {
    const reasons = [`the request asked for ${name} by its own header`];
    const verdict = (effect: Awaited<ReturnType<typeof effectOf>>): Verdict => ({
      injection: { decision: `fault:header/${name}`, delay_ms, effect },
      reasons,
    });
    const effect = effectOf(plan, facts, { spending: this.parts.spending });
    return effect instanceof Promise ? effect.then(verdict) : verdict(effect);
  }

  /**
   * interfaces 3: the first rule of the scenario that matches strikes this one request, whatever its schedule
   * and lease say; what is in force otherwise is not asked.
   * @throws RefusedOverride
   */
  private byScenario(
    facts: FaultFacts,
    phase: Phase,
    { name, delay_ms }: { name: string; delay_ms: number | undefined },
  ): Verdict | Promise<Verdict> {
    const concerned = this.parts.library
      .get(name)
      .rules.filter(({ operations }) => operations?.has(facts.operation));
    if (concerned.length === 0) {
      throw new RefusedOverride(`The scenario ${name} has no rule that strikes ${facts.operation.id}.`);
    }
    const { user_id } = facts.principal ?? {};
    const rules = concerned
      .filter((rule) => rule.phase === phase && (rule.principal === undefined || rule.principal === user_id))
      .map((rule) => new ArmedRule(atOnce(rule), "header"));
    return judge(rules, facts, {
      seed: this.sandbox.seed,
      spending: this.parts.spending,
      onAsked: () => {},
      delay_ms,
      otherwise: UNTOUCHED,
    });
  }

  /** A spent rule leaves the index, so that the last one leaves requests alone. */
  private noteAsked(rules: readonly ArmedRule[]): void {
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
    this.revision += 1;
  }
}

const NO_RULES = new RuleIndex([]);

function atOnce(rule: Rule): Rule {
  const { schedule } = rule;
  const lease = { ttl_ms: undefined, hits: undefined };
  if (schedule.kind !== "sequence") return { ...rule, lease, schedule: { kind: "always" } };
  const at = schedule.entries.findIndex((entry) => entry !== undefined);
  return {
    ...rule,
    lease,
    schedule: { ...schedule, entries: schedule.entries.slice(at), words: schedule.words.slice(at) },
  };
}

function refused(message: string): Verdict {
  const effect = { kind: "refused", title: "The override cannot be honoured", detail: message } as const;
  return {
    injection: { decision: "fault:header/refused", delay_ms: 0, effect },
    reasons: [message],
  };
}
