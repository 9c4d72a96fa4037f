import { type Check, notObservable } from "../check.ts";
import { type Delivery, freshId } from "../delivery.ts";
import { deliverInTurn, judgeEffects, NO_PROBE } from "../expectations.ts";
import type { ProbeReading } from "../probe.ts";
import type { Session } from "../session.ts";

const ADVICE =
  "Don't refuse or drop by the payload's timestamp; where order matters, compare versions of the object when applying the change, and count the delivery as processed all the same.";

const LIFE = ["user.created", "user.updated", "user.deleted"];
const MINUTE_MS = 60_000;

export const outOfOrder: Check = {
  id: "out-of-order",
  title: "Accepts deliveries out of order",
  severity: "major",
  why: "Retries overtake one another: an older event can arrive hours after a newer one, and must not be refused or dropped.",
  advice: ADVICE,
  mends: ["bad-request", "not-found", "conflict", "gone", "invalid", "exception"],
  async run(session) {
    const start = await session.readProbe();
    const inOrder = lifeOfUser(session, 0);
    const refusal = await deliverInTurn(session, inOrder);
    if (refusal) return refusal;
    const before = await session.readProbe();
    // What the receiver has no use for it may ignore, in this order as in the other.
    const used = eventsUsed(inOrder, start, before);
    const reversed = lifeOfUser(session, MINUTE_MS).reverse();
    const late = await deliverInTurn(session, reversed);
    if (late) return late;
    if (used === null) {
      return notObservable(`answered as it should be, but ${NO_PROBE}`, session.exchanges.at(-1)!);
    }
    const expected = new Map(reversed.map(({ id, event }) => [id, used.has(event) ? 1 : 0]));
    return judgeEffects(session, { before, expected, whenMissing: ADVICE });
  },
};

/** Events whose deliveries had a side effect; null where no probe tells. A bare count tells only how many. */
function eventsUsed(
  deliveries: readonly Delivery[],
  before: ProbeReading | null,
  after: ProbeReading | null,
): ReadonlySet<string> | null {
  if (before === null || after === null) return null;
  const { ids } = after;
  const used =
    ids === null
      ? deliveries.slice(0, after.count - before.count)
      : deliveries.filter(({ id }) => ids.includes(id));
  return new Set(used.map(({ event }) => event));
}

/** A user comes, changes and goes, so long apart; the last of it now, and all of it where nothing lies between. */
function lifeOfUser(session: Session, apartMs: number): Delivery[] {
  const user_id = session.options.data["user_id"] ?? freshId("usr");
  const now = Date.now();
  return LIFE.map((event, index) => {
    const at = now - (LIFE.length - 1 - index) * apartMs;
    return session.makeDelivery({ event, at, data: { user_id } });
  });
}
