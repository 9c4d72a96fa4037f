import type { Check as AnyCheck } from "../checks/run-checks.ts";
import type { DeliveryShape, RequestVariant, TestDelivery } from "./delivery.ts";
import { describeResult, type FailureKind, STORE_THEN_ANSWER } from "./failure-kind.ts";
import {
  adviseIfLate,
  type Finding,
  failed,
  getStatus,
  isAccepted,
  isDeferred,
  isOverloaded,
  isRefused,
  notObservable,
  passed,
  reportMissingProbe,
} from "./finding.ts";
import type { ExpectedEffects, ProbeReading } from "./probe.ts";
import type { Severity } from "./report.ts";
import { type Attempt, type Session, WebhookGone } from "./session.ts";

/** A check of receivers, without its code. */
export interface CheckDescription {
  id: string;
  title: string;
  severity: Severity;
  /** One sentence: what goes wrong in production when the check fails. */
  why: string;
  /** The fix if a delivery was accepted, or processed, and should not have been. */
  advice: string;
  /** Further kinds of answers that this advice fits; for all others, the advice follows from the answer. */
  adviceAppliesTo?: readonly FailureKind[];
}

/** A requirement on receivers. `checks/` has one file per family of checks. */
export interface Check extends AnyCheck<Session, Finding>, CheckDescription {}

/** A delivery that a check sends: genuine, or changed in one way. */
export interface Case {
  /** The name in findings. */
  label: string;
  shape?: DeliveryShape;
  variant?: RequestVariant;
  /** Changes the genuine delivery; `signature` is its own: `sha256=` and 64 hex digits. */
  change?: (given: { delivery: TestDelivery; signature: string; session: Session }) => Partial<TestDelivery>;
  /** Another case finds the same problems, so a slow receiver does not get this one. */
  skipForSlow?: boolean;
}

type Cases = readonly Case[] | ((session: Session) => readonly Case[]);

/** A check that passes when every case is accepted. */
export function defineAcceptCheck({ cases, ...about }: Omit<Check, "run"> & { cases: Cases }): Check {
  return { ...about, run: (session) => expectAccepted(session, listCases(cases, session)) };
}

/** A check that passes when every case is refused (see `expectRefused`). */
export function defineRefuseCheck({
  cases,
  anyNon2xxPasses,
  ...about
}: Omit<Check, "run"> & { cases: Cases; anyNon2xxPasses?: boolean }): Check {
  return {
    ...about,
    run: (session) => expectRefused(session, listCases(cases, session), { anyNon2xxPasses }),
  };
}

function listCases(cases: Cases, session: Session): readonly Case[] {
  return typeof cases === "function" ? cases(session) : cases;
}

/**
 * Returns a function that wraps several checks. A slow receiver gets `cases`, which combine those of all these checks,
 * once; only if they fail does it get the cases of each check.
 */
export function combineCases(cases: Cases, expect: typeof expectAccepted): (check: Check) => Check {
  const findings = new WeakMap<Session, Finding>();
  return (check) => ({
    ...check,
    async run(session) {
      if (!session.isSlow) return check.run(session);
      const finding = findings.get(session) ?? (await expect(session, listCases(cases, session)));
      findings.set(session, finding);
      return finding.outcome === "passed" ? finding : check.run(session);
    },
  });
}

function prepareCases(session: Session, cases: readonly Case[]): PreparedCase[] {
  return cases
    .filter(({ skipForSlow }) => !skipForSlow || !session.isSlow)
    .map((one) => ({ ...one, delivery: makeCaseDelivery(session, one) }));
}

/** Each delivery has its own id. */
function makeCaseDelivery(session: Session, { shape, change }: Case): TestDelivery {
  const delivery = session.makeDelivery(shape);
  return { ...delivery, ...change?.({ delivery, signature: delivery.signature!, session }) };
}

