import {
  type Check,
  type Finding,
  failed,
  isAccepted,
  isPutOff,
  isSlowedDown,
  notObservable,
  passed,
} from "../check.ts";
import type { Delivery } from "../delivery.ts";
import { describe } from "../describe-exchange.ts";
import { deliverWhenFree, judgeNotAccepted, NO_PROBE } from "../expectations.ts";
import { seconds } from "../probe.ts";
import type { Exchange, Session } from "../session.ts";

/** How many of the others travel at once, and how long all of them may take together. */
const AT_ONCE = 4;
const MAX_FILLING_MS = 15_000;

export const longMemory: Check = {
  id: "long-memory",
  title: "Remembers a delivery behind many others, and after a while",
  severity: "critical",
  why: "The last retry comes 7 h 21 min after the first attempt, behind everything that happened meanwhile; an id that was forgotten by then is processed twice.",
  advice:
    "Keep the ids of deliveries for at least 24 hours, however many there are, in a table with a unique key: not in a list of the last few, nor in a cache that expires.",
  mends: ["conflict", "bad-request", "gone", "invalid", "exception"],
  async run(session) {
    const { first, options } = session;
    if (first === null) return notObservable("no delivery was accepted");
    if (!options.probe) return notObservable(`not tried: ${NO_PROBE}`);
    const delivery = session.makeDelivery();
    const exchange = await session.deliver(delivery);
    if (!isAccepted(exchange)) return judgeNotAccepted(session, exchange, "before the others");
    const { taken: others, putOff } = await deliverOthers(session);
    const afterOthers = await repeat(session, { delivery, when: `behind ${others} others` });
    if (afterOthers.outcome !== "passed") return afterOthers;
    await session.pause(Math.max(0, first.at + options.memoryMs - performance.now()));
    const when = `after ${seconds(performance.now() - first.at)}`;
    const afterWhile = await repeat(session, { delivery: first.delivery, when });
    if (afterWhile.outcome !== "passed") return afterWhile;
    // That it remembers many is not seen in one that put them off; that it forgets a few would have been.
    if (putOff !== null) {
      return notObservable(
        `it took ${others} of ${options.memoryDeliveries} others, then the receiver ${describe(putOff)}; a repetition behind these, and one ${when}, had no side effect`,
        putOff,
      );
    }
    return passed(
      `a repetition behind ${others} others, and one ${when}, had no side effect`,
      afterWhile.exchange,
    );
  },
};

/** As many as asked for, or as many as the receiver takes in the time; how many it took, and what ended it early. */
async function deliverOthers(session: Session): Promise<{ taken: number; putOff: Exchange | null }> {
  const giveUp = performance.now() + MAX_FILLING_MS;
  let left = session.options.memoryDeliveries;
  let taken = 0;
  let putOff: Exchange | null = null;
  const fill = async () => {
    while (left > 0 && performance.now() < giveUp) {
      left -= 1;
      const other = session.makeDelivery();
      const once = await session.deliverOnce(other, { reuse: session.reusesConnections });
      const exchange = asksForLittle(once) ? await session.deliver(other) : once;
      if (isAccepted(exchange)) taken += 1;
      // It has a limit of its own, and what it says of memory is worth more than what it says of load.
      if (!isPutOff(exchange)) continue;
      left = 0;
      putOff ??= exchange;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, fill));
  return { taken, putOff };
}

/** A longer wait for each of hundreds would be too much of the time that there is. */
function asksForLittle(exchange: Exchange): boolean {
  const { result } = exchange;
  if (!isSlowedDown(exchange) || result.kind !== "answer") return false;
  return Number(result.headers["retry-after"] ?? Number.NaN) <= 1;
}

async function repeat(
  session: Session,
  { delivery, when }: { delivery: Delivery; when: string },
): Promise<Finding> {
  const before = await session.readProbe();
  const exchange = await deliverWhenFree(session, delivery);
  if (!isAccepted(exchange)) return judgeNotAccepted(session, exchange, `a repetition ${when}`);
  const effects = await session.observeEffects(before, new Map([[delivery.id, 0]]));
  if (effects === null || effects.difference === null)
    return passed(`a repetition ${when}: the receiver ${describe(exchange)}`, exchange);
  return failed(`a repetition ${when} was processed again`, exchange);
}
