import { toPrintableLines } from "../../engine/contract/text.ts";
import { nameOutcome, OUTCOME_MARKS, sortWorstFirst, toJunitCase } from "../../tools/checks/run-checks.ts";
import type { ClientCheckReport, ClientReport } from "../../tools/client-test/client-report-types.ts";
import { describeReport } from "../../tools/client-test/grade-client.ts";
import { type Html, html, renderHtmlPage, renderProseHtml } from "../../tools/reports/html.ts";
import type { JunitReport } from "../../tools/reports/junit.ts";
import { formatRequestLine } from "../evidence.ts";
import type { JournalEntry } from "../types.ts";

const toLine = (entry: JournalEntry) =>
  formatRequestLine(entry, entry.request.query && `?${entry.request.query}`);

const MAX_LINES = 6;

function listEvidence(evidence: readonly JournalEntry[]): string[] {
  const firstLines = evidence.slice(0, MAX_LINES).map(toLine);
  const hiddenCount = evidence.length - firstLines.length;
  return hiddenCount > 0 ? [...firstLines, `… and ${hiddenCount} more`] : firstLines;
}

/** The report for a terminal. `colour`: with ANSI colours. */
export function formatReport(report: ClientReport, { colour = false }: { colour?: boolean } = {}): string {
  const paint = (code: number, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const lines = report.checks.flatMap(({ outcome, id, severity, title, why, advice, evidence }) => {
    const { mark, colour: code } = OUTCOME_MARKS[outcome];
    const heading = `${paint(code, mark)}  ${title} ${paint(2, `[${id}, ${severity}]`)}`;
    if (outcome === "passed") return [heading];
    const finding = `      ${toPrintableLines(why)}`;
    if (outcome === "not-observable") return [heading, finding];
    const evidenceLines = listEvidence(evidence).map((line) => `      ${paint(2, toPrintableLines(line))}`);
    return [heading, finding, `      Fix: ${advice}`, ...evidenceLines];
  });
  return [...lines, "", toPrintableLines(describeReport(report)), ""].join("\n");
}

/** One test case for each check. A failed check of severity `warning` counts as skipped, as does one that is not observable. */
export function listClientCases(report: ClientReport, name: string): JunitReport {
  const cases = report.checks.map((check) =>
    toJunitCase(check, {
      name: check.title,
      classname: check.id,
      message: check.why,
      detail: [check.why, check.advice, "", ...check.evidence.map(toLine)].join("\n"),
      ...(check.severity === "warning" && { failureToleratedBecause: "a warning" }),
    }),
  );
  const stopped = { message: report.stopped ?? "", detail: report.stopped ?? "" };
  const ungraded = { name: "the client can be graded", classname: "client-test", time_seconds: 0 };
  const all = report.stopped === null ? cases : [...cases, { ...ungraded, error: stopped }];
  return { name: "understudy client-test", suites: [{ name, cases: all }] };
}

/** A larger file is left out: browsers open such a page slowly. */
const MAX_EXPORT_BYTES = 4 * 1024 * 1024;

const STYLE = `
.passed { color: var(--ok); } .failed { color: var(--bad); }
section { border-top: 1px solid var(--line); margin-top: 1.5rem; }
section h2 { margin-top: 1rem; font-size: 1.05rem; }
`;

/** One page that needs neither network nor scripts; the checks with the worst outcome come first. */
export function renderClientHtml(report: ClientReport, name: string): string {
  const title = describeReport(report);
  return renderHtmlPage({
    title: "Client test",
    style: STYLE,
    body: html`<h1 class="${report.verdict === "pass" ? "passed" : "failed"}">${title}</h1>
<p><code>${name}</code></p>
<p class="quiet">The client ran first without failures, then once for each kind of failure. Its behaviour was read from the requests that it sent.</p>
${sortWorstFirst(report.checks).map((check) => renderCheckHtml(check, report.exports[check.id]))}`,
  });
}

/** Embeds the exported sandbox, so that a report from CI is enough to look into the run. */
function renderExportHtml(id: string, file: Uint8Array | undefined): Html {
  if (file === undefined || file.length > MAX_EXPORT_BYTES) return html``;
  const name = `${id}.understudy`;
  const data = Buffer.from(file).toString("base64");
  return html`<p><a download="${name}" href="data:application/octet-stream;base64,${data}">Download the run</a>, then <code>understudy open ${name}</code></p>`;
}

function renderCheckHtml(
  { title, id, severity, outcome, why, advice, evidence }: ClientCheckReport,
  file: Uint8Array | undefined,
): Html {
  const fix = outcome === "failed" ? html`<p>${renderProseHtml(advice)}</p>` : html``;
  const rows = evidence.map(
    (entry) =>
      html`<li><details><summary><code>${toLine(entry)}</code></summary><pre tabindex="0">${JSON.stringify({ request: entry.request, response: entry.response }, null, 2)}</pre></details></li>\n`,
  );
  return html`<section><h2><span class="${outcome}">${nameOutcome(outcome)}</span>: ${title}</h2>
<p class="quiet">${id}, ${severity}</p><p>${why}</p>${fix}
${rows.length > 0 ? html`<ul>${rows}</ul>` : html``}${renderExportHtml(id, file)}</section>\n`;
}