/** Makes the finding for a delivery that should have been accepted, and was not. */
export async function explainNotAccepted(
  session: Session,
  attempt: Attempt,
  label: string,
): Promise<Finding> {
  if (isDeferred(attempt)) return judgeDeferred(session, attempt, label);
  return failed(`${label}: the receiver ${describeResult(attempt)}, where 2xx is expected`, attempt);
}

/** Sends all deliveries; passes if every one is answered 2xx. */
export async function expectAccepted(session: Session, cases: readonly Case[]): Promise<Finding> {
  const prepared = prepareCases(session, cases);
  const attempts = await deliverAll(session, prepared);
  const index = attempts.findIndex((attempt) => !isAccepted(attempt));
  if (index >= 0) return explainNotAccepted(session, attempts[index]!, prepared[index]!.label);
  const last = attempts.at(-1)!;
  return passed(`the receiver ${describeResult(last)}`, last);
}

type PreparedCase = Case & { delivery: TestDelivery };

/** Sends as many at once as the receiver can answer in time, and repeats those answered 503 one by one. */
async function deliverAll(session: Session, prepared: readonly PreparedCase[]): Promise<Attempt[]> {
  const size = session.calculateConcurrency();
  const all: Attempt[] = [];
  for (let start = 0; start < prepared.length; start += size) {
    const group = prepared.slice(start, start + size);
    const sent = group.map(({ delivery, variant }) => session.deliver(delivery, variant));
    for (const [index, attempt] of (await Promise.all(sent)).entries()) {
      const { delivery, variant } = group[index]!;
      all.push(isOverloaded(attempt) ? await session.deliver(delivery, variant) : attempt);
    }
  }
  return all;
}

/**
 * Sends all deliveries; passes when every one is answered 4xx and, with a probe, none had a side effect.
 * `anyNon2xxPasses`: everything that is not 2xx passes, since another check is about how the receiver refuses.
 */
export async function expectRefused(
  session: Session,
  cases: readonly Case[],
  { anyNon2xxPasses = false }: { anyNon2xxPasses?: boolean | undefined } = {},
): Promise<Finding> {
  const before = await session.readProbe();
  const prepared = prepareCases(session, cases);
  const expected = new Map(prepared.map(({ delivery }) => [delivery.id, 0]));
  const attempts = await deliverAll(session, prepared);
  for (const [index, attempt] of attempts.entries()) {
    const { label } = prepared[index]!;
    if (isDeferred(attempt)) {
      const other = await deliverAnother(session);
      // A receiver that accepts another delivery meanwhile has refused this one, in its own way.
      if (!anyNon2xxPasses || !isAccepted(other)) return judgeDeferredByOther(attempt, { label, other });
      // A mere count includes the other's side effect.
      if (before?.ids === null) expected.set(other.delivery!.id, 1);
      continue;
    }
    if (anyNon2xxPasses ? !isAccepted(attempt) : isRefused(attempt)) continue;
    return failed(`${label}: the receiver ${describeResult(attempt)}, where 4xx is expected`, attempt);
  }
  const last = attempts.at(-1)!;
  const effects = await session.observeEffects(before, expected);
  if (effects !== null && effects.difference !== null) {
    const advice =
      "Verify the signature before anything is done with the delivery: refusing it is not enough.";
    return { ...failed(`the delivery was refused and yet processed: ${effects.difference}`, last), advice };
  }
  return passed(`the receiver ${describeResult(last)}`, last);
}

/** Answers of a receiver that is still busy with the same delivery. */
const BUSY_STATUSES = new Set([409, 423, 425, 500, 502, 503, 504]);

/**
 * Sends a delivery that the receiver may be working on already: while it answers that it is busy, the delivery is sent
 * again for as long as the session's patience lasts (the service would wait a minute in between).
 */
export async function deliverWhenFree(session: Session, delivery: TestDelivery): Promise<Attempt> {
  const giveUp = performance.now() + session.options.patienceMs;
  for (;;) {
    const attempt = await session.deliver(delivery);
    if (!BUSY_STATUSES.has(getStatus(attempt)) || performance.now() >= giveUp) return attempt;
    await session.pause(200);
  }
}

