import type { FaultFacts, InjectedEffect, Injection, Verdict } from "../../sandbox/fault-gate.ts";
import type { SpendingOf } from "../plausible-refusal.ts";
import { effectOf } from "./answer-of.ts";
import type { ArmedRule, Decision } from "./armed-rule.ts";
import { holds } from "./match.ts";
import { answers } from "./rule.ts";

/** What became of a rule that a request was held against. */
export type Heard = (rule: ArmedRule, strikes: boolean, why: string) => void;

export interface JudgeContext {
  seed: number;
  spending: SpendingOf;
  /** Called with a rule that matched and has counted the call. */
  onAsked: (rule: ArmedRule) => void;
  /** A delay that precedes those of all rules (X-Sandbox-Delay). */
  delay_ms: number | undefined;
  /** The verdict where no rule even came near. */
  otherwise: Verdict;
  /** Of a rehearsal: told of each rule that was come to. */
  heard?: Heard | undefined;
}

/**
 * Asks the rules in their order. The first that answers, decides; the first that delays, says for how long,
 * and a later one that would only delay is not asked. Stays synchronous unless a rule looks into the body.
 */
export function judge(
  rules: readonly ArmedRule[],
  facts: FaultFacts,
  context: JudgeContext,
): Verdict | Promise<Verdict> {
  return new Judgement(rules, facts, context).resume(0);
}

class Judgement {
  private readonly rules: readonly ArmedRule[];
  private readonly facts: FaultFacts;
  private readonly context: JudgeContext;
  private delay_ms: number | undefined;
  private delayedBy: ArmedRule | undefined;
  private reasons: string[] | undefined;
  private near: readonly string[] | undefined;
  private nearness = -1;

  constructor(rules: readonly ArmedRule[], facts: FaultFacts, context: JudgeContext) {
    this.rules = rules;
    this.facts = facts;
    this.context = context;
    this.delay_ms = context.delay_ms;
  }

  resume(from: number): Verdict | Promise<Verdict> {
    for (let i = from; i < this.rules.length; i++) {
      const armed = this.rules[i]!;
      const { rule } = armed;
      const onlyDelays =
        rule.effect.answer === undefined &&
        rule.effect.wire === undefined &&
        rule.schedule.kind !== "sequence";
      if (armed.spent || (onlyDelays && this.delay_ms !== undefined)) continue;
      if (!this.fits(armed)) continue;
      if (rule.body !== undefined) {
        if (!this.facts.bodyRead) return this.facts.readBody().then(() => this.resume(i));
        if (!holds(this.facts.body, rule.body)) {
          this.missed(armed, rule.criteria.length, "the body does not hold what the rule asks for");
          continue;
        }
      }
      const verdict = this.ask(armed);
      if (verdict !== undefined) return verdict;
    }
    return this.unanswered();
  }

  private fits(armed: ArmedRule): boolean {
    const { criteria } = armed.rule;
    for (let i = 0; i < criteria.length; i++) {
      if (criteria[i]!.fits(this.facts)) continue;
      this.missed(armed, i, criteria[i]!.miss);
      return false;
    }
    return true;
  }

  private missed(armed: ArmedRule, nearness: number, why: string): void {
    this.context.heard?.(armed, false, why);
    if (nearness <= this.nearness) return;
    this.nearness = nearness;
    this.near = armed.missed(why);
  }

  /** Undefined when the rule let the call pass, or did no more than delay it. */
  private ask(armed: ArmedRule): Verdict | Promise<Verdict> | undefined {
    const { operation } = this.facts;
    const decision = armed.decide(this.context.seed, operation.id, (entry) => !answers(operation, entry));
    this.context.onAsked(armed);
    this.context.heard?.(armed, decision.strikes, decision.why);
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
    if (decision.entry === undefined && effect.answer === undefined && effect.wire === undefined)
      return undefined;
    return this.answered(armed, decision);
  }

  private answered(armed: ArmedRule, { entry }: Decision): Verdict | Promise<Verdict> {
    const { effect } = armed.rule;
    const made = effectOf(effect, this.facts, {
      answer: entry ?? effect.answer,
      spending: this.context.spending,
    });
    if (effect.wire !== undefined) this.reasons!.push(`wire fault ${effect.wire.effect.name}`);
    return made instanceof Promise
      ? made.then((one) => this.earlyResponseOf(armed, one))
      : this.earlyResponseOf(armed, made);
  }

  private earlyResponseOf(armed: ArmedRule, effect: InjectedEffect | undefined): Verdict {
    const injection: Injection = { decision: `fault:${armed.key}`, delay_ms: this.delay_ms ?? 0, effect };
    return { injection, reasons: this.reasons! };
  }

  private unanswered(): Verdict {
    if (this.delayedBy !== undefined) return this.earlyResponseOf(this.delayedBy, undefined);
    const reasons = this.reasons ?? this.near;
    // A delay of nothing is how the later phase says that the request has had its delay.
    if (this.context.delay_ms) {
      const injection = {
        decision: "fault:header/delay",
        delay_ms: this.context.delay_ms,
        effect: undefined,
      };
      const own = `the request asked for a delay of ${this.context.delay_ms} ms by its own header`;
      return { injection, reasons: [own, ...(reasons ?? [])] };
    }
    return reasons === undefined ? this.context.otherwise : { injection: undefined, reasons };
  }
}
