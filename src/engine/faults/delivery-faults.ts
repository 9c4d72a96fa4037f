import type { DeliveryFacts, DeliveryFault } from "../sandbox/fault-types.ts";
import type { ArmedRule, ScheduleDecision } from "./armed-rule.ts";
import { readRelease } from "./check-rule.ts";
import type { EffectPlan } from "./effects/effect.ts";

/** As with requests, the first rule that answers decides and the first that delays sets the delay. */
export function decideDelivery(
  rules: readonly ArmedRule[],
  { event, webhook_id }: DeliveryFacts,
  seed: number,
): DeliveryFault | undefined {
  let fault: DeliveryFault | undefined;
  for (const armed of rules) {
    const { matchesDelivery, effect } = armed.rule;
    const earlier = { isDelayed: (fault?.delay_ms ?? 0) > 0, isHeld: fault?.hold !== undefined };
    if (armed.isSpent || !matchesDelivery(event, webhook_id) || armed.addsNothing(earlier)) continue;
    const decision = armed.decide(seed, event);
    if (!decision.triggers) continue;
    const { hold, wire } = effect;
    fault = {
      decision: `fault:${armed.key}`,
      hold: fault?.hold ?? (hold && { rule: armed.key, ...hold, read: readDeliveryRelease }),
      ...toReceiverBehaviour(effect, { ...decision, delay_ms: fault?.delay_ms || decision.delay_ms }),
    };
    if (fault.answer !== undefined || wire !== undefined) break;
  }
  return fault;
}

/** @throws DocumentError */
function readDeliveryRelease(release: object): ReturnType<typeof toReceiverBehaviour> | undefined {
  const plan = readRelease(release, undefined);
  return plan && toReceiverBehaviour(plan, { delay_ms: 0, entry: undefined });
}

function toReceiverBehaviour(
  effect: EffectPlan,
  { delay_ms, entry }: Pick<ScheduleDecision, "delay_ms" | "entry">,
): Pick<DeliveryFault, "delay_ms" | "answer"> {
  const { wire } = effect;
  return {
    delay_ms: Math.max(delay_ms, wire?.effect.delivery.getDelay(wire.over_ms) ?? 0),
    answer: toReceiverAnswer(effect, entry),
  };
}

/** A broken connection has no answer, even if the rule defines one. */
function toReceiverAnswer(
  { answer: planned, wire }: EffectPlan,
  entry: ScheduleDecision["entry"],
): DeliveryFault["answer"] {
  const failure = wire?.effect.delivery.failure;
  if (failure !== undefined) return { response_code: 0, error: `${failure}, by a fault rule` };
  const answer = entry ?? planned;
  return answer?.kind === "status" ? { response_code: answer.status } : undefined;
}
