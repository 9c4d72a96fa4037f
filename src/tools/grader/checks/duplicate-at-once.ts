import { type Check, isAccepted } from "../check.ts";
import { judgeEffects, judgeNotAccepted, onceEach } from "../expectations.ts";
import { DEDUPLICATE } from "./duplicate.ts";

/** How many copies arrive together, and how often: a race between check and record rarely shows at once. */
const COPIES = 4;
const ROUNDS = 3;

export const duplicateAtOnce: Check = {
  id: "duplicate-at-once",
  title: "The same delivery several times at once has one side effect",
  severity: "critical",
  why: "A retry can overlap a slow first attempt; between “seen before?” and “remember it” there must be no gap.",
  advice: `${DEDUPLICATE} Looking first and recording later is a race; insert first and let the key decide.`,
  mends: ["conflict", "exception"],
  async run(session) {
    const before = await session.readProbe();
    const deliveries = Array.from({ length: ROUNDS }, () => session.makeDelivery());
    for (const delivery of deliveries) {
      const copies = await Promise.all(Array.from({ length: COPIES }, () => session.deliver(delivery)));
      // A copy may well be told to come again later, as long as one is acknowledged.
      if (copies.some(isAccepted)) continue;
      return judgeNotAccepted(session, copies[0]!, `none of ${COPIES} copies was accepted`);
    }
    return judgeEffects(session, { before, expected: onceEach(deliveries) });
  },
};
