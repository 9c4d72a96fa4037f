import { type Check, isAccepted, statusOf } from "../check.ts";
import type { Delivery } from "../delivery.ts";
import { judgeEffects, judgeNotAccepted, onceEach } from "../expectations.ts";
import type { Exchange, Session } from "../session.ts";
import { DEDUPLICATE } from "./duplicate.ts";

/** 6.4 */
const MAX_ATTEMPTS = 6;

export const retryAfter5xx: Check = {
  id: "retry-after-5xx",
  title: "The same delivery again after a 5xx, with others in between, has one side effect",
  severity: "critical",
  why: "A gateway can answer 502 although the receiver had done the work; the retry comes a minute or hours later, behind other deliveries.",
  advice: `${DEDUPLICATE} Keep the ids for at least 24 hours, not only the last one, and forget an id whose processing failed.`,
  mends: ["conflict", "bad-request", "gone", "invalid", "exception"],
  async run(session) {
    const before = await session.readProbe();
    const [retried, ...others] = Array.from({ length: 3 }, () => session.makeDelivery());
    // The first answer is taken for lost behind a 502, whatever it is.
    await session.deliver(retried!);
    for (const delivery of [others[0]!, retried!, others[1]!, retried!]) {
      const exchange = await deliverWithRetries(session, delivery);
      if (!isAccepted(exchange)) return judgeNotAccepted(session, exchange, "the last attempt");
    }
    return judgeEffects(session, { before, expected: onceEach([retried!, ...others]) });
  },
};

/** Real 5xx answers are retried like the service does, without waiting in between. */
async function deliverWithRetries(session: Session, delivery: Delivery): Promise<Exchange> {
  let exchange = await session.deliver(delivery);
  for (let attempt = 2; attempt <= MAX_ATTEMPTS && statusOf(exchange) >= 500; attempt += 1) {
    exchange = await session.deliver(delivery);
  }
  return exchange;
}
