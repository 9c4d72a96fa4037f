import { type Check, isAccepted } from "../check.ts";
import { deliverWhenFree, judgeEffects, judgeNotAccepted, onceEach } from "../expectations.ts";
import { STORE_THEN_ANSWER } from "../trouble.ts";

const DELIVERIES = 24;

export const distinctAtOnce: Check = {
  id: "distinct-at-once",
  title: "Different deliveries at the same time are each processed",
  severity: "critical",
  why: "Events come in bursts: what requests share in memory mixes them up, and a queue that is full and says 2xx all the same loses them.",
  advice: `Keep what belongs to a request in variables of that request. ${STORE_THEN_ANSWER} Answer 503 to what you have no room for.`,
  mends: ["unauthorized", "bad-request", "invalid", "conflict", "exception"],
  async run(session) {
    const before = await session.readProbe();
    // One instant for all: whether a millisecond passes while they are made must not decide what is blamed.
    const at = Date.now();
    const deliveries = Array.from({ length: DELIVERIES }, () => session.makeDelivery({ at }));
    const waiting = [...deliveries];
    const deliverNext = async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const exchange = await deliverWhenFree(session, next);
        if (isAccepted(exchange)) continue;
        waiting.length = 0;
        return exchange;
      }
      return null;
    };
    const refused = await Promise.all(Array.from({ length: 2 * session.atOnce() }, deliverNext));
    const [first] = refused.filter((exchange) => exchange !== null);
    if (first) return judgeNotAccepted(session, first, "one of several at once");
    return judgeEffects(session, { before, expected: onceEach(deliveries), whenMissing: this.advice });
  },
};
