import type { Check, Finding } from "./check.ts";
import { curlCommand } from "./curl.ts";
import { secretRedactor } from "./redact-secret.ts";
import type { CheckReport, ReportedRequest } from "./report.ts";
import type { Exchange } from "./session.ts";
import { adviceOn } from "./trouble.ts";

/** What a check says of itself; some findings come of none that runs. */
export type CheckDescription = Omit<Check, "run">;

export type Reporter = (check: CheckDescription, finding: Finding, durationMs: number) => CheckReport;

/** Turns findings into entries of the report, the secret taken out of what the receiver said. */
export function createReporter(secret: string, caFile: string | undefined): Reporter {
  const redact = secretRedactor(secret);
  return (check, finding, durationMs) => {
    const { id, title, severity, why } = check;
    const { outcome, detail, exchange, note } = finding;
    const isOpen = outcome === "failed" || outcome === "error";
    return {
      ...{ id, title, severity, why, outcome },
      detail: redact(detail),
      advice: finding.advice ?? (isOpen ? adviceOn(check, exchange) : check.advice),
      note: note ?? null,
      duration_ms: Math.round(durationMs),
      request: exchange && reportedRequest(exchange),
      curl: exchange && curlCommand(exchange.request, caFile),
    };
  };
}

const MAX_SHOWN_CHARACTERS = 2000;

function reportedRequest({ request }: Exchange): ReportedRequest {
  const text = request.body.toString("utf8");
  return {
    method: request.method,
    url: request.url.href,
    headers: request.headers,
    body: text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, 400)} … ${text.slice(-200)}` : text,
    body_bytes: request.body.length,
  };
}
