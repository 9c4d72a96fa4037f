import { formatSeconds } from "../../../engine/contract/text.ts";
import {
  type Check,
  checkEffects,
  deliverInTurn,
  deliverWhenFree,
  explainNotAccepted,
  toOneEffectEach,
} from "../check.ts";
import { createId, type RequestVariant, type TestDelivery } from "../delivery.ts";
import { describeResult } from "../failure-kind.ts";
import {
  type Finding,
  failed,
  getStatus,
  isAccepted,
  isDeferred,
  isRateLimited,
  notObservable,
  passed,
  reportMissingProbe,
} from "../finding.ts";
import type { ProbeReading } from "../probe.ts";
import type { Attempt, Session } from "../session.ts";
import { DEDUPLICATE } from "./duplicates.ts";

// Retries, lost answers, order and memory over the retry schedule of 6.4.

const MAX_ATTEMPTS = 6;

export const retryAfter5xx: Check = {
  id: "retry-after-5xx",
  title: "The same delivery again after a 5xx, with others in between, has one side effect",
  severity: "critical",
  why: "A gateway can answer 502 although the receiver has done the work; the retry comes a minute or hours later, after other deliveries.",
  advice: `${DEDUPLICATE} Keep the ids for at least 24 hours, not only the last one, and delete an id whose processing failed.`,
  adviceAppliesTo: ["conflict", "bad-request", "gone", "invalid", "exception"],
  async run(session) {
    const before = await session.readProbe();
    const [retried, ...others] = Array.from({ length: 3 }, () => session.makeDelivery());
    // The first answer counts as lost behind a 502, whatever it is.
    await session.deliver(retried!);
    for (const delivery of [others[0]!, retried!, others[1]!, retried!]) {
      const attempt = await deliverWithRetries(session, delivery);
      if (!isAccepted(attempt)) return explainNotAccepted(session, attempt, "the last attempt");
    }
    return checkEffects(session, { before, expected: toOneEffectEach([retried!, ...others]) });
  },
};

/** Real 5xx answers are retried as the service does, without waiting in between. */
async function deliverWithRetries(session: Session, delivery: TestDelivery): Promise<Attempt> {
  let attempt = await session.deliver(delivery);
  for (let number = 2; number <= MAX_ATTEMPTS && getStatus(attempt) >= 500; number += 1)
    attempt = await session.deliver(delivery);
  return attempt;
}

export const timeoutAfterCommit: Check = {
  id: "timeout-after-commit",
  title: "A delivery that timed out and is then retried has one side effect",
  severity: "critical",
  why: "When the deadline passes while the receiver works, the service hangs up and retries, although the work still completes.",
  advice:
    "Record the delivery id together with the side effect, not when the answer is sent; a client that hangs up must change nothing.",
  adviceAppliesTo: ["bad-request", "gone", "invalid", "exception"],
  async run(session) {
    const before = await session.readProbe();
    const delivery = session.makeDelivery();
    await session.deliver(delivery, { leave: "after-body" });
    // Lets the receiver finish, if a probe shows when it has.
    await session.readProbe();
    await session.deliver(delivery, { leave: "at-answer" });
    await session.readProbe();
    const attempt = await deliverWhenFree(session, delivery);
    if (!isAccepted(attempt)) return explainNotAccepted(session, attempt, "the retry");
    return checkEffects(session, { before, expected: toOneEffectEach([delivery]) });
  },
};

/** When the last retry is due, counted from the first attempt (section 6.4, G24). */
const WHOLE_SCHEDULE_MS = (7 * 60 + 21) * 60_000;

/** The failures of the five attempts before the last one. */
const FAILURES: { label: string; variant: RequestVariant | undefined }[] = [
  { label: "the connection breaks within the body", variant: { leave: "mid-body" } },
  { label: "the deadline passes after the body", variant: { leave: "after-body" } },
  { label: "the connection breaks within the answer", variant: { leave: "at-answer" } },
  { label: "the answer is lost behind a gateway", variant: undefined },
  { label: "the connection breaks within the body again", variant: { leave: "mid-body" } },
];

const SURVIVE_FAILURES =
  "Don't refuse old timestamps within 24 hours, don't remember deliveries that didn't complete, and survive connections that break.";

