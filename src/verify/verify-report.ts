import { escapeHtml, htmlPage } from "../reports/html-page.ts";
import { type JunitCase, junit } from "../reports/junit.ts";
import type { CheckReport, Family, Outcome, VerifyReport } from "./report.ts";

const FAMILIES: Readonly<Record<Family, string>> = {
  credentials: "Credentials",
  answers: "Answers",
  refusals: "Refusals",
  headers: "Headers",
  writes: "Writing",
};

/**
 * interfaces 2: one test case per check, one suite per family. What could not be observed is skipped, what
 * differs from an assumption passes and says so in its output.
 */
export function verifyJunit({ checks, target }: VerifyReport): string {
  const suites = (Object.keys(FAMILIES) as Family[])
    .map((family) => ({ name: family, cases: checks.filter((one) => one.family === family).map(junitCase) }))
    .filter(({ cases }) => cases.length > 0);
  return junit({ name: `understudy verify ${target}`, suites });
}

function junitCase(check: CheckReport): JunitCase {
  const { id, section, title, family, outcome, failures, differences, not_observed, notes } = check;
  const one: JunitCase = {
    name: `${section} ${title} [${id}]`,
    classname: `verify.${family}`,
    time_seconds: check.duration_ms / 1000,
  };
  const told = [...differences.map(differenceText), ...notes];
  if (told.length > 0) one.system_out = told.join("\n");
  if (outcome === "not-observable") one.skipped = not_observed.join("; ") || "nothing could be judged";
  if (outcome === "failed") {
    const requests = check.requests.map(requestText);
    one.failure = { message: failures[0]!, detail: [...failures, "", "Requests:", ...requests].join("\n") };
  }
  return one;
}

function differenceText({ assumption, detail }: CheckReport["differences"][number]): string {
  return `differs from the assumption ${assumption}: ${detail}`;
}

function requestText({ method, path, status, request_id }: CheckReport["requests"][number]): string {
  return `${method} ${path} -> ${status === 0 ? "no answer" : status}${request_id === null ? "" : ` (${request_id})`}`;
}

const OUTCOMES: Record<Outcome, string> = {
  passed: "passed",
  failed: "failed",
  differs: "differs",
  "not-observable": "not observable",
};

const WORST_FIRST: readonly Outcome[] = ["failed", "differs", "not-observable", "passed"];

const STYLE = `
.pass { color: var(--ok); } .fail { color: var(--bad); }
.badge.differs { color: var(--open); background: var(--open-soft); }
td p { margin: .15rem 0; } td:first-child { white-space: nowrap; }
.finding { color: var(--open); } .finding.failed { color: var(--bad); } .finding.passed { color: var(--quiet); }
`;

/** The run as one page that needs neither network nor scripts. */
export function verifyHtml(report: VerifyReport): string {
  const { verdict, target, summary, started_at, stopped } = report;
  const title = `${verdict === "pass" ? "Pass" : "Fail"}: contract of ${target}`;
  const as = report.organization_id === null ? "" : ` as a user of ${report.organization_id}`;
  const counts = `${summary.total} checks${as}: ${summary.passed} passed, ${summary.failed} failed, ${summary.differs} differ from an assumption, ${summary.not_observable} not observable.`;
  const parts = [
    `<h1 class="${verdict}">${escapeHtml(title)}</h1>`,
    `<p>${escapeHtml(counts)}</p>`,
    `<p class="quiet">${report.requests} requests in ${(report.duration_ms / 1000).toFixed(1)} s. What departs from the specification fails. What departs from an assumption of ours, where the specification is silent, differs. What could not be observed proves nothing.</p>`,
    stopped === null ? "" : `<p class="fail">Stopped: ${escapeHtml(stopped)}.</p>`,
    assumptionsHtml(report),
    changesHtml(report),
    ...(Object.keys(FAMILIES) as Family[]).map((family) => familyHtml(family, report.checks)),
  ];
  return htmlPage({
    title,
    style: STYLE,
    body: parts.filter((part) => part !== "").join("\n"),
    made: new Date(started_at),
  });
}

function assumptionsHtml({ assumptions }: VerifyReport): string {
  if (assumptions.length === 0) return "";
  const rows = assumptions.map(
    ({ id, topic, confirmed, differs }) =>
      `<tr><th scope="row">${id}</th><td>${escapeHtml(topic)}</td><td><span class="badge ${differs > 0 ? "differs" : "passed"}">${differs > 0 ? `differs, ${differs} times` : "fits"}</span></td><td class="number">${confirmed}</td></tr>`,
  );
  return section("Assumptions", ["Assumption", "Topic", "Here", "Times it fitted"], rows);
}

function changesHtml({ write, changes }: VerifyReport): string {
  if (!write) return "<p>Nothing was changed.</p>";
  const rows = changes.map(
    ({ done, undone, detail }) =>
      `<tr><td><span class="badge">${undone ? "undone" : "stays"}</span></td><td>${escapeHtml(done)}</td><td>${escapeHtml(detail)}</td></tr>`,
  );
  return section("Changed", ["", "What", "Since"], rows);
}

function familyHtml(family: Family, checks: readonly CheckReport[]): string {
  // What needs a look comes first.
  const own = WORST_FIRST.flatMap((outcome) =>
    checks.filter((one) => one.family === family && one.outcome === outcome),
  );
  if (own.length === 0) return "";
  return section(FAMILIES[family], ["Outcome", "Section", "Check and finding"], own.map(rowHtml));
}

function section(title: string, heads: readonly string[], rows: readonly string[]): string {
  const head = heads.map((one) => `<th scope="col">${one}</th>`).join("");
  return `<h2>${title}</h2>
<div class="scroll" role="region" aria-label="${title}" tabindex="0"><table>
<thead><tr>${head}</tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table></div>`;
}

function rowHtml(check: CheckReport): string {
  const { outcome, failures, differences, not_observed, notes, requests } = check;
  const told = [...failures, ...differences.map(differenceText), ...not_observed, ...notes];
  const list =
    requests.length === 0
      ? ""
      : `<details${outcome === "failed" ? " open" : ""}><summary>${requests.length} request(s)</summary><pre>${escapeHtml(requests.map(requestText).join("\n"))}</pre></details>`;
  return `<tr><td><span class="badge ${outcome}">${OUTCOMES[outcome]}</span></td><td>${check.section}</td><td><p>${escapeHtml(check.title)} <code>${escapeHtml(check.id)}</code></p>${told.map((text) => `<p class="finding ${outcome}">${escapeHtml(text)}</p>`).join("")}${list}</td></tr>`;
}
