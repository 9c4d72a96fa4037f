import type { Check as AnyCheck } from "../checks/frame.ts";
import type { FailureKind } from "./failure-kind.ts";
import type { Outcome, Severity } from "./report.ts";
import type { Attempt, Session } from "./session.ts";

/** A check of receivers, without its code. */
export interface CheckDescription {
  id: string;
  title: string;
  severity: Severity;
  /** One sentence: what goes wrong in production when the check fails. */
  why: string;
  /** The fix where a delivery was accepted, or processed, and should not have been. */
  advice: string;
  /** Other answers that the advice is right for; for the rest, the advice follows from the answer itself. */
  adviceAppliesTo?: readonly FailureKind[];
}

/** One thing that a receiver has to get right; a family of them per file in `checks/`. */
export interface Check extends AnyCheck<Session, Finding>, CheckDescription {}

export interface Finding {
  outcome: Outcome;
  detail: string;
  /** The request that shows it. */
  attempt: Attempt | null;
  note?: string;
  /** Where more is known than the check and the answer say. */
  advice?: string;
}

export const passed = (detail: string, attempt: Attempt | null = null): Finding => ({
  outcome: "passed",
  detail,
  attempt,
});

export const failed = (detail: string, attempt: Attempt | null = null): Finding => ({
  outcome: "failed",
  detail,
  attempt,
});

export const notObservable = (detail: string, attempt: Attempt | null = null): Finding => ({
  outcome: "not-observable",
  detail,
  attempt,
});

/** The status answered, or 0 when there was no answer (as the service records it, G24). */
export function getStatus({ result }: Attempt): number {
  return result.kind === "answer" ? result.status : 0;
}

export function isAccepted(attempt: Attempt): boolean {
  return Math.floor(getStatus(attempt) / 100) === 2;
}

/** 429 is not a refusal: it says nothing about the request, which may be accepted later. */
export function isRefused(attempt: Attempt): boolean {
  const status = getStatus(attempt);
  return Math.floor(status / 100) === 4 && status !== 429;
}

/** 503 means no room, not up yet, or busy. */
export function isOverloaded(attempt: Attempt): boolean {
  return getStatus(attempt) === 503;
}

/** Still 429 after all retries. */
export function isRateLimited(attempt: Attempt): boolean {
  return getStatus(attempt) === 429;
}

/** The receiver said "later", which is neither accepted nor refused. */
export function isDeferred(attempt: Attempt): boolean {
  return isRateLimited(attempt) || isOverloaded(attempt);
}

export function isGone(attempt: Attempt): boolean {
  return getStatus(attempt) === 410;
}
