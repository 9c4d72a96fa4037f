import type { CheckReport, ReceiverReport } from "../../../types/control-api.ts";
import { pluralize, toPrintableLines } from "../../engine/contract/text.ts";
import { nameOutcome, OUTCOME_MARKS, toJunitCase, WORST_FIRST } from "../checks/run-checks.ts";
import { type Html, html, renderHtmlPage, renderInstantHtml, renderProseHtml } from "../reports/html.ts";
import type { JunitReport } from "../reports/junit.ts";
import { failsReceiver, NOT_RUN, SEVERITIES } from "./report.ts";

type Paint = (code: number, text: string) => string;

/**
 * The report for a terminal: a line per check, and for failures why they matter, what to do and the request.
 * `colour`: with ANSI colours.
 */
export function formatText(original: ReceiverReport, { colour = false }: { colour?: boolean } = {}): string {
  // The receiver's texts must not control the terminal.
  const report = JSON.parse(JSON.stringify(original), (_, value) =>
    typeof value === "string" ? toPrintableLines(value) : value,
  ) as ReceiverReport;
  const paint: Paint = (code, text) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const notRun = report.checks.filter(({ detail }) => detail.startsWith(NOT_RUN));
  const lines = report.checks
    .filter((check) => !notRun.includes(check))
    .flatMap((check) => formatCheck(check, paint));
  if (notRun.length > 0)
    lines.push(
      `${paint(33, "----")}  ${pluralize(notRun.length, "check was", "checks were")} not run: ${notRun.map(({ id }) => id).join(", ")}`,
    );
  // A receiver that could not be graded has more urgent problems.
  if (report.stopped === null) {
    const questions = report.manual_checks.map(({ what, how }) => `  - ${what}. ${how}`);
    lines.push("", "To check in the code:", ...questions);
  }
  lines.push("", ...formatVerdict(report, paint));
  return `${lines.join("\n")}\n`;
}

function formatCheck(check: CheckReport, paint: Paint): string[] {
  const { mark, colour } = OUTCOME_MARKS[check.outcome];
  const lines = [`${paint(colour, mark)}  ${check.title} ${paint(2, `[${check.id}, ${check.severity}]`)}`];
  if (check.outcome === "failed" || check.outcome === "error") {
    lines.push(`      ${check.detail}`, `      Why: ${check.why}`, `      Fix: ${check.advice}`);
    if (check.curl) lines.push(`      ${paint(2, check.curl)}`);
  }
  if (check.outcome === "not-observable") lines.push(`      ${check.detail}`);
  if (check.note) lines.push(`      Note: ${check.note}`);
  return lines;
}

function formatVerdict(report: ReceiverReport, paint: Paint): string[] {
  const { passed, failed, not_observable: notObservable, error } = report.summary;
  const counts = `${passed} passed, ${failed} failed, ${notObservable} not observable, ${error} with an error`;
  const verdict = report.verdict === "pass" ? paint(32, "PASS") : paint(31, "FAIL");
  const lines = [`${verdict}  ${report.url}: ${counts}`];
  if (report.fail_on !== "minor") lines.push(`Failures below ${report.fail_on} don't fail the receiver.`);
  if (report.stopped) lines.push(report.stopped);
  return lines;
}

/**
 * The report for JUnit, one test case per check; checks that were not observable, and failures that don't fail the
 * receiver, count as skipped.
 */
export function listReceiverCases({ url, checks, fail_on }: ReceiverReport): JunitReport {
  const cases = checks.map((check) =>
    toJunitCase(check, {
      name: `${check.id}: ${check.title}`,
      classname: `receiver-test.${check.severity}`,
      message: check.detail,
      detail: [check.detail, `Why: ${check.why}`, `Fix: ${check.advice}`, check.curl ?? ""].join("\n").trim(),
      output: check.note ?? undefined,
      failureToleratedBecause: failsReceiver(check, fail_on) ? undefined : `failed, below ${fail_on}`,
    }),
  );
  return { name: "receiver-test", suites: [{ name: url, cases }] };
}

const WORST_SEVERITY_FIRST = [...SEVERITIES].reverse();

const STYLE = `
.verdict { margin: 1rem 0; border-left: .4rem solid var(--bad); border-radius: 4px; padding: .75rem 1rem; background: var(--soft); }
.verdict.pass { border-color: var(--ok); }
.verdict strong { font-size: 1.4rem; color: var(--bad); } .verdict.pass strong { color: var(--ok); }
.fixes { padding-left: 2rem; } .fixes li { margin: .25rem 0; }
.check { display: grid; grid-template-columns: 8.5rem minmax(0, 2fr) minmax(0, 3fr); gap: 0 1.25rem; padding: .9rem 0; border-top: 1px solid var(--line); scroll-margin-top: 1rem; }
.check:target { background: var(--soft); }
.check p:first-child { margin-top: 0; }
.severity { display: block; margin-top: .25rem; padding-left: .5rem; color: var(--quiet); font-size: .87rem; }
@media (max-width: 50rem) {
  .check { grid-template-columns: minmax(0, 1fr); gap: .5rem 0; }
  .severity { display: inline; }
}
`;

