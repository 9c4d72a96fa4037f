import type { HistoryEntry } from "../sandbox/history-entry.ts";
import type { AnsweredRequest } from "../sandbox/journal-entry.ts";
import type { WorldReader } from "../state/transaction.ts";
import type { MadeAttempt } from "./attempt.ts";
import { classify } from "./schedule.ts";

/** As much of a receiver's answer as is kept. */
const MAX_ANSWER_BYTES = 4096;

/**
 * An attempt as the journal keeps it (interfaces 14): what was sent, what was answered, and in words why it
 * failed and what follows. `present` is the world in which its outcome
 * stands, `follows` what comes of that, `told` the newest entry of the history, which is the attempt's where its
 * outcome could be recorded.
 */
export function journaledAttempt(
  made: MadeAttempt,
  { present, follows, told }: { present: WorldReader; follows: string; told: HistoryEntry | undefined },
): AnsweredRequest {
  const { row, plan, outcome, exchange } = made;
  const { delivery_id, webhook_id, kind } = row;
  const { origin, pathname, search } = new URL(outcome.url);
  const body = Buffer.from(plan.body);
  const isDelivered = classify(outcome.response_code) === "success";
  return {
    id: `${delivery_id}.${plan.number}`,
    at: present.absolute(outcome.at),
    committed_at: undefined,
    operation: null,
    method: "POST",
    path: pathname,
    query: search.slice(1),
    status: outcome.response_code,
    code: null,
    duration_ms: outcome.duration_ms,
    principal: null,
    api_key: null,
    decision: outcome.fault ?? (isDelivered ? "delivered" : "failed"),
    reasons: isDelivered ? [] : [whyFailed(made), follows],
    warnings: [],
    request_headers: Object.entries(exchange.request_headers).flat(),
    request_body: body,
    request_bytes: body.length,
    response_head: Object.entries(exchange.response_headers)
      .flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`))
      .join(""),
    response_body: exchange.response_body.subarray(0, MAX_ANSWER_BYTES),
    streamed: undefined,
    history: told?.kind === "delivery" && told.subject === delivery_id ? told : null,
    delivery: {
      event: plan.event,
      webhook_id,
      delivery_id,
      attempt: plan.number,
      kind,
      origin,
      error: outcome.error,
    },
  };
}

function whyFailed({ outcome: { response_code, error } }: MadeAttempt): string {
  if (response_code === 0) return `there was no answer: ${error ?? "the connection ended"}`;
  if (response_code >= 300 && response_code < 400)
    return `the receiver answered ${response_code}: redirects are not followed`;
  return `the receiver answered ${response_code}; a delivery succeeds with a status from 200 to 299`;
}