export const wholeSchedule: Check = {
  id: "whole-schedule",
  title: "Recovers after failures over the whole schedule",
  severity: "critical",
  why: "The sixth and last attempt comes 7 h 21 min after the event; if the receiver finds it too old, or already seen since an attempt that failed, the event is lost for good.",
  advice: SURVIVE_FAILURES,
  adviceAppliesTo: ["bad-request", "unauthorized", "conflict", "gone", "invalid", "exception", "hung-up"],
  async run(session) {
    const before = await session.readProbe();
    // The check does not wait: the payload is as old as it would be at the last attempt.
    const delivery = session.makeDelivery({ at: Date.now() - WHOLE_SCHEDULE_MS });
    const others = FAILURES.map(() => session.makeDelivery());
    for (const [index, { label, variant }] of FAILURES.entries()) {
      await session.deliver(delivery, variant);
      const other = await session.deliver(others[index]!);
      if (isAccepted(other)) continue;
      return explainNotAccepted(session, other, `attempt ${index + 1}: ${label}; then another delivery`);
    }
    const attempt = await deliverWhenFree(session, delivery);
    if (!isAccepted(attempt)) return explainNotAccepted(session, attempt, "attempt 6");
    const expected = toOneEffectEach([delivery, ...others]);
    return checkEffects(session, { before, expected, whenMissing: SURVIVE_FAILURES });
  },
};

const ACCEPT_LATE_EVENTS =
  "Don't refuse or drop by the payload's timestamp; where order matters, compare versions of the object when applying the change, and still count the delivery as processed.";

const USER_EVENTS = ["user.created", "user.updated", "user.deleted"];
const MINUTE_MS = 60_000;

export const outOfOrder: Check = {
  id: "out-of-order",
  title: "Accepts deliveries out of order",
  severity: "major",
  why: "Retries overtake one another: an older event can arrive hours after a newer one, and must not be refused or dropped.",
  advice: ACCEPT_LATE_EVENTS,
  adviceAppliesTo: ["bad-request", "not-found", "conflict", "gone", "invalid", "exception"],
  async run(session) {
    const start = await session.readProbe();
    const inOrder = makeUserEvents(session, 0);
    const failure = await deliverInTurn(session, inOrder);
    if (failure) return failure;
    const before = await session.readProbe();
    // An event that has no effect in order needs none out of order.
    const usedEvents = findUsedEvents(inOrder, start, before);
    const reversed = makeUserEvents(session, MINUTE_MS).reverse();
    const lateFailure = await deliverInTurn(session, reversed);
    if (lateFailure) return lateFailure;
    if (usedEvents === null)
      return reportMissingProbe(session, "all answers are right, but ", session.attempts.at(-1)!);
    const expected = new Map(reversed.map(({ id, event }) => [id, usedEvents.has(event) ? 1 : 0]));
    return checkEffects(session, { before, expected, whenMissing: ACCEPT_LATE_EVENTS });
  },
};

/** Events whose deliveries had a side effect; null without a probe. With a mere count, the first ones are assumed. */
function findUsedEvents(
  deliveries: readonly TestDelivery[],
  before: ProbeReading | null,
  after: ProbeReading | null,
): ReadonlySet<string> | null {
  if (before === null || after === null) return null;
  const { ids } = after;
  const usedDeliveries =
    ids === null
      ? deliveries.slice(0, after.count - before.count)
      : deliveries.filter(({ id }) => ids.includes(id));
  return new Set(usedDeliveries.map(({ event }) => event));
}

/** A user is created, updated and deleted, `apartMs` after each other; the last event is now. */
function makeUserEvents(session: Session, apartMs: number): TestDelivery[] {
  const user_id = session.options.data["user_id"] ?? createId("usr");
  const now = Date.now();
  return USER_EVENTS.map((event, index) => {
    const at = now - (USER_EVENTS.length - 1 - index) * apartMs;
    return session.makeDelivery({ event, at, data: { user_id } });
  });
}

/** How many of the other deliveries are sent at once, and how long all of them may take. */
const FILLING_AT_ONCE = 4;
const MAX_FILLING_MS = 5_000;

