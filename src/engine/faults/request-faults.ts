import { DocumentError } from "../documents/document-error.ts";
import { getOrAdd } from "../maps.ts";
import type { FaultFacts, FaultVerdict, RequestEffect } from "../sandbox/fault-types.ts";
import type { Hold } from "../sandbox/held.ts";
import { ArmedRule, RulesByCaller, type SelectedRules } from "./armed-rule.ts";
import { readRelease } from "./check-rule.ts";
import { type Override, OverrideError, readOverride } from "./override.ts";
import { containsValue, IS_AUTHORIZED, type Rule, UNDECLARED_OPERATION } from "./rule.ts";
import { type ReadSpending, toEffect } from "./rule-answer.ts";
import type { ScenarioSource } from "./scenario.ts";

type Phase = Rule["phase"];

export interface RequestFaultParts {
  scenarios: ScenarioSource;
  readSpending: ReadSpending;
  /** Whether requests may inject faults themselves (interfaces.md 3). */
  overrides: boolean;
}

/** Follows the evaluation of rules. */
export interface RuleObserver {
  readonly seed: number;
  /** Called with a rule that matched and has counted the call; it may be spent now. */
  onCounted(rule: ArmedRule): void;
  /** Called with the outcome of each rule that was evaluated. */
  onEvaluated?(rule: ArmedRule, triggers: boolean, why: string): void;
}

const NO_FAULT: FaultVerdict = { injection: undefined, reasons: [] };

/**
 * Applies overrides and rules to requests, before and after the change (interfaces.md 3 and 6). Rules are indexed by
 * operation, so that the cost of a request depends only on the rules that can match it.
 */
export class RequestFaults {
  private readonly parts: RequestFaultParts;
  private readonly observer: RuleObserver;
  private readonly rules: readonly ArmedRule[];
  private readonly byOperation = new Map<string, Record<Phase, RulesByCaller>>();

  /** @param rules in order of precedence */
  constructor(parts: RequestFaultParts, observer: RuleObserver, rules: readonly ArmedRule[]) {
    this.parts = parts;
    this.observer = observer;
    this.rules = rules;
  }

  before(facts: FaultFacts): FaultVerdict | Promise<FaultVerdict> {
    const { overrides: isAllowed, scenarios } = this.parts;
    try {
      const override = readOverride(facts, { scenarios: scenarios.cachedNames, isAllowed });
      const { delay_ms, fault } = override ?? {};
      if (fault === undefined) return this.applyRules(facts, "before", delay_ms);
      if (fault.kind === "scenario")
        return this.applyScenario(facts, "before", { name: fault.name, delay_ms });
      return this.applyOverride(facts, fault, delay_ms ?? 0);
    } catch (error) {
      if (error instanceof OverrideError) return createRefusal(error.message);
      // A scenario whose file is broken cannot trigger; the request must say so rather than succeed.
      if (error instanceof DocumentError) return createRefusal(error.format());
      throw error;
    }
  }

  after(facts: FaultFacts): FaultVerdict | Promise<FaultVerdict> {
    // A request that set its own delay was delayed before; no rule delays it again.
    const delay_ms = facts.headers["x-sandbox-delay"] === undefined ? undefined : 0;
    const fault = facts.headers["x-sandbox-fault"];
    if (fault === undefined) return this.applyRules(facts, "after", delay_ms);
    // A scenario's name: a code or a wire fault in this header has ended the request in the phase `before`.
    return this.applyScenario(facts, "after", { name: String(fault).trim(), delay_ms });
  }

  private applyRules(
    facts: FaultFacts,
    phase: Phase,
    delay_ms: number | undefined,
  ): FaultVerdict | Promise<FaultVerdict> {
    const rules = this.findRules(facts.operation.id, phase);
    if (rules.all.length === 0 && !delay_ms) return NO_FAULT;
    return this.evaluate(rules, facts, { observer: this.observer, delay_ms });
  }

  private findRules(operation: string, phase: Phase): RulesByCaller {
    const rulesByPhase = getOrAdd(this.byOperation, operation, () => {
      const rules = this.rules.filter(({ rule }) => rule.operations?.has(operation));
      return {
        before: new RulesByCaller(rules.filter(({ rule }) => rule.phase === "before")),
        after: new RulesByCaller(rules.filter(({ rule }) => rule.phase === "after")),
      };
    });
    return rulesByPhase[phase];
  }

