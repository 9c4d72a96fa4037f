import { stripVTControlCharacters } from "node:util";
import { formatSeconds, pluralize } from "../../engine/contract/text.ts";
import { type Html, html, renderHtmlPage, renderInstantHtml } from "../../tools/reports/html.ts";
import type { JunitCase, JunitReport } from "../../tools/reports/junit.ts";
import {
  formatCoverage,
  formatExpectation,
  formatJournalLine,
  formatRule,
  formatStage,
  formatTest,
  type ScenarioResult,
  type StageResult,
  type SuiteRequest,
  type SuiteResult,
} from "./suite-result.ts";

const STYLE = `
.all-passed { color: var(--ok); } .some-failed { color: var(--bad); }
tbody th { font-weight: 600; }
.runs td { white-space: nowrap; } .runs .number { padding-right: 1.5rem; }
.journal details { margin: 0; }
@media (min-width: 40.01rem) {
  .runs { min-width: 42rem; } .journal { min-width: 46rem; }
  .runs th:first-child { min-width: 9rem; }
  .journal td:first-child { white-space: nowrap; width: 1%; }
}
section { border-top: 1px solid var(--line); margin-top: 1.75rem; scroll-margin-top: .5rem; }
section h2 { margin-top: 1.25rem; }
.why { color: var(--bad); padding-left: 1.4rem; }
details { margin: .35rem 0; }
details pre { max-height: 40rem; overflow: auto; }
details ul { margin: .3rem 0; padding-left: 1.4rem; }
`;

/** Maximum size of a bundle in the page; only the output of `suite --json` has a larger one. */
const MAX_BUNDLE_BYTES = 4 * 1024 * 1024;

const WORST_FIRST: readonly ScenarioResult["outcome"][] = ["error", "failed", "skipped", "passed"];

/** Renders the suite as one page that needs neither network nor scripts (interfaces.md 2). */
export function renderSuiteHtml(suite: SuiteResult): string {
  const { command, duration_ms, coverage } = suite;
  const scenarios = WORST_FIRST.flatMap((outcome) =>
    suite.scenarios.filter((one) => one.outcome === outcome),
  );
  const title = formatHeadline(suite);
  const head = ["Scenario", "Result", "Exit", "Rules triggered", "Expectations met", "Requests", "Time"];
  const numeric = new Set(["Exit", "Requests", "Time"]);
  return renderHtmlPage({
    title,
    style: STYLE,
    body: html`<h1 class="${suite.ok ? "all-passed" : "some-failed"}">${title}</h1>
<p><code>${command.join(" ")}</code>, ${formatSeconds(duration_ms)}</p>
<p class="quiet">The command ran once per scenario, each time in a fresh sandbox. A run passes when the command exits with 0, the rules and stages of its scenario were triggered, and every expectation is met. Together they saw ${formatCoverage(coverage)}.</p>
<div class="scroll" role="region" aria-label="Scenarios" tabindex="0"><table class="runs stacks">
<thead><tr>${head.map((text) => (numeric.has(text) ? html`<th scope="col" class="number">${text}</th>` : html`<th scope="col">${text}</th>`))}</tr></thead>
<tbody>
${scenarios.map(renderRowHtml)}</tbody>
</table></div>
${scenarios.map(renderSectionHtml)}`,
  });
}

function formatHeadline({ ok, total, failed, skipped }: SuiteResult): string {
  const scenarios = pluralize(total, "scenario");
  if (ok) return total === 1 ? "The only scenario passed" : `All ${scenarios} passed`;
  const skippedText = skipped === 0 ? "" : `, ${skipped} did not run`;
  return `${failed} of ${scenarios} failed${skippedText}`;
}

