// Mutation testing with StrykerJS: changes the code in small ways and asks whether a test notices.
//
//   npm run mutate -- src/state                        every mutant of a folder (or file)
//   npm run mutate -- src/http --sample 60 --seed 2    some sixty of them, the same for the same seed
//   npm run mutate -- src/webhooks --tests src/webhooks test/webhooks
//
// The tests that could notice are found by the folder; docs/quality.md has the scores, and what survived and why.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { commonTokens } from "@stryker-mutator/api/plugin";
import { Stryker } from "@stryker-mutator/core";
import { createInstrumenter } from "@stryker-mutator/instrumenter";
import { createInjector } from "typed-inject";

/** Where the tests of a folder are, besides the folder itself. */
const TESTS = {
  "src/http": ["test/api", "test/hardening"],
  "src/state": ["src/sandbox", "test/history"],
  "src/sandbox": ["test/control", "test/history"],
  "src/faults": ["test/faults"],
  "src/webhooks": ["test/webhooks"],
  "src/control": ["test/control", "test/history"],
  "src/persistence": ["test/control"],
  "src/resources": ["test/api"],
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: "string" },
    seed: { type: "string", default: "1" },
    tests: { type: "string", multiple: true },
  },
});
if (positionals.length === 0) {
  console.error(
    "mutate: name a folder or file, such as src/state; docs/quality.md lists those that are measured",
  );
  process.exit(2);
}
const { sample, seed } = values;
if (sample !== undefined && !(Number(sample) > 0)) {
  console.error(`mutate: --sample is a number of mutants, not ${sample}`);
  process.exit(2);
}

const files = positionals.flatMap(sourcesIn);
if (files.length === 0) {
  console.error(`mutate: there is nothing to change in ${positionals.join(", ")}`);
  process.exit(2);
}
const tests = (values.tests ?? positionals.flatMap(testsOf)).flatMap((place) =>
  place.endsWith(".test.ts") ? [place] : [`${place}/**/*.test.ts`],
);
const all = await mutantsOf(files);
const chosen = sample === undefined ? all : shuffled(all, Number(seed)).slice(0, Number(sample));
console.log(`${files.length} files, ${chosen.length} of ${all.length} mutants, tests in ${tests.join(", ")}`);

process.env.MUTATION_TESTS = tests.join(",");
const results = await new Stryker({
  mutate: sample === undefined ? files : chosen.map(rangeOf),
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner"],
  vitest: { configFile: "test/support/mutation.config.ts", related: false },
  coverageAnalysis: "perTest",
  concurrency: 2,
  timeoutMS: 20_000,
  tempDirName: "tmp/mutation",
  reporters: ["clear-text", "progress"],
  clearTextReporter: { reportTests: false, logTests: false },
  // Stryker's rewriting of it needs the former compiler's programming interface; nothing in ours has to be rewritten.
  tsconfigFile: "no-tsconfig.json",
  ignorePatterns: ["bench", "tmp"],
  thresholds: { high: 90, low: 70, break: null },
}).runMutationTest();
const found = results.filter(({ status }) => status === "Killed" || status === "Timeout").length;
const judged = results.filter(({ status }) =>
  ["Killed", "Timeout", "Survived", "NoCoverage"].includes(status),
);
console.log(`${positionals.join(" ")}: ${found} of ${judged.length} mutants killed`);

function sourcesIn(place) {
  const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory();
  const found = isFolder ? readdirSync(place, { recursive: true }).map((name) => join(place, name)) : [place];
  return found.filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
}

/** The folder's own and those of its area. */
function testsOf(place) {
  const own = place.endsWith(".ts") ? place.slice(0, place.lastIndexOf("/")) : place;
  const area = Object.keys(TESTS).find((one) => place === one || place.startsWith(`${one}/`));
  return [own, ...(area === undefined ? [] : TESTS[area])];
}

async function mutantsOf(names) {
  const silent = new Proxy({}, { get: () => () => {} });
  const instrumenter = createInjector()
    .provideValue(commonTokens.getLogger, () => silent)
    .provideValue(commonTokens.logger, silent)
    .injectFunction(createInstrumenter);
  const sources = names.map((name) => ({ name, content: readFileSync(name, "utf8"), mutate: true }));
  const options = { plugins: null, excludedMutations: [], ignorers: [], noHeader: true };
  return (await instrumenter.instrument(sources, options)).mutants;
}

/** As Stryker names a part of a file; smaller mutants within it come along. */
function rangeOf({ fileName, location: { start, end } }) {
  return `${fileName}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`;
}

/** Fisher and Yates, by mulberry32: the same seed, the same order. */
function shuffled(list, seed) {
  const result = [...list];
  let state = seed | 0;
  for (let i = result.length - 1; i > 0; i--) {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    const j = Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * (i + 1));
    [result[i], result[j]] = [result[j], result[i]];
  }
  return result;
}
