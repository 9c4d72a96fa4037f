import { afterAll, afterEach, expect, it } from "vitest";
import { explainMissingBrowser } from "../../../scripts/browser.mjs";
import { hasRuntime } from "../../../scripts/runtimes.mjs";
import { removeScratch } from "../run-understudy.ts";
import { type Directions, directionsOf } from "./directions.ts";
import { pageScript } from "./page-script.ts";
import { blocks, pages } from "./pages.ts";
import { browserHere, openStage, type Stage } from "./stage.ts";
import { hasCurl } from "./stand-in.ts";

/** Of the repository rather than of the package: what they tell to run is this very run, or takes minutes. */
const OF_THE_REPOSITORY = new Set(["CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md"]);
/** Answers that an example must not get, unless its page says so (`shows`). */
const REFUSALS = ["urn:understudy:problem", '"INVALID_INPUT"', "There is no such endpoint"];
const LIMIT_MS = 600_000;
const GUIDE = /^README\.md|^docs\/(for-|getting-started|receivers\/|examples\/)/;

const run = pages().filter((page) => !OF_THE_REPOSITORY.has(page) && blocks(page).length > 0);
/** Pages that are run, in two parts that take about as long, so that two cores share them. */
export const GUIDES = run.filter((page) => GUIDE.test(page));
export const OTHERS = run.filter((page) => !GUIDE.test(page));

/**
 * Every example of every page, as a reader would follow it: pages are run from top to bottom in an empty project,
 * files written where a block names one, commands typed as they stand there.
 */
export function testExamples(of: readonly string[]): void {
  let stage: Stage | undefined;
  afterEach(() => stage?.close());
  afterAll(removeScratch);

  it.for(of)("%s [interfaces 13]", { timeout: LIMIT_MS }, async (page, { skip }) => {
    const directions = directionsOf(page);
    const lacking = await lackingHere(directions);
    if (lacking !== undefined) skip(lacking);
    stage = await openStage();
    if (!directions.ownServer) await stage.takeServerForGranted();
    const script = stage.placed(pageScript(page, directions));
    const { code, stdout, stderr } = await stage.run(script, placedKeys(stage, directions.exits));
    expect({ code, stderr: code === 0 ? "" : stderr, stdout: code === 0 ? "" : stdout }).toEqual({
      code: 0,
      stderr: "",
      stdout: "",
    });
    for (const promise of directions.says ?? []) expect(stdout).toMatch(promise);
    const shown = directions.shows ?? [];
    for (const refusal of REFUSALS.filter((one) => !shown.includes(one)))
      expect(stdout).not.toContain(refusal);
    for (const refusal of shown) expect(stdout).toContain(refusal);
  });
}

/** Why a page cannot be run on this machine, which the run says aloud at its end. */
async function lackingHere({ needs = [], browser = false }: Directions): Promise<string | undefined> {
  const missing = needs.filter((name) => !hasRuntime(name));
  if (!hasCurl()) missing.unshift("curl");
  if (missing.length > 0) return `${missing.join(", ")} is not installed`;
  return browser && (await browserHere()) === undefined ? explainMissingBrowser() : undefined;
}

function placedKeys({ placed }: Stage, exits: Readonly<Record<string, number>> = {}) {
  return Object.fromEntries(Object.entries(exits).map(([command, code]) => [placed(command), code]));
}
