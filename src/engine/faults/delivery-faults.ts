import type { DeliveryFacts, DeliveryFault } from "../sandbox/fault-injector.ts";
import type { ArmedRule, Decision } from "./armed-rule.ts";
import type { EffectPlan } from "./effects/effect.ts";

/**
 * Evaluates the rules with `match: { event, webhook }` for one attempt, as if the receiver had behaved so
 * (interfaces 6). As with requests, the first that answers decides and the first that delays sets the delay.
 */
export function evaluateDelivery(
  rules: readonly ArmedRule[],
  { event, webhook_id }: DeliveryFacts,
  seed: number,
): DeliveryFault | undefined {
  let fault: DeliveryFault | undefined;
  for (const armed of rules) {
    const { delivers, effect } = armed.rule;
    if (armed.spent || !delivers(event, webhook_id) || (armed.onlyDelays && fault !== undefined)) continue;
    const decision = armed.decide(seed, event, () => false);
    if (!decision.strikes) continue;
    const delay_ms = fault?.holds_ms ?? decision.delay_ms;
    const held_ms = effect.wire?.effect.delivery.holds_ms(effect.wire.over_ms) ?? 0;
    fault = {
      decision: `fault:${armed.key}`,
      holds_ms: Math.max(delay_ms, held_ms),
      answer: toAnswer(effect, decision),
      reasons: [...(fault?.reasons ?? []), `${armed.key} struck: ${decision.why}`],
    };
    if (fault.answer !== undefined || effect.wire !== undefined) break;
  }
  return fault;
}

/** A broken connection carries no answer, even if the rule gives one. */
function toAnswer({ answer: own, wire }: EffectPlan, { entry }: Decision): DeliveryFault["answer"] {
  const breaks = wire?.effect.delivery.breaks;
  if (breaks !== undefined) return { response_code: 0, error: `${breaks}, as a fault asked` };
  const answer = entry ?? own;
  return answer?.kind === "status" ? { response_code: answer.status } : undefined;
}