export const longMemory: Check = {
  id: "long-memory",
  title: "Remembers a delivery after many others, and after a while",
  severity: "critical",
  why: "The last retry comes 7 h 21 min after the first attempt, after everything that happened meanwhile; an id that is no longer remembered is processed twice.",
  advice:
    "Keep the ids of deliveries for at least 24 hours, however many there are, in a table with a unique key: not in a list of the last few, nor in a cache that expires.",
  adviceAppliesTo: ["conflict", "bad-request", "gone", "invalid", "exception"],
  async run(session) {
    const { firstAccepted, options } = session;
    if (firstAccepted === null) return notObservable("no delivery was accepted");
    if (!options.probe) return reportMissingProbe(session, "not tried: ");
    let othersCount = session.acceptedIds.size - 1;
    let deferred: Attempt | null = null;
    // A slow receiver that has accepted enough deliveries in earlier checks gets no more: the repetition of the first
    // delivery below tests its memory just as well.
    if (!session.isSlow || othersCount < MAX_FILLING_MS / session.fastestMs) {
      const delivery = session.makeDelivery();
      const attempt = await session.deliver(delivery);
      if (!isAccepted(attempt)) return explainNotAccepted(session, attempt, "before the others");
      ({ accepted: othersCount, deferred } = await deliverOthers(session));
      const afterOthers = await repeat(session, { delivery, when: `after ${othersCount} others` });
      if (afterOthers.outcome !== "passed") return afterOthers;
    }
    await session.pause(Math.max(0, firstAccepted.at + options.memoryMs - performance.now()));
    const when = `after ${formatSeconds(performance.now() - firstAccepted.at)}`;
    const afterWhile = await repeat(session, { delivery: firstAccepted.delivery, when });
    if (afterWhile.outcome !== "passed") return afterWhile;
    // After too few others, a second side effect proves a failure, but its absence does not prove a long memory.
    if (deferred !== null)
      return notObservable(
        `it accepted ${othersCount} of ${options.memoryDeliveries} others, then the receiver ${describeResult(deferred)}; a repetition after these, and one ${when}, had no side effect`,
        deferred,
      );
    return passed(
      `a repetition after ${othersCount} others, and one ${when}, had no side effect`,
      afterWhile.attempt,
    );
  },
};

/** Sends the others, or as many as the receiver accepts in the time; `deferred`: the attempt whose answer asked to wait. */
async function deliverOthers(session: Session): Promise<{ accepted: number; deferred: Attempt | null }> {
  const giveUp = performance.now() + MAX_FILLING_MS;
  let remaining = session.options.memoryDeliveries;
  let accepted = 0;
  let deferred: Attempt | null = null;
  const fill = async () => {
    while (remaining > 0 && performance.now() < giveUp) {
      remaining -= 1;
      const other = session.makeDelivery();
      const firstAttempt = await session.deliverOnce(other, { reuse: session.reusesConnections });
      const attempt = asksForShortWait(firstAttempt) ? await session.deliver(other) : firstAttempt;
      if (isAccepted(attempt)) accepted += 1;
      if (!isDeferred(attempt)) continue;
      // The receiver is limited or overloaded; the deliveries that it has accepted still test its memory.
      remaining = 0;
      deferred ??= attempt;
    }
  };
  await Promise.all(Array.from({ length: FILLING_AT_ONCE }, fill));
  return { accepted, deferred };
}

/** A longer wait for each of hundreds would take too long. */
function asksForShortWait(attempt: Attempt): boolean {
  return isRateLimited(attempt) && Number(attempt.result.headers["retry-after"] ?? Number.NaN) <= 1;
}

async function repeat(
  session: Session,
  { delivery, when }: { delivery: TestDelivery; when: string },
): Promise<Finding> {
  const before = await session.readProbe();
  const attempt = await deliverWhenFree(session, delivery);
  if (!isAccepted(attempt)) return explainNotAccepted(session, attempt, `a repetition ${when}`);
  const effects = await session.observeEffects(before, new Map([[delivery.id, 0]]));
  if (effects === null || effects.difference === null)
    return passed(`a repetition ${when}: the receiver ${describeResult(attempt)}`, attempt);
  return failed(`a repetition ${when} was processed again`, attempt);
}
