import { ASSUMPTIONS } from "../../engine/contract/assumptions/index.ts";
import { pluralize } from "../../engine/contract/text.ts";
import { groupBy } from "../../engine/maps.ts";
import {
  type CheckOutcome,
  type CheckResult,
  countOutcomes,
  nameOutcome,
  sortWorstFirst,
  toJunitCase,
} from "../checks/run-checks.ts";
import { type Html, html, renderHtmlPage } from "../reports/html.ts";
import type { JunitCase, JunitReport } from "../reports/junit.ts";

/** `differs`: the reference is silent, and the service departs from our assumption; that is not a failure. */
export type VerifyOutcome = Exclude<CheckOutcome, "error">;

export type CheckFamily = "credentials" | "answers" | "refusals" | "headers" | "writes";

export interface SentRequest {
  method: string;
  /** With the query, as sent. */
  path: string;
  /** 0: no well-formed answer. */
  status: number;
  request_id: string | null;
}

export interface CheckReport extends CheckResult<VerifyOutcome> {
  family: CheckFamily;
  /** Section of the reference, or the assumption that fills its gap. */
  section: string;
  /** Departures from the reference. */
  failures: string[];
  /** Departures from assumptions only. */
  differences: { assumption: string; detail: string }[];
  /** Why it could not be observed. */
  not_observed: string[];
  /** Remarks, which do not affect the outcome. */
  notes: string[];
  requests: SentRequest[];
}

interface AssumptionReport {
  id: string;
  topic: string;
  /** How often it was confirmed. */
  confirmed: number;
  differs: number;
}

export interface RecordedReport {
  file: string;
  /** The program that wrote it. */
  creator: string;
  entries: number;
  checked: number;
  /** Entries of other hosts, or outside the base URL. */
  other_hosts: number;
  /** Entries below the base URL that match no operation. */
  unknown_paths: number;
  not_checked: Record<string, number>;
  /** Checked entries of which a part is missing or masked: the number for each reason. */
  partly_checked: Record<string, number>;
  /** Ids of the operations that occur. */
  operations: string[];
}

export interface VerifyReport {
  /** The base URL; for an archive, that of its requests. */
  target: string;
  /** Where an Understudy's console shows the requests while it runs; null for other services. */
  console: string | null;
  /** The archive that was checked instead of a live service, or null. */
  recorded: RecordedReport | null;
  /** The organization of the key, from the answers. */
  organization_id: string | null;
  write: boolean;
  started_at: string;
  duration_ms: number;
  verdict: "pass" | "fail";
  /** Why the run ended before its last check, or null. */
  stopped: string | null;
  requests: number;
  summary: { total: number; passed: number; failed: number; differs: number; not_observable: number };
  /** Changes made with `--write`, and whether they were undone. */
  changes: { done: string; undone: boolean; detail: string }[];
  /** The assumptions that were checked, in the order of the ledger. */
  assumptions: AssumptionReport[];
  checks: CheckReport[];
}

/** `fail` if a check failed, if nothing was checked, and with `strict` if an assumption differs. */
export function decideVerdict(summary: VerifyReport["summary"], strict: boolean): VerifyReport["verdict"] {
  const { passed, failed, differs } = summary;
  return failed > 0 || passed + differs === 0 || (strict && differs > 0) ? "fail" : "pass";
}

/** `pass`, `pass with 2 differences`, or `fail`. */
export function nameVerdict({ verdict, summary }: Pick<VerifyReport, "verdict" | "summary">): string {
  return verdict === "pass" && summary.differs > 0
    ? `pass with ${pluralize(summary.differs, "difference")}`
    : verdict;
}

/** How many entries of an archive were checked, and how many were not, by reason. */
export function describeRecorded({ file, entries, checked, ...counts }: RecordedReport): string {
  const list = (reasons: Record<string, number>) =>
    Object.entries(reasons).flatMap(([reason, count]) => (count > 0 ? [`${count} ${reason}`] : []));
  const { other_hosts, unknown_paths, not_checked, partly_checked, operations } = counts;
  const unchecked = list({
    "of other hosts": other_hosts,
    "of unknown paths": unknown_paths,
    ...not_checked,
  });
  const parts = list(partly_checked);
  return [
    `${checked} of ${pluralize(entries, "entry", "entries")} of ${file} checked, of ${pluralize(operations.length, "operation")}`,
    ...(unchecked.length === 0 ? [] : [`not checked: ${unchecked.join(", ")}`]),
    ...(parts.length === 0 ? [] : [`partly checked: ${parts.join(", ")}`]),
  ].join("; ");
}

