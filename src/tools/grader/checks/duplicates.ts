import {
  type Check,
  checkEffects,
  deliverInTurn,
  deliverWhenFree,
  explainNotAccepted,
  toOneEffectEach,
} from "../check.ts";
import { createId, drawEventData, type TestDelivery } from "../delivery.ts";
import { describeResult, STORE_THEN_ANSWER } from "../failure-kind.ts";
import { failed, isAccepted, isDeferred, notObservable, passed, reportMissingProbe } from "../finding.ts";
import { countOccurrences } from "../probe.ts";
import type { Attempt, Session } from "../session.ts";

// Each delivery is processed exactly once: repeated ones, and different ones that look alike.

export const DEDUPLICATE =
  "Record the delivery id in the same transaction as the side effect (a unique key does both), and answer 2xx to a repetition.";

export const duplicate: Check = {
  id: "duplicate",
  title: "The same delivery twice has one side effect",
  severity: "critical",
  why: "Every delivery can arrive more than once (a lost answer is enough); the delivery id stays the same, so that you can recognize it.",
  advice: DEDUPLICATE,
  adviceAppliesTo: ["conflict", "bad-request", "gone", "invalid", "exception"],
  async run(session) {
    const before = await session.readProbe();
    const delivery = session.makeDelivery();
    const failure = await deliverInTurn(session, [delivery, delivery]);
    if (failure) return failure;
    const finding = await checkEffects(session, { before, expected: toOneEffectEach([delivery]) });
    const note = finding.outcome === "passed" ? await describeReplay(session, delivery) : null;
    return note ? { ...finding, note } : finding;
  },
};

/**
 * The header with the delivery id isn't signed, so a captured delivery can be sent again under another header. Only a
 * note, since the specification names both header and field for deduplication.
 */
async function describeReplay(session: Session, delivery: TestDelivery): Promise<string | null> {
  const before = await session.readProbe();
  const headerId = createId("del");
  await session.deliver(delivery, { headerDeliveryId: headerId });
  const after = await session.readProbe();
  if (!before || !after) return null;
  const wasProcessedAgain = (id: string) => countOccurrences(after, id) > countOccurrences(before, id);
  const hasEffect =
    after.ids === null ? after.count !== before.count : [delivery.id, headerId].some(wasProcessedAgain);
  if (!hasEffect) return null;
  return "Sent again with another X-Service-Delivery header, the same signed body was processed again. That header isn't covered by the signature: deduplicate by the body's delivery_id.";
}

/** How many copies arrive together, and how often: a race between check and record may not show in one round. */
const COPIES = 4;
const ROUNDS = 2;

export const duplicateAtOnce: Check = {
  id: "duplicate-at-once",
  title: "The same delivery several times at once has one side effect",
  severity: "critical",
  why: "A retry can overlap a slow first attempt; between “seen before?” and “remember it” there must be no gap.",
  advice: `${DEDUPLICATE} Looking first and recording later is a race; insert first and let the key decide.`,
  adviceAppliesTo: ["conflict", "exception"],
  async run(session) {
    const before = await session.readProbe();
    const deliveries: TestDelivery[] = [];
    while (deliveries.length < ROUNDS) {
      const delivery = session.makeDelivery();
      deliveries.push(delivery);
      const copies = await Promise.all(Array.from({ length: COPIES }, () => session.deliver(delivery)));
      // Copies may be refused, as long as one is accepted.
      if (!copies.some(isAccepted))
        return explainNotAccepted(session, copies[0]!, `none of ${COPIES} copies was accepted`);
      if (session.handlesOneByOne(copies)) break;
    }
    return checkEffects(session, { before, expected: toOneEffectEach(deliveries) });
  },
};

const WHOLE_ID =
  "Deduplicate by the whole delivery id and by nothing else: not by event and object, not by time or content.";

export const distinctDeliveries: Check = {
  id: "distinct-deliveries",
  title: "Deliveries that differ only in their id are each processed",
  severity: "critical",
  why: "The same thing can happen twice to the same object, within the same millisecond; only the delivery id distinguishes two events from one that was sent again.",
  advice: WHOLE_ID,
  adviceAppliesTo: ["conflict", "bad-request", "invalid", "exception"],
  async run(session) {
    const before = await session.readProbe();
    const deliveries = makeLookalikes(session);
    const failure = await deliverInTurn(session, deliveries);
    if (failure) return failure;
    return checkEffects(session, { before, expected: toOneEffectEach(deliveries), whenMissing: WHOLE_ID });
  },
};

/** The same event about the same object: a second later, then at the same instant, with ids that begin alike. */
function makeLookalikes(session: Session): TestDelivery[] {
  const { event, organizationId, webhookId, data: known } = session.options;
  const at = Date.now() - 2000;
  const data = drawEventData(event, {
    at,
    givenFields: { organization_id: organizationId, webhook_id: webhookId, ...known },
  });
  const idPrefix = createId("del").slice(0, -1);
  return [
    ...(session.isSlow ? [] : [session.makeDelivery({ data, at })]),
    session.makeDelivery({ data, at: at + 1000 }),
    session.makeDelivery({ data, at, id: `${idPrefix}1` }),
    session.makeDelivery({ data, at, id: `${idPrefix}2` }),
  ];
}

