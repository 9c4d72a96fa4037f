import type { CheckReport, Outcome, ReceiverReport } from "../webhooks/receiver-test/report.ts";
import { type JunitCase, junit } from "./junit.ts";

/** The grader's report as JUnit XML, one test case per check; what could not be observed counts as skipped. */
export function receiverJunit(report: ReceiverReport): string {
  const cases = report.checks.map(junitCase);
  return junit({ name: "receiver-test", suites: [{ name: report.url, cases }] });
}

function junitCase(check: CheckReport): JunitCase {
  const one: JunitCase = {
    name: `${check.id}: ${check.title}`,
    classname: `receiver-test.${check.severity}`,
    time_seconds: check.duration_ms / 1000,
  };
  const detail = [check.detail, `Why: ${check.why}`, `Mend: ${check.advice}`, check.curl ?? ""]
    .join("\n")
    .trim();
  if (check.outcome === "failed") one.failure = { message: check.detail, detail };
  if (check.outcome === "error") one.error = { message: check.detail, detail };
  if (check.outcome === "not-observable") one.skipped = check.detail;
  if (check.note) one.system_out = check.note;
  return one;
}

const OUTCOMES: Record<Outcome, string> = {
  passed: "passed",
  failed: "failed",
  "not-observable": "not observable",
  error: "error",
};

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --ok: #1a7f37; --bad: #cf222e; --open: #9a6700; }
@media (prefers-color-scheme: dark) { :root { --ok: #4ac26b; --bad: #ff7b72; --open: #d4a72c; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h1 code { overflow-wrap: anywhere; }
.verdict { border-left: .4rem solid; padding: .6rem 1rem; background: var(--soft); }
.verdict strong { font-size: 1.3rem; }
.pass, .passed { color: var(--ok); } .fail, .failed, .error { color: var(--bad); } .not-observable { color: var(--open); }
.verdict p { color: CanvasText; margin: .2rem 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .5rem .6rem; border-bottom: 1px solid var(--line); }
td p { margin: .15rem 0; } td .why { opacity: .8; } td:first-child { font-weight: 600; white-space: nowrap; }
code, pre { font: 13px/1.45 ui-monospace, monospace; } pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--soft); padding: .6rem; margin: .3rem 0; }
summary { cursor: pointer; }
`;

/** The grader's report as one HTML page that needs neither network nor scripts. */
export function receiverHtml(report: ReceiverReport): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${report.verdict === "pass" ? "Pass" : "Fail"}: webhook receiver ${escapeHtml(report.url)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Webhook receiver <code>${escapeHtml(report.url)}</code></h1>
${verdictHtml(report)}
<div class="scroll"><table>
<thead><tr><th scope="col">Outcome</th><th scope="col">Severity</th><th scope="col">Check</th><th scope="col">Finding, and what to do</th></tr></thead>
<tbody>
${report.checks.map(rowHtml).join("\n")}
</tbody>
</table></div>
</body>
</html>
`;
}

function verdictHtml(report: ReceiverReport): string {
  const { total, passed, failed, not_observable: notObservable, error } = report.summary;
  const bySeverity = (["critical", "major", "minor"] as const)
    .map((severity) => {
      const count = report.checks.filter(
        (check) => check.outcome === "failed" && check.severity === severity,
      ).length;
      return count > 0 ? `${count} ${severity}` : null;
    })
    .filter((text) => text !== null);
  const failures = bySeverity.length > 0 ? ` (${bySeverity.join(", ")})` : "";
  const probe = report.probe === null ? "none: side effects could not be observed" : report.probe;
  return `<div class="verdict ${report.verdict}"><strong>${report.verdict === "pass" ? "PASS" : "FAIL"}</strong>
<p>${total} checks: ${passed} passed, ${failed} failed${failures}, ${notObservable} not observable, ${error} with an error.</p>
${report.stopped === null ? "" : `<p>${escapeHtml(report.stopped)}</p>\n`}<p>Graded ${escapeHtml(report.started_at)}, in ${(report.duration_ms / 1000).toFixed(1)} s. Probe: <code>${escapeHtml(probe)}</code></p>
</div>`;
}

function rowHtml(check: CheckReport): string {
  const advice =
    check.outcome === "passed"
      ? `<p class="why">Advice: ${escapeHtml(check.advice)}</p>`
      : `<p><b>What to do:</b> ${escapeHtml(check.advice)}</p>`;
  const note = check.note === null ? "" : `<p><b>Note:</b> ${escapeHtml(check.note)}</p>`;
  return `<tr id="${escapeHtml(check.id)}"><td class="${check.outcome}">${OUTCOMES[check.outcome]}</td><td>${check.severity}</td>
<td><p>${escapeHtml(check.title)}</p><p><code>${escapeHtml(check.id)}</code></p><p class="why">${escapeHtml(check.why)}</p></td>
<td><p>${escapeHtml(check.detail)}</p>${advice}${note}${requestHtml(check)}</td></tr>`;
}

function requestHtml({ request, curl, outcome }: CheckReport): string {
  if (!request || curl === null) return "";
  const large = request.body_bytes > request.body.length * 2 ? ", rebuilt by the command" : "";
  return `<details${outcome === "failed" ? " open" : ""}><summary>Request: ${escapeHtml(request.method)}, ${request.body_bytes} bytes${large}</summary><pre>${escapeHtml(curl)}</pre></details>`;
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}
