import { type Check, describe, type Finding, failed, isAccepted, judgeEffects, statusOf } from "../check.ts";
import { type Delivery, freshId } from "../delivery.ts";
import { occurrences } from "../probe.ts";
import type { Exchange, Session } from "../session.ts";

const DEDUPLICATE =
  "Record the delivery id in the same transaction as the side effect (a unique key does both), and answer 2xx to a repetition.";

const twice: Check = {
  id: "duplicate",
  title: "The same delivery twice has one side effect",
  severity: "critical",
  why: "Every delivery can arrive more than once (an answer lost on the way is enough); the delivery id stays the same, so that you can tell.",
  advice: DEDUPLICATE,
  async run(session) {
    const before = await session.readProbe();
    const delivery = session.makeDelivery();
    const refusal = await deliverInTurn(session, [delivery, delivery]);
    if (refusal) return refusal;
    const exchange = session.exchanges.at(-1)!;
    const finding = await judgeEffects(session, { before, expected: new Map([[delivery.id, 1]]), exchange });
    const note = finding.outcome === "passed" ? await replayNote(session, delivery) : null;
    return note ? { ...finding, note } : finding;
  },
};

/**
 * The header with the delivery id isn't signed: whoever captured a delivery can send it again under another
 * header. Told as a note, since the specification names header and field alike for deduplication.
 */
async function replayNote(session: Session, delivery: Delivery): Promise<string | null> {
  const before = await session.readProbe();
  const header = freshId("del");
  await session.deliver(delivery, { headerDeliveryId: header });
  const after = await session.readProbe();
  if (!before || !after) return null;
  const isAgain = (id: string) => occurrences(after, id) > occurrences(before, id);
  if (after.ids === null ? after.count === before.count : ![delivery.id, header].some(isAgain)) return null;
  return "Sent again with another X-Service-Delivery header, the same signed body was processed again. That header isn't covered by the signature: deduplicate by the body's delivery_id.";
}

/** How many copies arrive together, and how often: a race between check and record rarely shows at once. */
const COPIES = 4;
const ROUNDS = 3;

const atOnce: Check = {
  id: "duplicate-at-once",
  title: "The same delivery several times at once has one side effect",
  severity: "critical",
  why: "A retry can overlap a slow first attempt; between “seen before?” and “remember it” there must be no gap.",
  advice: `${DEDUPLICATE} Looking first and recording later is a race; insert first and let the key decide.`,
  async run(session) {
    const before = await session.readProbe();
    const deliveries = Array.from({ length: ROUNDS }, () => session.makeDelivery());
    for (const delivery of deliveries) {
      const copies = await Promise.all(Array.from({ length: COPIES }, () => session.deliver(delivery)));
      // A copy may well be told to come again later, as long as one is acknowledged.
      if (copies.some(isAccepted)) continue;
      return failed(
        `none of ${COPIES} copies was accepted: the receiver ${describe(copies[0]!)}`,
        copies[0]!,
      );
    }
    const expected = new Map(deliveries.map(({ id }) => [id, 1]));
    return judgeEffects(session, { before, expected, exchange: session.exchanges.at(-1)! });
  },
};

const afterServerError: Check = {
  id: "retry-after-5xx",
  title: "The same delivery again after a 5xx, with others in between, has one side effect",
  severity: "critical",
  why: "A gateway can answer 502 although the receiver had done the work; the retry comes a minute or hours later, behind other deliveries.",
  advice: `${DEDUPLICATE} Keep the ids for at least 24 hours, not only the last one, and forget an id whose processing failed.`,
  async run(session) {
    const before = await session.readProbe();
    const [retried, ...others] = Array.from({ length: 3 }, () => session.makeDelivery());
    // The first answer is taken for lost behind a 502, whatever it is.
    await session.deliver(retried!);
    for (const delivery of [others[0]!, retried!, others[1]!, retried!]) {
      const exchange = await deliverWithRetries(session, delivery);
      if (!isAccepted(exchange))
        return failed(`the last attempt: the receiver ${describe(exchange)}`, exchange);
    }
    const expected = new Map([retried!, ...others].map(({ id }) => [id, 1]));
    return judgeEffects(session, { before, expected, exchange: session.exchanges.at(-1)! });
  },
};

const refusedBefore: Check = {
  id: "forgery-before-original",
  title: "A forged delivery doesn't make the genuine one a duplicate",
  severity: "major",
  why: "If the id is remembered before the signature is verified, anyone can suppress deliveries by sending their ids first.",
  advice: "Verify the signature before anything is remembered or looked up.",
  async run(session) {
    const before = await session.readProbe();
    const delivery = session.makeDelivery();
    await session.deliver({ ...delivery, signature: `sha256=${"0".repeat(64)}` });
    const refusal = await deliverInTurn(session, [delivery]);
    if (refusal) return refusal;
    const exchange = session.exchanges.at(-1)!;
    return judgeEffects(session, { before, expected: new Map([[delivery.id, 1]]), exchange });
  },
};

const outOfOrder: Check = {
  id: "out-of-order",
  title: "Accepts deliveries out of order",
  severity: "major",
  why: "Retries overtake one another: an older event can arrive hours after a newer one, and must not be refused or dropped.",
  advice:
    "Don't refuse by the payload's timestamp; where order matters, compare versions of the object when applying the change.",
  async run(session) {
    const before = await session.readProbe();
    const data = { user_id: freshId("usr"), email: "ada@example.com" };
    const deliveries = [
      session.makeDelivery({ event: "user.deleted", data }),
      session.makeDelivery({ event: "user.updated", data, ageMs: 60_000 }),
      session.makeDelivery({ event: "user.created", data, ageMs: 120_000 }),
    ];
    const refusal = await deliverInTurn(session, deliveries);
    if (refusal) return refusal;
    const exchange = session.exchanges.at(-1)!;
    const expected = new Map(deliveries.map(({ id }) => [id, 1]));
    // Not observable without a probe: a receiver may well answer 2xx and drop the older event.
    return judgeEffects(session, { before, expected, exchange });
  },
};

/** Real 5xx answers are retried like the service does, at most six attempts (6.4), without waiting in between. */
async function deliverWithRetries(session: Session, delivery: Delivery): Promise<Exchange> {
  let exchange = await session.deliver(delivery);
  for (let attempt = 2; attempt <= 6 && statusOf(exchange) >= 500; attempt += 1) {
    exchange = await session.deliver(delivery);
  }
  return exchange;
}

/** Null when every answer is 2xx, else the finding. */
async function deliverInTurn(session: Session, deliveries: Delivery[]): Promise<Finding | null> {
  for (const [index, delivery] of deliveries.entries()) {
    const exchange: Exchange = await session.deliver(delivery);
    if (isAccepted(exchange)) continue;
    const again = deliveries.indexOf(delivery) < index ? " (a repetition)" : "";
    return failed(
      `delivery ${index + 1}${again}: the receiver ${describe(exchange)}, where 2xx is expected`,
      exchange,
    );
  }
  return null;
}

export const repetition: Check[] = [twice, atOnce, afterServerError, refusedBefore, outOfOrder];
