import { afterAll, afterEach, expect, it } from "vitest";
import { explainMissingBrowser } from "../../../scripts/browser.mjs";
import { hasRuntime } from "../../../scripts/runtimes.mjs";
import { removeTempFolders } from "../run-understudy.ts";
import { createExampleProject, type ExampleProject, getBrowser } from "./example-project.ts";
import { toPageScript } from "./page-script.ts";
import { getPageSettings, type PageSettings } from "./page-settings.ts";
import { findBlocks, listPages } from "./pages.ts";
import { hasCurl } from "./tool-stubs.ts";

/** Of the repository rather than of the package: what they tell to run is this very run, or takes minutes. */
const REPOSITORY_PAGES = new Set(["CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md"]);
/** Answers that an example must not get, unless its page says so (`shows`). */
const UNEXPECTED_ERRORS = ["urn:understudy:problem", '"INVALID_INPUT"', "There is no such endpoint"];
const LIMIT_MS = 600_000;
const GUIDE = /^README\.md|^docs\/(for-|getting-started|receivers\/|examples\/)/;

const examplePages = listPages().filter((page) => !REPOSITORY_PAGES.has(page) && findBlocks(page).length > 0);
/** Pages that are run, in two parts that take about as long, so that two cores share them. */
export const GUIDES = examplePages.filter((page) => GUIDE.test(page));
export const OTHERS = examplePages.filter((page) => !GUIDE.test(page));

/**
 * Every example of every page, as a reader would follow it: pages are run from top to bottom in an empty project,
 * files written where a block names one, commands typed as they stand there.
 */
export function testExamples(of: readonly string[]): void {
  let stage: ExampleProject | undefined;
  afterEach(() => stage?.close());
  afterAll(removeTempFolders);

  it.for(of)("%s [interfaces 13]", { timeout: LIMIT_MS }, async (page, { skip }) => {
    const directions = getPageSettings(page);
    const lacking = await explainSkip(directions);
    if (lacking !== undefined) skip(lacking);
    stage = await createExampleProject();
    if (!directions.ownServer) await stage.startDefaultServer();
    const script = stage.replacePorts(toPageScript(page, directions));
    const { code, stdout, stderr } = await stage.run(script, replacePortsInKeys(stage, directions.exitCodes));
    expect({ code, stderr: code === 0 ? "" : stderr, stdout: code === 0 ? "" : stdout }).toEqual({
      code: 0,
      stderr: "",
      stdout: "",
    });
    for (const promise of directions.expectedOutput ?? []) expect(stdout).toMatch(promise);
    const shown = directions.shownErrors ?? [];
    for (const refusal of UNEXPECTED_ERRORS.filter((one) => !shown.includes(one)))
      expect(stdout).not.toContain(refusal);
    for (const refusal of shown) expect(stdout).toContain(refusal);
  });
}

/** Why a page cannot be run on this machine, which the run says aloud at its end. */
async function explainSkip({ needs = [], browser = false }: PageSettings): Promise<string | undefined> {
  const missing = needs.filter((name) => !hasRuntime(name));
  if (!hasCurl()) missing.unshift("curl");
  if (missing.length > 0) return `${missing.join(", ")} is not installed`;
  return browser && (await getBrowser()) === undefined ? explainMissingBrowser() : undefined;
}

function replacePortsInKeys({ replacePorts }: ExampleProject, exits: Readonly<Record<string, number>> = {}) {
  return Object.fromEntries(Object.entries(exits).map(([command, code]) => [replacePorts(command), code]));
}