  private evaluate(
    rules: RulesByCaller,
    facts: FaultFacts,
    { observer, delay_ms }: { observer: RuleObserver; delay_ms: number | undefined },
  ): FaultVerdict | Promise<FaultVerdict> {
    const { readSpending } = this.parts;
    const selection = rules.select(facts.principal?.user_id);
    return new Evaluation(selection, facts, { observer, readSpending, delay_ms }).resume(0);
  }

  private applyOverride(
    facts: FaultFacts,
    { plan, name }: Extract<Override["fault"], { kind: "plan" }>,
    delay_ms: number,
  ): FaultVerdict | Promise<FaultVerdict> {
    const reasons = [`the request asked for ${name} by its own header`];
    const toVerdict = (effect: RequestEffect | undefined): FaultVerdict => ({
      injection: { decision: `fault:header/${name}`, delay_ms, effect },
      reasons,
    });
    const effect = toEffect(plan, facts, { readSpending: this.parts.readSpending });
    return effect instanceof Promise ? effect.then(toVerdict) : toVerdict(effect);
  }

  /**
   * Applies the first matching rule of the scenario to this one request, whatever its schedule and lease are; the active
   * rules are not evaluated (interfaces.md 3).
   * @throws OverrideError
   */
  private applyScenario(
    facts: FaultFacts,
    phase: Phase,
    { name, delay_ms }: { name: string; delay_ms: number | undefined },
  ): FaultVerdict | Promise<FaultVerdict> {
    const matching = this.parts.scenarios
      .get(name)
      .rules.filter(({ operations }) => operations?.has(facts.operation.id));
    if (matching.length === 0)
      throw new OverrideError(
        `The scenario ${name} has no rule for ${facts.operation === UNDECLARED_OPERATION ? "this path" : facts.operation.id}.`,
      );
    const rules = matching
      .filter((rule) => rule.phase === phase)
      .map((rule) => new ArmedRule(triggerAtOnce(rule), "header"));
    const observer = { seed: this.observer.seed, onCounted() {} };
    return this.evaluate(new RulesByCaller(rules), facts, { observer, delay_ms });
  }
}

/** A copy of the rule that triggers on the next call: a sequence begins at its first entry that is an answer. */
function triggerAtOnce(rule: Rule): Rule {
  const { schedule } = rule;
  const lease = { ttl_ms: undefined, hits: undefined };
  if (schedule.kind !== "sequence") return { ...rule, lease, schedule: { kind: "always" } };
  const firstAnswer = schedule.entries.findIndex((entry) => entry !== undefined);
  const entries = schedule.entries.slice(firstAnswer);
  return { ...rule, lease, schedule: { ...schedule, entries, labels: schedule.labels.slice(firstAnswer) } };
}

function createRefusal(message: string): FaultVerdict {
  const effect = { kind: "override-refused", detail: message } as const;
  return { injection: { decision: "fault:header/refused", delay_ms: 0, effect }, reasons: [message] };
}

interface EvaluationContext {
  observer: RuleObserver;
  readSpending: ReadSpending;
  /** A delay that replaces those of all rules (X-Sandbox-Delay). */
  delay_ms: number | undefined;
}

/**
 * Evaluates rules in their order for one request. The first that answers decides; the first that delays sets the delay,
 * and a later one that only delays is skipped. Stays synchronous unless a rule or its answer needs the body.
 */
class Evaluation {
  private readonly rules: readonly ArmedRule[];
  private readonly facts: FaultFacts;
  private readonly context: EvaluationContext;
  private delay_ms: number | undefined;
  private hold: Hold<RequestEffect> | undefined;
  /** The rule that delays or holds the request. */
  private waitingRule: ArmedRule | undefined;
  private reasons: string[] | undefined;
  /** Why the rule that came nearest to matching did not match. */
  private nearestMiss: readonly string[] | undefined;
  private criteriaMet = -1;
  private refusesCaller = false;
  private readonly otherCallerRule: ArmedRule | undefined;

  constructor({ rules, otherCallerRule }: SelectedRules, facts: FaultFacts, context: EvaluationContext) {
    this.rules = rules;
    this.otherCallerRule = otherCallerRule;
    this.facts = facts;
    this.context = context;
    this.delay_ms = context.delay_ms;
  }

