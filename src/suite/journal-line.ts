import type { JournalEntry } from "../client/types.ts";

/** A request on one line, as reports show it. */
export function journalLine({ at, method, path, status, code, decision, request }: JournalEntry): string {
  const query = request.query ? `?${request.query}` : "";
  const answer = status === 0 ? "no answer" : `${status}${code ? ` ${code}` : ""}`;
  return `${at} ${method} ${path}${query} -> ${answer} (${decision})`;
}
