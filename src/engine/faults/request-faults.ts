import { DocumentError } from "../documents/document-error.ts";
import type { FaultFacts, InjectedEffect, Verdict } from "../sandbox/fault-injector.ts";
import { ArmedRule } from "./armed-rule.ts";
import { holds } from "./match.ts";
import { type OverrideFault, RefusedOverride, readOverride } from "./override.ts";
import { answers, type Rule } from "./rule.ts";
import { type SpendingOf, toEffect } from "./rule-answer.ts";
import { type Phase, type RuleIndex, UNTOUCHED } from "./rule-index.ts";
import type { ScenarioSource } from "./scenario.ts";

export interface RequestFaultParts {
  scenarios: ScenarioSource;
  spending: SpendingOf;
  /** Whether requests may bring faults of their own (interfaces 3). */
  overrides: boolean;
}

/** The rules that requests are evaluated against. */
export interface RulesInForce {
  readonly seed: number;
  readonly index: RuleIndex;
  /** Called with a rule that matched and has counted the call. */
  onCounted(rule: ArmedRule): void;
  /** Called with the outcome of each rule that was evaluated. */
  onEvaluated?(rule: ArmedRule, strikes: boolean, why: string): void;
}

/** Applies overrides and rules to requests, before and after the change (interfaces 3 and 6). */
export class RequestFaults {
  private readonly parts: RequestFaultParts;
  private readonly rules: RulesInForce;

  constructor(parts: RequestFaultParts, rules: RulesInForce) {
    this.parts = parts;
    this.rules = rules;
  }

  before(facts: FaultFacts): Verdict | Promise<Verdict> {
    const { overrides: allowed, scenarios } = this.parts;
    try {
      const override = readOverride(facts, { scenarios: scenarios.recentNames, allowed });
      if (override === undefined) return this.byRules(facts, "before", undefined);
      const { delay_ms, fault } = override;
      if (fault === undefined) return this.byRules(facts, "before", delay_ms);
      if (fault.kind === "scenario") return this.byScenario(facts, "before", { name: fault.name, delay_ms });
      return this.byHeader(facts, fault, delay_ms ?? 0);
    } catch (error) {
      if (error instanceof RefusedOverride) return refuse(error.message);
      // A scenario whose file is broken cannot strike; the request must say so rather than succeed.
      if (error instanceof DocumentError) return refuse(error.format());
      throw error;
    }
  }

  after(facts: FaultFacts): Verdict | Promise<Verdict> {
    // A request with a delay of its own was delayed before; no rule delays it again.
    const delay_ms = facts.headers["x-sandbox-delay"] === undefined ? undefined : 0;
    const name = facts.headers["x-sandbox-fault"];
    if (name !== undefined) return this.byScenario(facts, "after", { name: String(name).trim(), delay_ms });
    return this.byRules(facts, "after", delay_ms);
  }

  private byRules(facts: FaultFacts, phase: Phase, delay_ms: number | undefined): Verdict | Promise<Verdict> {
    const bucket = this.rules.index.of(facts.operation, phase);
    const rules = bucket.of(facts.principal?.user_id);
    if (rules.length === 0 && !delay_ms) return bucket.foreign;
    const { spending } = this.parts;
    const context = { observer: this.rules, spending, delay_ms, otherwise: bucket.foreign };
    return new Evaluation(rules, facts, context).resume(0);
  }

  private byHeader(
    facts: FaultFacts,
    { plan, name }: Extract<OverrideFault, { kind: "plan" }>,
    delay_ms: number,
  ): Verdict | Promise<Verdict> {
    const reasons = [`the request asked for ${name} by its own header`];
    const verdict = (effect: InjectedEffect | undefined): Verdict => ({
      injection: { decision: `fault:header/${name}`, delay_ms, effect },
      reasons,
    });
    const effect = toEffect(plan, facts, { spending: this.parts.spending });
    return effect instanceof Promise ? effect.then(verdict) : verdict(effect);
  }

  /**
   * interfaces 3: the first rule of the scenario that matches strikes this one request, whatever its schedule and lease
   * are; the rules in force are not evaluated.
   * @throws RefusedOverride
   */
  private byScenario(
    facts: FaultFacts,
    phase: Phase,
    { name, delay_ms }: { name: string; delay_ms: number | undefined },
  ): Verdict | Promise<Verdict> {
    const { scenarios, spending } = this.parts;
    const matching = scenarios.get(name).rules.filter(({ operations }) => operations?.has(facts.operation));
    if (matching.length === 0)
      throw new RefusedOverride(`The scenario ${name} has no rule that strikes ${facts.operation.id}.`);
    const { user_id } = facts.principal ?? {};
    const rules = matching
      .filter((rule) => rule.phase === phase && (rule.principal === undefined || rule.principal === user_id))
      .map((rule) => new ArmedRule(withoutSchedule(rule), "header"));
    const observer = { seed: this.rules.seed, onCounted() {} };
    return new Evaluation(rules, facts, { observer, spending, delay_ms, otherwise: UNTOUCHED }).resume(0);
  }
}