const BURST_SIZE = 16;
/**
 * Number of deliveries that a slow receiver gets before the burst; if it handles these one by one, a burst would show
 * no more.
 */
const FIRST_BURST_SIZE = 4;

export const distinctAtOnce: Check = {
  id: "distinct-at-once",
  title: "Different deliveries at the same time are each processed",
  severity: "critical",
  why: "Events come in bursts: requests that share memory mix them up, and a full queue that still answers 2xx loses them.",
  advice: `Keep each request's data in variables of that request. ${STORE_THEN_ANSWER} Answer 503 when you have no room.`,
  adviceAppliesTo: ["unauthorized", "bad-request", "invalid", "conflict", "exception"],
  async run(session) {
    const before = await session.readProbe();
    const deliveries: TestDelivery[] = [];
    for (const length of session.isSlow ? [FIRST_BURST_SIZE, BURST_SIZE] : [BURST_SIZE]) {
      // One instant for all, so that a millisecond that passes while they are made changes nothing.
      const at = Date.now();
      const burst = Array.from({ length }, () => session.makeDelivery({ at }));
      deliveries.push(...burst);
      const attempts = await deliverBurst(session, burst);
      const notAccepted = attempts.find((attempt) => !isAccepted(attempt));
      if (notAccepted) return explainNotAccepted(session, notAccepted, "one of several at once");
      if (session.handlesOneByOne(attempts)) break;
    }
    return checkEffects(session, { before, expected: toOneEffectEach(deliveries), whenMissing: this.advice });
  },
};

/** Sends more at once than the receiver may have room for, until one is not accepted. */
async function deliverBurst(session: Session, deliveries: readonly TestDelivery[]): Promise<Attempt[]> {
  const waiting = [...deliveries];
  const attempts: Attempt[] = [];
  const deliverNext = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const attempt = await deliverWhenFree(session, next);
      attempts.push(attempt);
      if (!isAccepted(attempt)) waiting.length = 0;
    }
  };
  await Promise.all(Array.from({ length: 2 * session.calculateConcurrency() }, deliverNext));
  return attempts;
}

const VERIFY_FIRST = "Verify the signature before anything is remembered or looked up.";

export const forgeryBeforeOriginal: Check = {
  id: "forgery-before-original",
  title: "A forged delivery doesn't make the genuine one a duplicate",
  severity: "major",
  why: "If the id is remembered before the signature is verified, anyone can suppress deliveries by sending their ids first.",
  advice: VERIFY_FIRST,
  adviceAppliesTo: ["conflict"],
  async run(session) {
    const before = await session.readProbe();
    const delivery = session.makeDelivery();
    const forged = await session.deliver({ ...delivery, signature: `sha256=${"0".repeat(64)}` });
    const failure = await deliverInTurn(session, [delivery]);
    if (failure) return failure;
    const expected = toOneEffectEach([delivery]);
    const finding = await checkEffects(session, { before, expected, whenMissing: VERIFY_FIRST });
    if (finding.outcome !== "passed" || !isDeferred(forged)) return finding;
    return notObservable(
      `the forged delivery may not have been read: the receiver ${describeResult(forged)}`,
      forged,
    );
  },
};

export const lateEffects: Check = {
  id: "late-effects",
  title: "Processes nothing a second time later",
  severity: "critical",
  why: "A job that repeats work done during the request, or a timer that finds it not done, doubles a side effect unnoticed.",
  advice:
    "Process each delivery in one place: at once, or from the queue. Mark it as done in the same transaction as the side effect.",
  async run(session) {
    const reading = await session.readProbe();
    if (reading === null) return reportMissingProbe(session, "");
    if (reading.ids === null) return passed("at the end the probe's count no longer changes");
    const once = findSentOnce(session);
    const repeated = once.find(({ delivery }) => countOccurrences(reading, delivery!.id) > 1);
    if (repeated === undefined)
      return passed(`none of ${once.length} deliveries that were sent once was processed twice`, once[0]);
    const times = countOccurrences(reading, repeated.delivery!.id);
    return failed(
      `delivery ${repeated.delivery!.id} was sent once, and by now processed ${times} times`,
      repeated,
    );
  },
};

function findSentOnce({ attempts }: Session): Attempt[] {
  const counts = new Map<string, number>();
  for (const { delivery } of attempts) {
    if (delivery !== null) counts.set(delivery.id, (counts.get(delivery.id) ?? 0) + 1);
  }
  return attempts.filter(({ delivery, genuine }) => genuine && counts.get(delivery!.id) === 1);
}
