import { formatSeconds } from "../../engine/contract/text.ts";
import type { Outcome } from "./report.ts";
import type { Attempt, Session } from "./session.ts";

export interface Finding {
  outcome: Outcome;
  detail: string;
  /** The request that proves it. */
  attempt: Attempt | null;
  note?: string;
  /** Replaces the check's advice if the cause is known. */
  advice?: string;
}

const createFinding =
  (outcome: Outcome) =>
  (detail: string, attempt: Attempt | null = null): Finding => ({ outcome, detail, attempt });

export const passed = createFinding("passed");
export const failed = createFinding("failed");
export const notObservable = createFinding("not-observable");
export const broken = createFinding("error");

/** The status answered, or 0 when there was no answer (as the service records it, G24). */
export function getStatus({ result }: Attempt): number {
  return result.response_code;
}

export function isAccepted(attempt: Attempt): boolean {
  return Math.floor(getStatus(attempt) / 100) === 2;
}

/** 429 is not a refusal, since the request may be accepted later. */
export function isRefused(attempt: Attempt): boolean {
  const status = getStatus(attempt);
  return Math.floor(status / 100) === 4 && status !== 429;
}

/** 503: overloaded, starting, or busy. */
export function isOverloaded(attempt: Attempt): boolean {
  return getStatus(attempt) === 503;
}

/** The session repeats a request that is answered 429, so this one is the answer to the last repetition. */
export function isRateLimited(attempt: Attempt): boolean {
  return getStatus(attempt) === 429;
}

/** The receiver said "later", which is neither accepted nor refused. */
export function isDeferred(attempt: Attempt): boolean {
  return isRateLimited(attempt) || isOverloaded(attempt);
}

/** The service sends deliveries by POST only: a 410 to another method disables nothing. */
export function isDisabledBy410(attempt: Attempt): boolean {
  return getStatus(attempt) === 410 && attempt.request.method === "POST";
}

/** The finding if side effects cannot be checked, for lack of a probe; `start` begins its sentence. */
export function reportMissingProbe(session: Session, start: string, attempt: Attempt | null = null): Finding {
  const { probe } = session.options.names;
  return notObservable(
    `${start}side effects cannot be seen without a probe that can be read (${probe})`,
    attempt,
  );
}

/** Advice for a missing side effect, in case it was only late. */
export function adviseIfLate(session: Session): string {
  return `If it happens later than ${formatSeconds(session.waitedMs ?? session.options.patienceMs)} after the answer, raise ${session.options.names.patience}.`;
}
