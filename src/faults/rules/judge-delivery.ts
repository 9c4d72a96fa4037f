import type { DeliveryFacts, DeliveryStrike } from "../../sandbox/fault-gate.ts";
import type { ArmedRule } from "./armed-rule.ts";

/**
 * What the rules with `match: { event, webhook }` do to one attempt, as if the receiver had answered so
 * (interfaces 6). As with requests, the first that answers decides and the first that delays says for how long.
 */
export function deliveryStrike(
  rules: readonly ArmedRule[],
  { event, webhook_id }: DeliveryFacts,
  seed: number,
): DeliveryStrike | undefined {
  let struck: DeliveryStrike | undefined;
  for (const armed of rules) {
    const { delivers, effect } = armed.rule;
    const onlyDelays =
      effect.answer === undefined && effect.wire === undefined && armed.rule.schedule.kind !== "sequence";
    if (armed.spent || !delivers(event, webhook_id) || (onlyDelays && struck !== undefined)) continue;
    const { strikes, entry, delay_ms, why } = armed.decide(seed, event, () => false);
    if (!strikes) continue;
    const answer = entry ?? effect.answer;
    struck = {
      decision: `fault:${armed.key}`,
      delay_ms: struck?.delay_ms ?? delay_ms,
      status: answer?.kind === "status" ? answer.status : undefined,
      wire: effect.wire?.fault,
      reasons: [...(struck?.reasons ?? []), `${armed.key} struck: ${why}`],
    };
    if (struck.status !== undefined || struck.wire !== undefined) break;
  }
  return struck;
}
