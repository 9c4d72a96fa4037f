import type { CheckReport, Family, Outcome, VerifyReport } from "../verify/report.ts";
import { type JunitCase, junit } from "./junit.ts";

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

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --ok: #1a7f37; --bad: #cf222e; --open: #9a6700; }
@media (prefers-color-scheme: dark) { :root { --ok: #4ac26b; --bad: #ff7b72; --open: #d4a72c; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.pass, .passed { color: var(--ok); } .fail, .failed { color: var(--bad); } .differs, .not-observable { color: var(--open); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
td p { margin: .15rem 0; overflow-wrap: anywhere; } td:first-child { white-space: nowrap; }
code, pre { font: 13px/1.45 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; background: var(--soft); padding: .6rem; margin: .3rem 0; }
summary { cursor: pointer; }
`;

/** The run as one page that needs neither network nor scripts. */
export function verifyHtml(report: VerifyReport): string {
  const { verdict, target, summary } = report;
  const title = `${verdict === "pass" ? "Pass" : "Fail"}: contract of ${target}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1 class="${verdict}">${escapeHtml(title)}</h1>
<p>${summary.total} checks: ${summary.passed} passed, ${summary.failed} failed, ${summary.differs} differ from an assumption, ${summary.not_observable} not observable. ${report.requests} requests, ${escapeHtml(report.started_at)}, ${(report.duration_ms / 1000).toFixed(1)} s${report.organization_id === null ? "" : `, in ${escapeHtml(report.organization_id)}`}.</p>
${report.stopped === null ? "" : `<p class="failed">Stopped: ${escapeHtml(report.stopped)}.</p>`}
${assumptionsHtml(report)}
${changesHtml(report)}
${(Object.keys(FAMILIES) as Family[]).map((family) => familyHtml(family, report.checks)).join("\n")}
</body>
</html>
`;
}

function assumptionsHtml({ assumptions }: VerifyReport): string {
  if (assumptions.length === 0) return "";
  const rows = assumptions.map(
    ({ id, topic, confirmed, differs }) =>
      `<tr><th scope="row">${id}</th><td>${escapeHtml(topic)}</td><td class="${differs > 0 ? "differs" : "passed"}">${differs}</td><td>${confirmed}</td></tr>`,
  );
  return section("Assumptions", ["Assumption", "Topic", "Differs", "Fits"], rows);
}

function changesHtml({ write, changes }: VerifyReport): string {
  if (!write) return "<p>Nothing was changed.</p>";
  const rows = changes.map(
    ({ done, undone, detail }) =>
      `<tr><td>${undone ? "undone" : "stays"}</td><td>${escapeHtml(done)}</td><td>${escapeHtml(detail)}</td></tr>`,
  );
  return section("Changed", ["", "What", "Since"], rows);
}

function familyHtml(family: Family, checks: readonly CheckReport[]): string {
  const own = checks.filter((one) => one.family === family);
  if (own.length === 0) return "";
  return section(FAMILIES[family], ["Outcome", "Section", "Check and finding"], own.map(rowHtml));
}

function section(title: string, heads: readonly string[], rows: readonly string[]): string {
  const head = heads.map((one) => `<th scope="col">${one}</th>`).join("");
  return `<h2>${title}</h2>
<div class="scroll"><table>
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
  return `<tr><td class="${outcome}">${OUTCOMES[outcome]}</td><td>${check.section}</td><td><p>${escapeHtml(check.title)} <code>${escapeHtml(check.id)}</code></p>${told.map((text) => `<p class="${outcome}">${escapeHtml(text)}</p>`).join("")}${list}</td></tr>`;
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