export function summarize(checks: readonly CheckReport[]): VerifyReport["summary"] {
  const { error: _, ...summary } = countOutcomes(checks);
  return summary;
}

/** The assumptions that were checked, and how often each was confirmed. */
export function countAssumptions(
  checks: readonly CheckReport[],
  verdicts: Iterable<{ confirmed: ReadonlyMap<string, number> }>,
): AssumptionReport[] {
  const confirmed = new Map<string, number>();
  for (const verdict of verdicts)
    for (const [id, times] of verdict.confirmed) confirmed.set(id, (confirmed.get(id) ?? 0) + times);
  const differences = checks.flatMap((one) => one.differences.map(({ assumption }) => assumption));
  return ASSUMPTIONS.map(({ id, topic }) => ({
    id,
    topic,
    confirmed: confirmed.get(id) ?? 0,
    differs: differences.filter((one) => one === id).length,
  })).filter((one) => one.confirmed + one.differs > 0);
}

const FAMILIES: Readonly<Record<CheckFamily, string>> = {
  credentials: "Credentials",
  answers: "Answers",
  refusals: "Refusals",
  headers: "Headers",
  writes: "Writing",
};

/**
 * One test case per check, one suite per family (interfaces.md 2). A check that could not be observed is skipped; one that
 * differs from an assumption passes, with the difference in its output.
 */
export function listVerifyCases({ checks, target }: VerifyReport): JunitReport {
  const families = groupBy(sortByFamily(checks), ({ family }) => family);
  const suites = [...families].map(([name, group]) => ({ name, cases: group.map(toVerifyCase) }));
  return { name: `understudy verify ${target}`, suites };
}

function sortByFamily(checks: readonly CheckReport[]): CheckReport[] {
  const order = Object.keys(FAMILIES);
  return checks.toSorted((a, b) => order.indexOf(a.family) - order.indexOf(b.family));
}

function toVerifyCase(check: CheckReport): JunitCase {
  const { id, section, title, family, outcome, failures, differences, not_observed, notes } = check;
  const requests = check.requests.map(formatRequest);
  return toJunitCase(check, {
    name: `${section} ${title} [${id}]`,
    classname: `verify.${family}`,
    message:
      outcome === "not-observable"
        ? not_observed.join("; ") || "nothing could be checked"
        : (failures[0] ?? ""),
    detail: [...failures, "", "Requests:", ...requests].join("\n"),
    output: [...differences.map(formatDifference), ...notes].join("\n"),
  });
}

export function formatDifference({ assumption, detail }: CheckReport["differences"][number]): string {
  return `differs from the assumption ${assumption}: ${detail}`;
}

export function formatRequest({ method, path, status, request_id }: CheckReport["requests"][number]): string {
  return `${method} ${path} -> ${status === 0 ? "no answer" : status}${request_id === null ? "" : ` (${request_id})`}`;
}

const STYLE = `
.pass { color: var(--ok); } .fail { color: var(--bad); }
.badge.differs { color: var(--open); background: var(--open-soft); }
td p { margin: .15rem 0; } td:first-child { white-space: nowrap; }
.finding { color: var(--open); } .finding.failed { color: var(--bad); } .finding.passed { color: var(--quiet); }
`;