function renderRowHtml(result: ScenarioResult, position: number): Html {
  const { name, outcome, exit_code, signal, rules, expectations, requests, duration_ms } = result;
  const exit = signal ?? exit_code ?? "–";
  const met = formatShare(expectations, ({ ok }) => ok);
  return html`<tr><th scope="row"><a href="#s${position + 1}">${name}</a></th><td>${renderBadge(outcome)}</td><td class="number" data-head="Exit">${exit}</td><td data-head="Rules triggered">${formatShare(rules, wasTriggered)}</td><td data-head="Expectations met">${met}</td><td class="number" data-head="Requests">${requests}</td><td class="number" data-head="Time">${formatSeconds(duration_ms)}</td></tr>\n`;
}

function renderBadge(outcome: ScenarioResult["outcome"]): Html {
  return html`<span class="badge ${outcome}">${outcome}</span>`;
}

function wasTriggered({ hits }: { hits: number }): boolean {
  return hits > 0;
}

function formatShare<T>(all: readonly T[], isGood: (one: T) => boolean): string {
  return all.length === 0 ? "none" : `${all.filter(isGood).length} of ${all.length}`;
}

function renderSectionHtml(result: ScenarioResult, position: number): Html {
  const { name, outcome, description, file, failures, rules, expectations, tests, output, journal, stages } =
    result;
  const isOpen = outcome !== "passed" && outcome !== "skipped";
  const failureItems = failures.map((text) => html`<li>${text}</li>`);
  return html`<section id="s${position + 1}">
<h2>${name} ${renderBadge(outcome)}</h2>
<p>${description}</p>
<p class="quiet"><code>${file}</code></p>
${failureItems.length === 0 ? "" : html`<ul class="why">${failureItems}</ul>`}
${renderListHtml(`Rules, ${formatShare(rules, wasTriggered)} triggered`, rules.map(formatRule), isOpen)}
${renderListHtml(`Expectations, ${formatShare(expectations, ({ ok }) => ok)} met`, expectations.map(formatExpectation), isOpen)}
${renderListHtml(`Stages, ${formatShare(stages, ({ verdict }) => verdict === "passed")} passed`, stages.flatMap(listStage), isOpen)}
${renderListHtml(`Tests, ${formatShare(tests, (test) => test.outcome === "passed")} passed`, tests.map(formatTest), isOpen)}
${outcome === "skipped" ? html`<p class="quiet">It did not run: the suite was interrupted before.</p>` : renderOutputHtml(output, isOpen)}
${journal.length === 0 ? "" : renderJournalHtml(journal)}
${renderBundleHtml(result)}
</section>
`;
}

function renderOutputHtml(output: string, isOpen: boolean): Html {
  if (output === "") return html`<p class="quiet">The command printed nothing.</p>`;
  const text = stripVTControlCharacters(output);
  return html`<details${isOpen ? " open" : ""}><summary>Output of the command</summary><pre tabindex="0">${text}</pre></details>`;
}

function renderListHtml(title: string, items: readonly string[], isOpen: boolean): Html {
  if (items.length === 0) return html``;
  const list = items.map((text) => html`<li>${text}</li>`);
  return html`<details${isOpen ? " open" : ""}><summary>${title}</summary><ul>${list}</ul></details>`;
}

function renderJournalHtml(journal: readonly SuiteRequest[]): Html {
  const count = pluralize(journal.length, "request");
  return html`<details open><summary>Journal, ${count}, oldest first</summary><div class="scroll" role="region" aria-label="Journal" tabindex="0"><table class="journal stacks">
<thead><tr><th scope="col">Sandbox's time, UTC</th><th scope="col">Request (open it for headers and bodies)</th><th scope="col">Answer</th><th scope="col">Decided by</th></tr></thead>
<tbody>
${journal.map(renderEntryHtml)}</tbody></table></div></details>`;
}

