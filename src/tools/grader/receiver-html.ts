import { pluralize } from "../../engine/contract/pluralize.ts";
import { type Html, html } from "../reports/html.ts";
import { htmlPage, instantHtml, proseHtml } from "../reports/html-page.ts";
import { type CheckReport, type Outcome, type ReceiverReport, SEVERITIES } from "./report.ts";

const OUTCOMES: Record<Outcome, string> = {
  passed: "passed",
  failed: "failed",
  "not-observable": "not observable",
  error: "error",
};

const WORST_FIRST = [...SEVERITIES].reverse();

const ORDER: readonly Outcome[] = ["failed", "error", "not-observable", "passed"];

const STYLE = `
.verdict { margin: 1rem 0; border-left: .4rem solid var(--bad); border-radius: 4px; padding: .75rem 1rem; background: var(--soft); }
.verdict.pass { border-color: var(--ok); }
.verdict strong { font-size: 1.4rem; color: var(--bad); } .verdict.pass strong { color: var(--ok); }
.mend { padding-left: 2rem; } .mend li { margin: .25rem 0; }
.check { display: grid; grid-template-columns: 8.5rem minmax(0, 2fr) minmax(0, 3fr); gap: 0 1.25rem; padding: .9rem 0; border-top: 1px solid var(--line); scroll-margin-top: 1rem; }
.check:target { background: var(--soft); }
.check p:first-child { margin-top: 0; }
.severity { display: block; margin-top: .25rem; padding-left: .5rem; color: var(--quiet); font-size: .87rem; }
@media (max-width: 50rem) {
  .check { grid-template-columns: minmax(0, 1fr); gap: .5rem 0; }
  .severity { display: inline; }
}
`;

/** The grader's report for people: the verdict, what to mend, then every check with its request. */
export function receiverHtml(report: ReceiverReport): string {
  return htmlPage({
    title: `${report.verdict === "pass" ? "Pass" : "Fail"}: webhook receiver ${report.url}`,
    style: STYLE,
    made: new Date(report.started_at),
    body: html`<h1>Webhook receiver <code>${report.url}</code></h1>
${verdictHtml(report)}
${consoleHtml(report)}
${mendHtml(report)}
<h2>Every check</h2>
<p class="quiet">Severity is what a failure costs: critical, events are lost, forged or done twice; major, genuine deliveries are refused or a check is weak; minor, little. Not observable: nothing was proven either way.</p>
${worstFirst(report.checks).map(checkHtml)}
${unseenHtml(report)}`,
  });
}

/** What failed by what it costs, then what was not seen, then what passed. */
function worstFirst(checks: readonly CheckReport[]): CheckReport[] {
  const rank = ({ outcome, severity }: CheckReport) =>
    ORDER.indexOf(outcome) * WORST_FIRST.length + (outcome === "passed" ? 0 : WORST_FIRST.indexOf(severity));
  return checks.toSorted((a, b) => rank(a) - rank(b));
}

function verdictHtml(report: ReceiverReport): Html {
  const { total, passed, failed, not_observable: notObservable, error } = report.summary;
  const bySeverity = WORST_FIRST.map((severity) => {
    const count = report.checks.filter(
      (check) => check.outcome === "failed" && check.severity === severity,
    ).length;
    return count > 0 ? `${count} ${severity}` : null;
  }).filter((text) => text !== null);
  const failures = bySeverity.length > 0 ? ` (${bySeverity.join(", ")})` : "";
  const probe =
    report.probe === null
      ? "No probe was given, so side effects could not be observed."
      : html`Probe: <code>${report.probe}</code>`;
  return html`<div class="verdict ${report.verdict}"><strong>${report.verdict === "pass" ? "PASS" : "FAIL"}</strong>
<p>${pluralize(total, "check")}: ${passed} passed, ${failed} failed${failures}, ${notObservable} not observable, ${error} with an error.${report.fail_on === "minor" ? "" : ` Failures below ${report.fail_on} don't fail the receiver.`}</p>
${report.stopped === null ? "" : html`<p>${report.stopped}</p>\n`}<p class="quiet">Graded ${instantHtml(report.started_at)} UTC, in ${(report.duration_ms / 1000).toFixed(1)} s. ${probe}</p>
</div>`;
}

/** Of a receiver inside an Understudy: where the console shows what it was sent, as long as that server runs. */
function consoleHtml({ url }: ReceiverReport): Html {
  const [, origin, sandbox, id] =
    /^(https?:\/\/[^/?#]+)\/_receivers\/([a-z0-9-]+)\/(rcv_\w+)/.exec(url) ?? [];
  if (origin === undefined) return html``;
  const view = `${origin}/_console/s/${sandbox}/webhooks?show=receivers&receiver=${id}`;
  return html`<p>It is a receiver inside an Understudy: <a href="${view}">what it was sent, with each signature's verdict</a>, stands in that server's console while it runs.</p>`;
}

function unseenHtml({ unseen }: ReceiverReport): Html {
  const items = unseen.map(({ what, how }) => html`<li><b>${what}.</b> ${proseHtml(how)}</li>\n`);
  return html`<h2>What cannot be seen from outside</h2>
<ul>
${items}</ul>`;
}

/** The worst first, so that a reader of thirty checks knows where to begin. */
function mendHtml({ checks }: ReceiverReport): Html {
  const open = checks.filter(({ outcome }) => outcome === "failed" || outcome === "error");
  if (open.length === 0) return html``;
  const items = WORST_FIRST.flatMap((severity) => open.filter((check) => check.severity === severity)).map(
    ({ id, title, severity }) =>
      html`<li><a href="#${id}">${title}</a> <span class="quiet">${severity}</span></li>\n`,
  );
  return html`<h2>What to mend</h2>
<ol class="mend">
${items}</ol>`;
}

function checkHtml(check: CheckReport): Html {
  const advice =
    check.outcome === "passed"
      ? html`<p class="quiet">Advice: ${proseHtml(check.advice)}</p>`
      : html`<p><b>What to do:</b> ${proseHtml(check.advice)}</p>`;
  const note = check.note === null ? "" : html`<p><b>Note:</b> ${proseHtml(check.note)}</p>`;
  return html`<section class="check" id="${check.id}">
<div><span class="badge ${check.outcome}">${OUTCOMES[check.outcome]}</span> <span class="severity">${check.severity}</span></div>
<div><h3>${check.title}</h3><p><code>${check.id}</code></p><p class="quiet">${proseHtml(check.why)}</p></div>
<div><p>${check.detail}</p>${advice}${note}${requestHtml(check)}</div>
</section>
`;
}

function requestHtml({ request, curl, outcome }: CheckReport): Html {
  if (!request || curl === null) return html``;
  const large = request.body_bytes > request.body.length * 2 ? ", rebuilt by the command" : "";
  return html`<details${outcome === "failed" ? " open" : ""}><summary>Request: ${request.method}, ${pluralize(request.body_bytes, "byte")}${large}</summary><pre>${curl}</pre></details>`;
}
