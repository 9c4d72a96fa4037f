import type { Answer, Exchange } from "./exchange.ts";

/** Writes the journal entry: references to what is there already, nothing copied. */
export function record(exchange: Exchange, answer: Answer, headers: string[]): void {
  exchange.sandbox.journal.add({
    id: exchange.id,
    at: exchange.at,
    operation: exchange.operation?.id ?? null,
    method: exchange.method,
    path: exchange.path,
    query: exchange.query,
    status: answer.status,
    code: exchange.code,
    duration_ms: Math.round(performance.now() - exchange.started),
    principal: exchange.identity?.principal.user_id ?? null,
    api_key: exchange.identity?.principal.key_id ?? null,
    decision: exchange.decision,
    reasons: exchange.reasons,
    warnings: exchange.warnings,
    request_headers: exchange.request.rawHeaders,
    request_body: exchange.body,
    response_headers: headers,
    response_body: answer.body,
  });
}
