import type { Outcome, Severity } from "./report.ts";
import type { Exchange, Session } from "./session.ts";
import type { Trouble } from "./trouble.ts";

/** One thing that a receiver has to get right; a file of `checks/` each. */
export interface Check {
  id: string;
  title: string;
  severity: Severity;
  /** One sentence: what goes wrong in production when this is not so. */
  why: string;
  /** What to change where a delivery was accepted, or processed, as it should not have been. */
  advice: string;
  /** Other answers to which the advice is right as well; to all the rest, that of the answer's own trouble is. */
  mends?: readonly Trouble[];
  /** Judges what was already exchanged, so it has something to say even when grading was cut short. */
  sendsNothing?: true;
  run(session: Session): Promise<Finding> | Finding;
}

export interface Finding {
  outcome: Outcome;
  detail: string;
  exchange: Exchange | null;
  note?: string;
  /** Where more is known than the check and the answer say. */
  advice?: string;
}

export const passed = (detail: string, exchange: Exchange | null = null): Finding => ({
  outcome: "passed",
  detail,
  exchange,
});

export const failed = (detail: string, exchange: Exchange | null = null): Finding => ({
  outcome: "failed",
  detail,
  exchange,
});

export const notObservable = (detail: string, exchange: Exchange | null = null): Finding => ({
  outcome: "not-observable",
  detail,
  exchange,
});

/** The status answered, or 0 when there was no answer (as the service records it, G24). */
export function statusOf({ result }: Exchange): number {
  return result.kind === "answer" ? result.status : 0;
}

export function isAccepted(exchange: Exchange): boolean {
  return Math.floor(statusOf(exchange) / 100) === 2;
}

/** 429 is no refusal: it says nothing of the request itself, which may be accepted later. */
export function isRefused(exchange: Exchange): boolean {
  const status = statusOf(exchange);
  return Math.floor(status / 100) === 4 && !isSlowedDown(exchange);
}

/** 503 means no room, not up yet, or busy: where it is not what a check is about, it says "later" as 429 does. */
export function isOverloaded(exchange: Exchange): boolean {
  return statusOf(exchange) === 503;
}

/** Still 429 after all patience. */
export function isSlowedDown(exchange: Exchange): boolean {
  return statusOf(exchange) === 429;
}

/** Neither accepted nor refused. */
export function isPutOff(exchange: Exchange): boolean {
  return isSlowedDown(exchange) || isOverloaded(exchange);
}