/** The report as an HTML page: the verdict, what to fix, then every check with its request. */
export function renderReceiverHtml(report: ReceiverReport): string {
  return renderHtmlPage({
    title: `${report.verdict === "pass" ? "Pass" : "Fail"}: webhook receiver ${report.url}`,
    style: STYLE,
    measuredAt: new Date(report.started_at),
    body: html`<h1>Webhook receiver <code>${report.url}</code></h1>
${renderVerdictHtml(report)}
${renderConsoleHtml(report)}
${renderFixesHtml(report)}
<h2>Every check</h2>
<p class="quiet">Severity of a failure: critical, events are lost, forged or processed twice; major, genuine deliveries are refused, or the receiver checks too little; minor, little harm. Not observable: neither passed nor failed.</p>
${sortBySeverity(report.checks).map(renderCheckHtml)}
${renderManualChecksHtml(report)}`,
  });
}

/** Failures by severity, then errors and checks that were not observable, then the rest. */
function sortBySeverity(checks: readonly CheckReport[]): CheckReport[] {
  const rank = ({ outcome, severity }: CheckReport) =>
    WORST_FIRST.indexOf(outcome) * WORST_SEVERITY_FIRST.length +
    (outcome === "passed" ? 0 : WORST_SEVERITY_FIRST.indexOf(severity));
  return checks.toSorted((a, b) => rank(a) - rank(b));
}

function renderVerdictHtml(report: ReceiverReport): Html {
  const { total, passed, failed, not_observable: notObservable, error } = report.summary;
  const bySeverity = WORST_SEVERITY_FIRST.flatMap((severity) => {
    const { length } = report.checks.filter((one) => one.outcome === "failed" && one.severity === severity);
    return length > 0 ? [`${length} ${severity}`] : [];
  });
  const failures = bySeverity.length > 0 ? ` (${bySeverity.join(", ")})` : "";
  const probe =
    report.probe === null
      ? "No probe was given, so side effects could not be observed."
      : html`Probe: <code>${report.probe}</code>`;
  return html`<div class="verdict ${report.verdict}"><strong>${report.verdict === "pass" ? "PASS" : "FAIL"}</strong>
<p>${pluralize(total, "check")}: ${passed} passed, ${failed} failed${failures}, ${notObservable} not observable, ${error} with an error.${report.fail_on === "minor" ? "" : ` Failures below ${report.fail_on} don't fail the receiver.`}</p>
${report.stopped === null ? "" : html`<p>${report.stopped}</p>\n`}<p class="quiet">Graded ${renderInstantHtml(report.started_at)} UTC, in ${(report.duration_ms / 1000).toFixed(1)} s. ${probe}</p>
</div>`;
}

/** A link to the console of an Understudy that has this receiver. */
function renderConsoleHtml({ url }: ReceiverReport): Html {
  const [, origin, sandbox, id] =
    /^(https?:\/\/[^/?#]+)\/_receivers\/([a-z0-9-]+)\/(rcv_\w+)/.exec(url) ?? [];
  if (origin === undefined) return html``;
  const view = `${origin}/_console/s/${sandbox}/webhooks?show=receivers&receiver=${id}`;
  return html`<p>This receiver is part of an Understudy server. While the server runs, its console shows <a href="${view}">each request, with the verdict on its signature</a>.</p>`;
}

function renderManualChecksHtml({ manual_checks }: ReceiverReport): Html {
  const items = manual_checks.map(
    ({ what, how }) => html`<li><b>${what}.</b> ${renderProseHtml(how)}</li>\n`,
  );
  return html`<h2>To check in the code</h2>
<ul>
${items}</ul>`;
}

function renderFixesHtml({ checks }: ReceiverReport): Html {
  const failures = checks.filter(({ outcome }) => outcome === "failed" || outcome === "error");
  if (failures.length === 0) return html``;
  const items = WORST_SEVERITY_FIRST.flatMap((severity) =>
    failures.filter((check) => check.severity === severity),
  ).map(
    ({ id, title, severity }) =>
      html`<li><a href="#${id}">${title}</a> <span class="quiet">${severity}</span></li>\n`,
  );
  return html`<h2>What to fix</h2>
<ol class="fixes">
${items}</ol>`;
}

function renderCheckHtml(check: CheckReport): Html {
  const advice =
    check.outcome === "passed"
      ? html`<p class="quiet">Advice: ${renderProseHtml(check.advice)}</p>`
      : html`<p><b>What to do:</b> ${renderProseHtml(check.advice)}</p>`;
  const note = check.note === null ? "" : html`<p><b>Note:</b> ${renderProseHtml(check.note)}</p>`;
  return html`<section class="check" id="${check.id}">
<div><span class="badge ${check.outcome}">${nameOutcome(check.outcome)}</span> <span class="severity">${check.severity}</span></div>
<div><h3>${check.title}</h3><p><code>${check.id}</code></p><p class="quiet">${renderProseHtml(check.why)}</p></div>
<div><p>${check.detail}</p>${advice}${note}${renderRequestHtml(check)}</div>
</section>
`;
}

function renderRequestHtml({ request, curl, outcome }: CheckReport): Html {
  if (!request || curl === null) return html``;
  // A guess: the characters of a body rarely have more than two bytes on average.
  const isAbbreviated = request.body_bytes > request.body.length * 2;
  const note = isAbbreviated ? ", which the command below builds" : "";
  return html`<details${outcome === "failed" ? " open" : ""}><summary>Request: ${request.method}, ${pluralize(request.body_bytes, "byte")}${note}</summary><pre>${curl}</pre></details>`;
}