function renderEntryHtml(entry: SuiteRequest): Html {
  const { at, method, path, status, code, decision, reasons, request, response, test } = entry;
  const reasonLines = reasons.map((text) => html`<br><small>${text}</small>`);
  const query = request.query ? `?${request.query}` : "";
  const bodies = JSON.stringify({ request, response }, null, 2);
  return html`<tr><td>${renderInstantHtml(at)}${test === null ? "" : html`<br><small>${test}</small>`}</td><td><details><summary><code>${method} ${path}${query}</code></summary><pre tabindex="0">${bodies}</pre></details></td><td data-head="Answer">${status === 0 ? "no answer" : status} ${code ?? ""}</td><td data-head="Decided by">${decision}${reasonLines}</td></tr>\n`;
}

/** Embedded in the page, so a report from CI is enough to replay a failure. */
function renderBundleHtml({ name, bundle }: ScenarioResult): Html {
  if (bundle === undefined) return html``;
  const bytes = Buffer.from(JSON.stringify(bundle));
  const file = `${name}.bundle.json`;
  if (bytes.length > MAX_BUNDLE_BYTES)
    return html`<p>The bundle of this run has ${bytes.length} bytes, too many for this page; <code>understudy suite --json</code> prints it.</p>`;
  return html`<p><a download="${file}" href="data:application/json;base64,${bytes.toString("base64")}">Download the bundle</a>, then open it in the console of any Understudy (Timeline, Open export), which shows these requests, or <code>understudy replay ${file}</code></p>`;
}

/** Test cases of each scenario and of its stages; a failed one contains output and journal (interfaces.md 2). */
export function toSuiteReport({ scenarios, command, coverage }: SuiteResult): JunitReport {
  return {
    name: "understudy suite",
    suites: [
      {
        name: command.join(" "),
        properties: [{ name: "coverage", value: formatCoverage(coverage) }],
        cases: scenarios.flatMap((one) => [toSuiteCase(one), ...listStageCases(one)]),
      },
    ],
  };
}

/** A stage, and what it expected. */
function listStage(stage: StageResult): string[] {
  const expectations = stage.expectations.map((one) => `${stage.name}, ${formatExpectation(one)}`);
  return [formatStage(stage), ...expectations];
}

/** A test case for each stage, after that of its scenario. */
function listStageCases({ name, file, stages }: ScenarioResult): JunitCase[] {
  return stages.map((stage) => {
    const testCase = { name: `${name}/${stage.name}`, file, classname: file, time_seconds: 0 };
    const why = stage.why.join("; ");
    if (stage.verdict === "passed") return testCase;
    if (stage.verdict === "inconclusive") return { ...testCase, skipped: `inconclusive: ${why}` };
    return { ...testCase, failure: { message: why, detail: listStage(stage).join("\n") } };
  });
}

function toSuiteCase(result: ScenarioResult): JunitCase {
  const { name, file, duration_ms, outcome, failures, output, journal } = result;
  const testCase: JunitCase = { name, file, classname: file, time_seconds: duration_ms / 1000 };
  const facts = outcome === "skipped" ? [] : ["", ...listFacts(result)];
  const printedText = [stripVTControlCharacters(output).trimEnd(), ...facts].join("\n").trim();
  if (printedText !== "") testCase.system_out = printedText;
  if (outcome === "passed") return testCase;
  if (outcome === "skipped") return { ...testCase, skipped: "the suite was interrupted before it began" };
  const requests = journal.length === 0 ? [] : ["", "Requests:", ...journal.map(formatJournalLine)];
  const problem = { message: failures.join("; "), detail: [...failures, ...requests].join("\n") };
  return outcome === "error" ? { ...testCase, error: problem } : { ...testCase, failure: problem };
}

/** The facts of a run, passed or failed, as lines of its output: JUnit's test cases have no properties. */
function listFacts({ rules, expectations, stages, tests, requests }: ScenarioResult): string[] {
  return [
    ...stages.flatMap(listStage).map((text) => `stage: ${text}`),
    ...rules.map((rule) => `rule: ${formatRule(rule)}`),
    ...expectations.map((one) => `expectation: ${formatExpectation(one)}`),
    ...tests.map((one) => `test: ${formatTest(one)}`),
    `requests: ${requests}`,
  ];
}