/** Strikes at once: a sequence begins at its first entry that is an answer. */
function withoutSchedule(rule: Rule): Rule {
  const { schedule } = rule;
  const lease = { ttl_ms: undefined, hits: undefined };
  if (schedule.kind !== "sequence") return { ...rule, lease, schedule: { kind: "always" } };
  const at = schedule.entries.findIndex((entry) => entry !== undefined);
  const entries = schedule.entries.slice(at);
  return { ...rule, lease, schedule: { ...schedule, entries, words: schedule.words.slice(at) } };
}

function refuse(message: string): Verdict {
  const effect = { kind: "refused", title: "The override cannot be honoured", detail: message } as const;
  return {
    injection: { decision: "fault:header/refused", delay_ms: 0, effect },
    reasons: [message],
  };
}

interface EvaluationContext {
  observer: Pick<RulesInForce, "seed" | "onCounted" | "onEvaluated">;
  spending: SpendingOf;
  /** A delay that precedes those of all rules (X-Sandbox-Delay). */
  delay_ms: number | undefined;
  /** The verdict if no rule has a reason to report. */
  otherwise: Verdict;
}

/**
 * Evaluates rules in their order for one request. The first that answers decides; the first that delays sets the delay,
 * and a later one that only delays is skipped. Stays synchronous unless a rule looks into the body.
 */
class Evaluation {
  private readonly rules: readonly ArmedRule[];
  private readonly facts: FaultFacts;
  private readonly context: EvaluationContext;
  private delay_ms: number | undefined;
  private delayedBy: ArmedRule | undefined;
  private reasons: string[] | undefined;
  /** Why the rule that came nearest did not match. */
  private near: readonly string[] | undefined;
  private nearness = -1;

  constructor(rules: readonly ArmedRule[], facts: FaultFacts, context: EvaluationContext) {
    this.rules = rules;
    this.facts = facts;
    this.context = context;
    this.delay_ms = context.delay_ms;
  }

  resume(from: number): Verdict | Promise<Verdict> {
    for (let i = from; i < this.rules.length; i++) {
      const armed = this.rules[i]!;
      const { rule } = armed;
      if (armed.spent || (armed.onlyDelays && this.delay_ms !== undefined)) continue;
      const failed = rule.criteria.findIndex(({ fits }) => !fits(this.facts));
      if (failed >= 0) {
        this.missed(armed, failed, rule.criteria[failed]!.miss);
        continue;
      }
      if (rule.body !== undefined) {
        if (!this.facts.bodyRead) return this.facts.readBody().then(() => this.resume(i));
        if (!holds(this.facts.body, rule.body)) {
          this.missed(armed, rule.criteria.length, "the body does not hold what the rule asks for");
          continue;
        }
      }
      const verdict = this.apply(armed);
      if (verdict !== undefined) return verdict;
    }
    return this.withoutAnswer();
  }

  private missed(armed: ArmedRule, nearness: number, why: string): void {
    this.context.observer.onEvaluated?.(armed, false, why);
    if (nearness <= this.nearness) return;
    this.nearness = nearness;
    this.near = armed.missed(why);
  }

  /** Undefined if the rule let the call pass, or only delayed it. */
  private apply(armed: ArmedRule): Verdict | Promise<Verdict> | undefined {
    const { observer, spending } = this.context;
    const { operation } = this.facts;
    const decision = armed.decide(observer.seed, operation.id, (entry) => !answers(operation, entry));
    observer.onCounted(armed);
    observer.onEvaluated?.(armed, decision.strikes, decision.why);
    this.reasons ??= [];
    this.reasons.push(
      `${armed.key} ${decision.strikes ? "struck" : "matched and let it pass"}: ${decision.why}`,
    );
    if (!decision.strikes) return undefined;
    const { effect } = armed.rule;
    if (effect.delay !== undefined && this.delay_ms === undefined) {
      this.delay_ms = decision.delay_ms;
      this.delayedBy = armed;
      this.reasons.push(`${armed.key} delays by ${decision.delay_ms} ms`);
    }
    const answer = decision.entry ?? effect.answer;
    if (answer === undefined && effect.wire === undefined) return undefined;
    if (effect.wire !== undefined) this.reasons.push(`wire fault ${effect.wire.effect.name}`);
    const made = toEffect(effect, this.facts, { answer, spending });
    return made instanceof Promise
      ? made.then((one) => this.toVerdict(armed, one))
      : this.toVerdict(armed, made);
  }

  private toVerdict(armed: ArmedRule, effect: InjectedEffect | undefined): Verdict {
    const injection = { decision: `fault:${armed.key}`, delay_ms: this.delay_ms ?? 0, effect };
    return { injection, reasons: this.reasons! };
  }

  private withoutAnswer(): Verdict {
    if (this.delayedBy !== undefined) return this.toVerdict(this.delayedBy, undefined);
    const { delay_ms, otherwise } = this.context;
    const reasons = this.reasons ?? this.near;
    // A delay of 0 is how `after` says that the request was delayed before.
    if (delay_ms) {
      const own = `the request asked for a delay of ${delay_ms} ms by its own header`;
      const injection = { decision: "fault:header/delay", delay_ms, effect: undefined };
      return { injection, reasons: [own, ...(reasons ?? [])] };
    }
    return reasons === undefined ? otherwise : { injection: undefined, reasons };
  }
}