  resume(from: number): FaultVerdict | Promise<FaultVerdict> {
    for (let i = from; i < this.rules.length; i++) {
      const armed = this.rules[i]!;
      const { rule } = armed;
      const earlier = { isDelayed: this.delay_ms !== undefined, isHeld: this.hold !== undefined };
      if (armed.isSpent || armed.addsNothing(earlier)) continue;
      const failedIndex = rule.criteria.findIndex(({ isMet }) => !isMet(this.facts));
      if (failedIndex >= 0) {
        this.recordMiss(armed, failedIndex, rule.criteria[failedIndex]!.miss);
        continue;
      }
      if (rule.body !== undefined) {
        if (!this.facts.hasReadBody) return this.facts.readBody().then(() => this.resume(i));
        if (!containsValue(this.facts.body, rule.body)) {
          this.recordMiss(armed, rule.criteria.length, "the body does not contain what the rule asks for");
          continue;
        }
      }
      const verdict = this.apply(armed);
      if (verdict !== undefined) return verdict;
    }
    return this.concludeWithoutAnswer();
  }

  private recordMiss(armed: ArmedRule, nearness: number, why: string): void {
    if (why === IS_AUTHORIZED.miss) this.refusesCaller = true;
    this.context.observer.onEvaluated?.(armed, false, why);
    if (nearness <= this.criteriaMet) return;
    this.criteriaMet = nearness;
    this.nearestMiss = armed.explainMiss(why);
  }

  /** Undefined if the rule did not trigger, or only delays or holds the request. */
  private apply(armed: ArmedRule): FaultVerdict | Promise<FaultVerdict> | undefined {
    const { observer, readSpending } = this.context;
    const { operation } = this.facts;
    const decision = armed.decide(observer.seed, operation.id, operation);
    observer.onCounted(armed);
    observer.onEvaluated?.(armed, decision.triggers, decision.why);
    this.reasons ??= [];
    this.reasons.push(
      `${armed.key} ${decision.triggers ? "triggered" : "matched, but did not trigger"}: ${decision.why}`,
    );
    if (!decision.triggers) return undefined;
    const { effect } = armed.rule;
    if (effect.delay !== undefined && this.delay_ms === undefined) {
      this.delay_ms = decision.delay_ms;
      this.waitingRule ??= armed;
      this.reasons.push(`${armed.key} delays by ${decision.delay_ms} ms`);
    }
    if (effect.hold !== undefined && this.hold === undefined) {
      this.hold = this.toHold(armed, effect.hold.timeout_ms);
      this.waitingRule ??= armed;
    }
    const answer = decision.entry ?? effect.answer;
    if (answer === undefined && effect.wire === undefined) return undefined;
    if (effect.wire !== undefined) this.reasons.push(`wire fault ${effect.wire.effect.name}`);
    const requestEffect = toEffect(effect, this.facts, { answer, readSpending });
    return requestEffect instanceof Promise
      ? requestEffect.then((resolved) => this.toVerdict(armed, resolved))
      : this.toVerdict(armed, requestEffect);
  }

  private toHold({ key }: ArmedRule, timeout_ms: number): Hold<RequestEffect> {
    const { facts } = this;
    const { readSpending } = this.context;
    return {
      rule: key,
      timeout_ms,
      read(release) {
        const plan = readRelease(release, facts.operation);
        return plan && toEffect(plan, facts, { readSpending });
      },
    };
  }

  private toVerdict(armed: ArmedRule, effect: RequestEffect | undefined): FaultVerdict {
    const { delay_ms = 0, hold } = this;
    const injection = { decision: `fault:${armed.key}`, delay_ms, hold, effect };
    return { injection, reasons: this.reasons! };
  }

  private concludeWithoutAnswer(): FaultVerdict {
    const { delay_ms } = this.context;
    const { waitingRule, otherCallerRule, refusesCaller } = this;
    if (waitingRule !== undefined) return { ...this.toVerdict(waitingRule, undefined), refusesCaller };
    const reasons =
      this.reasons ??
      this.nearestMiss ??
      otherCallerRule?.explainMiss(`principal is not ${otherCallerRule.rule.principal}`);
    // A delay of 0 means that the request was delayed in the phase `before`.
    if (delay_ms) {
      const delayReason = `the request asked for a delay of ${delay_ms} ms by its own header`;
      const injection = { decision: "fault:header/delay", delay_ms, effect: undefined };
      return { injection, reasons: [delayReason, ...(reasons ?? [])], refusesCaller };
    }
    if (reasons === undefined) return NO_FAULT;
    return { injection: undefined, reasons, refusesCaller };
  }
}
