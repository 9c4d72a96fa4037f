import type { SuiteRequest } from "./suite-result.ts";

/** A request on one line, as reports show it. */
export function journalLine({
  at,
  method,
  path,
  status,
  code,
  decision,
  request,
  test,
}: SuiteRequest): string {
  const query = request.query ? `?${request.query}` : "";
  const answer = status === 0 ? "no answer" : `${status}${code ? ` ${code}` : ""}`;
  return `${at} ${method} ${path}${query} -> ${answer} (${decision})${test === null ? "" : ` in ${test}`}`;
}
