import { DocumentError } from "../documents/document-error.ts";
import type { FaultFacts, Verdict } from "../sandbox/fault-gate.ts";
import { type OverrideFault, RefusedOverride, readOverride } from "./override.ts";
import type { SpendingOf } from "./plausible-refusal.ts";
import { effectOf } from "./rules/answer-of.ts";
import { ArmedRule } from "./rules/armed-rule.ts";
import { type Heard, judge } from "./rules/judge.ts";
import type { Rule } from "./rules/rule.ts";
import { type Phase, type RuleIndex, UNTOUCHED } from "./rules/rule-index.ts";
import type { ScenarioSource } from "./scenario.ts";

export interface RequestFaultParts {
  scenarios: ScenarioSource;
  spending: SpendingOf;
  /** Whether requests may bring faults of their own (interfaces 3). */
  overrides: boolean;
}

/** The rules that requests are judged by. */
export interface RulesInForce {
  readonly seed: number;
  readonly index: RuleIndex;
  /** Called with a rule that matched and has counted the call. */
  asked(rule: ArmedRule): void;
  /** Of a rehearsal: hears what became of each rule that was come to. */
  heard?: Heard;
}

/** What overrides and rules do to requests, before and after the change (interfaces 3 and 6). */
export class RequestFaults {
  private readonly parts: RequestFaultParts;
  private readonly rules: RulesInForce;

  constructor(parts: RequestFaultParts, rules: RulesInForce) {
    this.parts = parts;
    this.rules = rules;
  }

  before(facts: FaultFacts): Verdict | Promise<Verdict> {
    try {
      const override = readOverride(facts, {
        scenarios: this.parts.scenarios.recentNames,
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

  private judged(facts: FaultFacts, phase: Phase, delay_ms: number | undefined): Verdict | Promise<Verdict> {
    const { seed, index } = this.rules;
    const bucket = index.of(facts.operation, phase);
    const rules = bucket.of(facts.principal?.user_id);
    if (rules.length === 0 && !delay_ms) return bucket.foreign;
    return judge(rules, facts, {
      seed,
      spending: this.parts.spending,
      onAsked: (rule) => this.rules.asked(rule),
      delay_ms,
      otherwise: bucket.foreign,
      heard: this.rules.heard && ((...word) => this.rules.heard!(...word)),
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
    const concerned = this.parts.scenarios
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
      seed: this.rules.seed,
      spending: this.parts.spending,
      onAsked: () => {},
      delay_ms,
      otherwise: UNTOUCHED,
    });
  }
}

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
