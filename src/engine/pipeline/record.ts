import type { ExchangeDetails, JournalEntry } from "../sandbox/journal-entry.ts";
import type { Exchange } from "./exchange.ts";
import type { Answer, InjectedWire } from "./plain-http.ts";

/** Writes the journal entry, which shares the values of the exchange to save memory, and counts the operation's outcome. */
export function recordRequest(
  exchange: Exchange,
  answer: Answer,
  response_headers: readonly string[],
): JournalEntry {
  const { sandbox, historyChange } = exchange;
  const details: ExchangeDetails = {
    id: exchange.id,
    request_number: exchange.number,
    at: exchange.at,
    committed_at: exchange.committed_at,
    operation: exchange.operation?.id ?? null,
    method: exchange.method,
    path: exchange.path,
    query: exchange.query,
    base_url: exchange.base_url,
    status: answer.status,
    code: exchange.code,
    duration_ms: Math.round(performance.now() - exchange.startedAt),
    principal: exchange.identity?.principal.user_id ?? null,
    api_key: exchange.identity?.principal.key_id ?? null,
    decision: exchange.decision,
    fault: exchange.fault,
    reasons: exchange.reasons,
    stages: exchange.stagedRequest?.stages,
    warnings: exchange.warnings,
    request_headers: exchange.request.rawHeaders,
    request_body: exchange.body ?? exchange.bodyCapture?.getBytes(),
    request_bytes: exchange.body?.length ?? exchange.bodyCapture?.size ?? 0,
    // The copy takes less memory: a list that has grown reserves more than it uses.
    response_headers: response_headers.slice(),
    response_body: answer.body,
    streamed: answer.stream ? "under way" : undefined,
  };
  const change = historyChange?.entry;
  const entry = sandbox.journal.add(details, change);
  // `add` put the refusal into the change's title, so streams of the history get the change again.
  if (change?.isRefused) sandbox.history.touch(change);
  const { operation, code } = exchange;
  if (operation !== undefined) sandbox.outcomes.count(operation.id, code ?? answer.status);
  return entry;
}

/** Records a request that a wire fault ended: with status 0 and no headers if the client saw none. */
export function recordWire(
  exchange: Exchange,
  { fault }: InjectedWire,
  { answer, headers }: { answer: Answer; headers: readonly string[] },
): void {
  if (fault.shows_status) {
    recordRequest(exchange, answer, headers);
  } else {
    exchange.code = null;
    recordRequest(exchange, NO_ANSWER, []);
  }
}

const NO_ANSWER: Answer = { status: 0, headers: {}, content_type: undefined, body: undefined };
