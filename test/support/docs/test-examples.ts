import { afterAll, afterEach, expect, it } from "vitest";
import { explainMissingBrowser } from "../../../scripts/browser.mjs";
import { hasRuntime } from "../../../scripts/runtimes.mjs";
import { removeTempFolders } from "../run-understudy.ts";
import { createExampleProject, type ExampleProject, getBrowser } from "./example-project.ts";
import { toPageScript } from "./page-script.ts";
import { getPageSettings, type PageSettings } from "./page-settings.ts";
import { findBlocks, listPages } from "./pages.ts";
import { hasCurl } from "./tool-stubs.ts";

/** Pages about the repository, not the package: their commands would run these tests, or take minutes. */
const REPOSITORY_PAGES = new Set(["CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md"]);
/** Errors that an example must not get, unless its page shows them (`shownErrors`). */
const UNEXPECTED_ERRORS = ["urn:understudy:problem", '"INVALID_INPUT"', "There is no such endpoint"];
const LIMIT_MS = 600_000;
const GUIDE = /^README\.md|^docs\/(for-|getting-started|receivers\/|examples\/)/;

const examplePages = listPages().filter((page) => !REPOSITORY_PAGES.has(page) && findBlocks(page).length > 0);
/** The pages in two parts that take about the same time, so that two cores share them. */
export const GUIDES = examplePages.filter((page) => GUIDE.test(page));
export const OTHERS = examplePages.filter((page) => !GUIDE.test(page));

/**
 * Runs all examples of the pages from top to bottom in an empty project: writes files where a block names one, and
 * runs the commands unchanged.
 */
export function testExamples(pages: readonly string[]): void {
  let project: ExampleProject | undefined;
  afterEach(() => project?.close());
  afterAll(removeTempFolders);

  it.for(pages)("%s [interfaces 13]", { timeout: LIMIT_MS }, async (page, { skip }) => {
    const settings = getPageSettings(page);
    const skipReason = await explainSkip(settings);
    if (skipReason !== undefined) skip(skipReason);
    project = await createExampleProject();
    if (!settings.ownServer) await project.startDefaultServer();
    const script = project.replacePorts(toPageScript(page, settings));
    const { code, stdout, stderr } = await project.run(
      script,
      replacePortsInKeys(project, settings.exitCodes),
    );
    expect({ code, stderr: code === 0 ? "" : stderr, stdout: code === 0 ? "" : stdout }).toEqual({
      code: 0,
      stderr: "",
      stdout: "",
    });
    for (const promise of settings.expectedOutput ?? []) expect(stdout).toMatch(promise);
    const shownErrors = settings.shownErrors ?? [];
    for (const refusal of UNEXPECTED_ERRORS.filter((one) => !shownErrors.includes(one)))
      expect(stdout).not.toContain(refusal);
    for (const refusal of shownErrors) expect(stdout).toContain(refusal);
  });
}

/** Explains why a page cannot run on this machine; undefined if it can. */
async function explainSkip({ needs = [], browser = false }: PageSettings): Promise<string | undefined> {
  const missing = needs.filter((name) => !hasRuntime(name));
  if (!hasCurl()) missing.unshift("curl");
  if (missing.length > 0) return `${missing.join(", ")} is not installed`;
  return browser && (await getBrowser()) === undefined ? explainMissingBrowser() : undefined;
}

function replacePortsInKeys({ replacePorts }: ExampleProject, exits: Readonly<Record<string, number>> = {}) {
  return Object.fromEntries(Object.entries(exits).map(([command, code]) => [replacePorts(command), code]));
}
