/** Milliseconds from the end of one attempt to the next (section 6.4, G24): 1m, 5m, 15m, 1h, 6h. */
export const DEFAULT_RETRY_SCHEDULE: readonly number[] = [60_000, 300_000, 900_000, 3_600_000, 21_600_000];

/** The first attempt and five retries, even with a longer `retry_schedule` (section 6.4). */
export const MAX_SCHEDULED_ATTEMPTS = 6;

/** The meaning of an answer for its delivery (section 3.3). */
type AttemptClass = "success" | "disabled" | "retry";

interface EndedAttempt {
  responseCode: number;
  /** Delays in milliseconds, the first one before retry 1. */
  schedule: readonly number[];
  /** Attempts the schedule has made so far, this one included; redeliveries do not count. */
  scheduledAttempts: number;
  /** When the attempt ended, on the sandbox's clock; `nextRetry` counts from the same zero. */
  endedAt: number;
}

interface AttemptEvaluation {
  status: "success" | "failed";
  /** 410: the webhook becomes inactive, and all its pending retries are cancelled. */
  disablesWebhook: boolean;
  /** When the next attempt is due, or null if the schedule makes no further one. */
  nextRetry: number | null;
}

/**
 * Sorts a response code into success (2xx), disabled (410) and retry: all else, 3xx included because redirects are not
 * followed, and 0 for an attempt without an answer (sections 3.3 and 6.4, G24).
 */
export function classify(responseCode: number): AttemptClass {
  if (responseCode >= 200 && responseCode <= 299) return "success";
  return responseCode === 410 ? "disabled" : "retry";
}

/**
 * The result of one scheduled attempt: status of the delivery, whether it disables the webhook, and the next retry. The
 * delay of a retry counts from the end of the attempt before, not from the first one (G24).
 */
export function evaluateAttempt(attempt: EndedAttempt): AttemptEvaluation {
  const { responseCode, schedule, scheduledAttempts, endedAt } = attempt;
  const outcome = classify(responseCode);
  const isRetried = outcome === "retry" && scheduledAttempts < MAX_SCHEDULED_ATTEMPTS;
  const delay = isRetried ? schedule[scheduledAttempts - 1] : undefined;
  return {
    status: outcome === "success" ? "success" : "failed",
    disablesWebhook: outcome === "disabled",
    nextRetry: delay === undefined ? null : endedAt + delay,
  };
}