/** Sends deliveries one after another. Returns the finding for the first that was not accepted, or null. */
export async function deliverInTurn(session: Session, deliveries: TestDelivery[]): Promise<Finding | null> {
  for (const [index, delivery] of deliveries.entries()) {
    const attempt = await session.deliver(delivery);
    if (isAccepted(attempt)) continue;
    const again = deliveries.indexOf(delivery) < index ? " (a repetition)" : "";
    return explainNotAccepted(session, attempt, `delivery ${index + 1}${again}`);
  }
  return null;
}

/** The fix for a delivery that was acknowledged, but not processed. */
const LOST_ADVICE = `A delivery that is acknowledged must be processed. ${STORE_THEN_ANSWER}`;

/** Compares the probe's reading with the expected side effects, once all answers were right. */
export async function checkEffects(
  session: Session,
  observed: {
    before: ProbeReading | null;
    expected: ExpectedEffects;
    /** The fix for a missing side effect, if the check knows its cause. */
    whenMissing?: string;
  },
): Promise<Finding> {
  const attempt = session.attempts.at(-1)!;
  const effects = await session.observeEffects(observed.before, observed.expected);
  if (effects === null) return reportMissingProbe(session, "all answers are right, but ", attempt);
  if (effects.difference === null)
    return passed("all answers are right, and the probe shows exactly one side effect each", attempt);
  const finding = failed(effects.difference, attempt);
  if (!effects.missing) return finding;
  return { ...finding, advice: `${observed.whenMissing ?? LOST_ADVICE} ${adviseIfLate(session)}` };
}

export function toOneEffectEach(deliveries: readonly TestDelivery[]): ExpectedEffects {
  return new Map(deliveries.map(({ id }) => [id, 1]));
}

/** Sends another valid delivery, to find out whether the receiver defers all deliveries or only one. */
function deliverAnother(session: Session): Promise<Attempt> {
  return session.deliverOnce(session.makeDelivery(), { reuse: false });
}

/**
 * Makes the finding for a lasting 429, or a 503. If the receiver defers every delivery, that proves nothing; if it
 * accepts another one meanwhile, it refuses this one.
 */
export async function judgeDeferred(session: Session, attempt: Attempt, label: string): Promise<Finding> {
  return judgeDeferredByOther(attempt, { label, other: await deliverAnother(session) });
}

function judgeDeferredByOther(
  attempt: Attempt,
  { label, other }: { label: string; other: Attempt },
): Finding {
  // The session sends a delivery again after a 429, but not after a 503.
  const repetition = isOverloaded(attempt) ? "" : ", again and again";
  const answer = `${label}: the receiver ${describeResult(attempt)}${repetition}`;
  if (isDeferred(other))
    return notObservable(`${answer}; it answers other deliveries in the same way`, attempt);
  if (isAccepted(other)) return failed(`${answer}, while it accepted another delivery`, attempt);
  return failed(`${answer}; to another delivery it ${describeResult(other)}`, attempt);
}

/**
 * Whether a receiver answers 503 to genuine deliveries for longer than the patience. Then it is down behind
 * its gateway, and grading stops.
 */
export async function staysOverloaded(session: Session, attempts: readonly Attempt[]): Promise<boolean> {
  const last = attempts.findLast(({ genuine }) => genuine);
  if (last === undefined || !isOverloaded(last)) return false;
  const giveUp = performance.now() + session.options.patienceMs;
  try {
    const delivery = session.makeDelivery();
    // Some receivers accept each delivery at the second attempt only.
    for (let number = 1; ; number += 1) {
      if (!isOverloaded(await session.deliver(delivery))) return false;
      if (number > 1 && performance.now() >= giveUp) return true;
      await session.pause(200);
    }
  } catch (error) {
    if (error instanceof WebhookGone) return false;
    throw error;
  }
}
