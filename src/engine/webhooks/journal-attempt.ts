import { toUtf8 } from "../bytes.ts";
import type { HistoryEntry } from "../sandbox/history-entry.ts";
import type { ExchangeDetails } from "../sandbox/journal-entry.ts";
import type { WorldReader } from "../state/transaction.ts";
import { type CompletedAttempt, describeAttempt } from "./attempt.ts";
import { classify } from "./schedule.ts";

/** Bytes of a receiver's answer that the journal stores. */
const MAX_STORED_BYTES = 4096;

/**
 * An attempt's journal entry (interfaces.md 14): request, answer, and in words why it failed and what happens next
 * (`nextStep`).
 */
export function toJournalEntry(
  attempt: CompletedAttempt,
  { world, nextStep }: { world: Pick<WorldReader, "toEpoch">; nextStep: string },
): ExchangeDetails {
  const { queued, plan, outcome, exchange } = attempt;
  const described = describeAttempt(queued, plan, outcome.url);
  const body = toUtf8(plan.body);
  const isDelivered = classify(outcome.response_code) === "success";
  return {
    ...described,
    request_number: undefined,
    at: world.toEpoch(outcome.at),
    committed_at: undefined,
    status: outcome.response_code,
    code: null,
    duration_ms: outcome.duration_ms,
    api_key: null,
    decision: outcome.fault ?? (isDelivered ? "delivered" : "failed"),
    fault: exchange.fault,
    reasons: [exchange.held ?? [], isDelivered ? [] : [explainFailure(attempt), nextStep]].flat(),
    warnings: [],
    request_headers: Object.entries(exchange.request_headers).flat(),
    request_body: body,
    request_bytes: body.length,
    response_headers: Object.entries(exchange.response_headers).flatMap(([name, value]) =>
      [value].flat().flatMap((one) => [name, String(one)]),
    ),
    response_body: new Uint8Array(exchange.response_body.subarray(0, MAX_STORED_BYTES)),
    streamed: undefined,
    delivery: { ...described.delivery, error: outcome.error },
  };
}

/** An attempt's entry in the history: the newest one, unless a restore has kept its outcome out of the world. */
export function findAttemptEntry(
  { queued }: CompletedAttempt,
  newest: HistoryEntry | undefined,
): HistoryEntry | undefined {
  return newest?.kind === "delivery" && newest.subject === queued.delivery_id ? newest : undefined;
}

function explainFailure({
  outcome: { response_code, error },
  exchange: { fault },
}: CompletedAttempt): string {
  if (response_code === 0) return `there was no answer: ${error ?? "the connection ended"}`;
  const answered =
    fault?.replaced === "response"
      ? `the rule ${fault.by} answered ${response_code} in place of the receiver`
      : `the receiver answered ${response_code}`;
  if (response_code >= 300 && response_code < 400 && response_code !== 304)
    return `${answered}: redirects are not followed`;
  return `${answered}; a delivery succeeds with a status from 200 to 299`;
}