/** The report as one HTML page without scripts. */
export function renderVerifyHtml(report: VerifyReport): string {
  const { verdict, target, summary, started_at, stopped } = report;
  const words = nameVerdict(report);
  const title = `${words[0]!.toUpperCase()}${words.slice(1)}: contract of ${target}`;
  const userText = report.organization_id === null ? "" : ` as a user of ${report.organization_id}`;
  const counts = `${pluralize(summary.total, "check")}${userText}: ${summary.passed} passed, ${summary.failed} failed, ${summary.differs} differ from an assumption, ${summary.not_observable} not observable.`;
  // Families with failures first, then those with differences, then the others in their order.
  const sorted = sortWorstFirst(sortByFamily(report.checks));
  const families = [...groupBy(sorted, ({ family }) => family)].map(([family, checks]) =>
    renderSectionHtml(
      FAMILIES[family],
      ["Outcome", "Section", "Check and finding"],
      checks.map((check) => renderRowHtml(check, report.console)),
    ),
  );
  return renderHtmlPage({
    title,
    style: STYLE,
    body: html`<h1 class="${verdict}">${title}</h1>
<p>${counts}</p>
${renderRecordedHtml(report)}
<p class="quiet">${pluralize(report.requests, "request")} in ${(report.duration_ms / 1000).toFixed(1)} s. A departure from the specification is a failure; a departure from one of our assumptions, where the specification is silent, is only a difference. A check that could not be observed has neither passed nor failed.</p>
${stopped === null ? "" : html`<p class="fail">Stopped: ${stopped}.</p>`}
${families}
${renderAssumptionsHtml(report)}
${renderChangesHtml(report)}`,
    measuredAt: new Date(started_at),
  });
}

function renderRecordedHtml({ recorded }: VerifyReport): Html {
  if (recorded === null) return html``;
  return html`<p>Recorded by ${recorded.creator}: ${describeRecorded(recorded)}. Nothing was sent.</p>`;
}

function renderAssumptionsHtml({ assumptions }: VerifyReport): Html {
  if (assumptions.length === 0) return html``;
  const rows = assumptions.map(
    ({ id, topic, confirmed, differs }) =>
      html`<tr><th scope="row">${id}</th><td>${topic}</td><td><span class="badge ${differs > 0 ? "differs" : "passed"}">${differs > 0 ? `differs, ${differs === 1 ? "once" : `${differs} times`}` : "fits"}</span></td><td class="number" data-head="Times confirmed">${confirmed}</td></tr>\n`,
  );
  return renderSectionHtml("Assumptions", ["Assumption", "Topic", "Result", "Times confirmed"], rows);
}

function renderChangesHtml({ write, changes }: VerifyReport): Html {
  if (!write) return html`<p>Nothing was changed.</p>`;
  const rows = changes.map(
    ({ done, undone, detail }) =>
      html`<tr><td><span class="badge">${undone ? "undone" : "stays"}</span></td><td>${done}</td><td>${detail}</td></tr>\n`,
  );
  return renderSectionHtml("Changed", ["State", "Change", "Detail"], rows);
}

function renderSectionHtml(title: string, heads: readonly string[], rows: readonly Html[]): Html {
  const head = heads.map((one) => html`<th scope="col">${one}</th>`);
  return html`<h2>${title}</h2>
<div class="scroll" role="region" aria-label="${title}" tabindex="0"><table class="stacks">
<thead><tr>${head}</tr></thead>
<tbody>
${rows}</tbody>
</table></div>
`;
}

function renderRowHtml(check: CheckReport, console: string | null): Html {
  const { outcome, failures, differences, not_observed, notes } = check;
  const findings = [...failures, ...differences.map(formatDifference), ...not_observed, ...notes];
  const paragraphs = findings.map((text) => html`<p class="finding ${outcome}">${text}</p>`);
  return html`<tr><td><span class="badge ${outcome}">${nameOutcome(outcome)}</span></td><td data-head="Section">${check.section}</td><td><p>${check.title} <code>${check.id}</code></p>${paragraphs}${renderRequestsHtml(check, console)}</td></tr>\n`;
}

/** For an Understudy, each request links to its entry in the console. */
function renderRequestsHtml({ outcome, requests }: CheckReport, console: string | null): Html {
  if (requests.length === 0) return html``;
  const lines = requests.map((request) => {
    const text = `${formatRequest(request)}\n`;
    if (console === null || request.request_id === null) return text;
    const entry = `${console}/timeline?entry=${encodeURIComponent(request.request_id)}`;
    return html`<a href="${entry}">${text}</a>`;
  });
  return html`<details${outcome === "failed" ? " open" : ""}><summary>${pluralize(requests.length, "request")}</summary><pre>${lines}</pre></details>`;
}
