import type { JournalEntry } from "../client/types.ts";
import type { ScenarioResult, SuiteResult } from "../suite/suite-result.ts";

const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --ok: #1a7f37; --bad: #cf222e; }
@media (prefers-color-scheme: dark) { :root { --ok: #4ac26b; --bad: #ff7b72; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin-top: 2rem; overflow-wrap: anywhere; }
.passed { color: var(--ok); } .failed, .error { color: var(--bad); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--line); }
code, pre { font: 13px/1.45 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; background: var(--soft); padding: .6rem; margin: .3rem 0; max-height: 40rem; overflow: auto; }
summary { cursor: pointer; }
`;

/** What the page carries of a bundle; a larger one is left to the control API. */
const LARGEST_BUNDLE = 4 * 1024 * 1024;

/** interfaces 2: the suite as one page that needs neither network nor scripts. */
export function suiteHtml(suite: SuiteResult): string {
  const { ok, passed, total, command, duration_ms, scenarios } = suite;
  const title = ok ? `All ${total} scenarios passed` : `${total - passed} of ${total} scenarios failed`;
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
<h1 class="${ok ? "passed" : "failed"}">${escapeHtml(title)}</h1>
<p><code>${escapeHtml(command.join(" "))}</code>, ${seconds(duration_ms)}</p>
<div class="scroll"><table>
<thead><tr><th scope="col">Scenario</th><th scope="col">Result</th><th scope="col">Exit</th><th scope="col">Rules struck</th><th scope="col">Expectations met</th><th scope="col">Requests</th><th scope="col">Time</th></tr></thead>
<tbody>
${scenarios.map(rowHtml).join("\n")}
</tbody>
</table></div>
${scenarios.map(sectionHtml).join("\n")}
</body>
</html>
`;
}

function rowHtml(result: ScenarioResult, position: number): string {
  const { name, outcome, exit_code, signal, rules, expectations, requests, duration_ms } = result;
  const struck = `${rules.filter(({ hits }) => hits > 0).length} of ${rules.length}`;
  const met = `${expectations.filter(({ ok }) => ok).length} of ${expectations.length}`;
  return `<tr><th scope="row"><a href="#s${position + 1}">${escapeHtml(name)}</a></th><td class="${outcome}">${outcome}</td><td>${escapeHtml(String(signal ?? exit_code ?? "–"))}</td><td>${struck}</td><td>${met}</td><td>${requests}</td><td>${seconds(duration_ms)}</td></tr>`;
}

function sectionHtml(result: ScenarioResult, position: number): string {
  const { name, outcome, description, file, failures, rules, expectations, output, journal } = result;
  const parts = [
    `<h2 id="s${position + 1}"><span class="${outcome}">${outcome}</span> ${escapeHtml(name)}</h2>`,
    `<p>${escapeHtml(description)} <code>${escapeHtml(file)}</code></p>`,
    failures.length === 0
      ? ""
      : `<ul class="failed">${failures.map((text) => `<li>${escapeHtml(text)}</li>`).join("")}</ul>`,
    details("Rules", rules.map(({ id, hits }) => `${id}: ${hits} hit(s)`).join("\n")),
    details(
      "Expectations",
      expectations
        .map(({ what, ok, found }) => `${ok ? "met" : "not met"}: ${what}; found ${found}`)
        .join("\n"),
    ),
    details("Output", output),
    journal.length === 0 ? "" : journalHtml(journal),
    bundleHtml(result),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

function details(title: string, text: string, open = false): string {
  if (text === "") return "";
  return `<details${open ? " open" : ""}><summary>${title}</summary><pre>${escapeHtml(text)}</pre></details>`;
}

function journalHtml(journal: readonly JournalEntry[]): string {
  const rows = journal.map((entry) => {
    const { at, method, path, status, code, decision, request, response } = entry;
    const query = request["query"] ? `?${request["query"]}` : "";
    const bodies = JSON.stringify({ request, response }, null, 2);
    return `<tr><td>${escapeHtml(at)}</td><td><details><summary><code>${escapeHtml(`${method} ${path}${query}`)}</code></summary><pre>${escapeHtml(bodies)}</pre></details></td><td>${status === 0 ? "no answer" : status} ${escapeHtml(code ?? "")}</td><td>${escapeHtml(decision)}</td></tr>`;
  });
  return `<details open><summary>Journal, ${journal.length} request(s)</summary><div class="scroll"><table>
<thead><tr><th scope="col">At</th><th scope="col">Request</th><th scope="col">Answer</th><th scope="col">Decided by</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody></table></div></details>`;
}

/** Carried in the page itself, so that a report from CI is all one needs to replay a failure. */
function bundleHtml({ name, bundle }: ScenarioResult): string {
  if (bundle === undefined) return "";
  const bytes = Buffer.from(JSON.stringify(bundle));
  const file = `${name}.bundle.json`;
  if (bytes.length > LARGEST_BUNDLE)
    return `<p>The bundle of this run has ${bytes.length} bytes, too many for this page.</p>`;
  return `<p><a download="${escapeHtml(file)}" href="data:application/json;base64,${bytes.toString("base64")}">Download the bundle</a>, then <code>understudy replay ${escapeHtml(file)}</code></p>`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
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
