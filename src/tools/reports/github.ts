import { existsSync } from "node:fs";
import { relative, resolve } from "node:path";
import { type Html, html } from "./html.ts";
import type { JunitCase, JunitProblem, JunitReport } from "./junit.ts";

/** GitHub shows at most this many errors of a step; the summary has all. */
const MAX_ANNOTATIONS = 10;
/** GitHub refuses a summary of more than 1 MiB, and one step may write several. */
const MAX_SUMMARY_CHARACTERS = 200_000;

type FailedCase = JunitCase & { problem: JunitProblem };

/** The failed cases as workflow commands of GitHub Actions, which shows them in the run and in the file. */
export function toAnnotations(report: JunitReport, workspace = process.cwd()): string[] {
  return listFailed(report)
    .slice(0, MAX_ANNOTATIONS)
    .map(({ name, file, problem }) => {
      const properties = { file: file && findPathWithin(workspace, file), title: `${report.name}: ${name}` };
      const definedProperties = Object.entries(properties).filter(([, value]) => value !== undefined);
      const propertyTexts = definedProperties.map(([key, value]) => `${key}=${escapeProperty(value!)}`);
      return `::error ${propertyTexts.join(",")}::${escapeData(problem.message)}`;
    });
}

/** The summary of a report for the page of a job: the counts, then each failed case; Markdown with HTML. */
export function toSummary(report: JunitReport): string {
  const all = report.suites.flatMap(({ cases }) => cases);
  const failed = listFailed(report);
  const skipped = all.filter((one) => one.skipped !== undefined).length;
  const passed = all.length - failed.length - skipped;
  const counts = `${passed} passed, ${failed.length} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
  let text = `${html`<h3>${report.name}: ${counts}</h3>`}\n`;
  for (const [index, one] of failed.entries()) {
    const next = `${renderFailedHtml(one)}\n`;
    if (text.length + next.length > MAX_SUMMARY_CHARACTERS) {
      text += `${html`<p>${failed.length - index} more failed; --report html=FILE has them.</p>`}\n`;
      break;
    }
    text += next;
  }
  return text;
}

/** Blank lines end a block of HTML in Markdown, except in a `<pre>` that begins a line. */
function renderFailedHtml({ name, problem }: FailedCase): Html {
  const message = problem.message.replaceAll(/\s+/g, " ");
  const detail = problem.detail.slice(0, MAX_SUMMARY_CHARACTERS / 10);
  return html`<details><summary><b>${name}</b>: ${message}</summary>\n\n<pre>${detail}</pre>\n\n</details>`;
}

function listFailed({ suites }: JunitReport): FailedCase[] {
  return suites
    .flatMap(({ cases }) => cases)
    .flatMap((one) => {
      const problem = one.failure ?? one.error;
      return problem === undefined ? [] : [{ ...one, problem }];
    });
}

/** Undefined for a file outside the repository, such as a built-in scenario. */
function findPathWithin(workspace: string, file: string): string | undefined {
  const path = relative(workspace, resolve(file));
  return path.startsWith("..") || !existsSync(file) ? undefined : path;
}

function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
