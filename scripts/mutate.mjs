// Mutation testing: changes the code in small ways and asks whether a test notices.
//
//   npm run mutate -- src/engine/state                        every mutant of a folder
//   npm run mutate -- src/engine/pipeline --sample 60 --seed 2    sixty of them, the same for the same seed
//   npm run mutate -- src/engine/pipeline/steps.ts:40             those of a file, or of one line
//   npm run mutate -- src/engine/webhooks --tests src/engine/webhooks,test/webhooks/webhooks.test.ts
//
// Each mutant is given the cheapest of its tests, some sixty seconds of them (`--patience 300`: more).
//
// The mutants are StrykerJS's (its instrumenter). Its Vitest runner is not used: to it a mutant that a `beforeAll`
// reaches is one that every test has to be run for, and each test file has a worker that imports the server again.
// Here all of a mutant's tests share one worker, the cheapest first, and the first that fails ends it.
// docs/reference/quality.md has the scores, and what survived and why.

import { parseArgs } from "node:util";
import { listMutants, shuffled } from "./mutation/mutants.mjs";
import { openRunner } from "./mutation/runner.mjs";
import { findTests, sourcesIn, testFiles } from "./mutation/tests-of.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: "string" },
    seed: { type: "string", default: "1" },
    tests: { type: "string" },
    patience: { type: "string", default: "60" },
  },
});
const { sample, seed, patience } = values;
if (positionals.length === 0) {
  refuse("name a folder or file, such as src/state; docs/reference/quality.md lists those that are measured");
}
if (sample !== undefined && !(Number(sample) > 0)) refuse(`--sample is a number of mutants, not ${sample}`);
if (!Number.isSafeInteger(Number(seed))) refuse(`--seed is a whole number, not ${seed}`);

if (!(Number(patience) > 0)) refuse(`--patience is a number of seconds, not ${patience}`);

const places = positionals.map((given) => {
  const [, place, line] = given.match(/^(.*?)(?::(\d+))?$/);
  return { place: place.replace(/\/$/, ""), line: line === undefined ? undefined : Number(line) };
});
const sources = [...new Set(places.flatMap(({ place }) => sourcesIn(place)))];
if (sources.length === 0) refuse(`there is nothing to change in ${positionals.join(", ")}`);
const { instrumented, mutants } = await listMutants(sources);
const asked = mutants.filter(({ fileName, location: { start, end } }) =>
  places.some(
    ({ place, line }) =>
      (fileName === place || fileName.startsWith(`${place}/`)) &&
      (line === undefined || (start.line < line && line <= end.line + 1)),
  ),
);
if (asked.length === 0) refuse(`there is nothing to change in ${positionals.join(", ")}`);
const chosen = sample === undefined ? asked : shuffled(asked, Number(seed)).slice(0, Number(sample));
const tests = testFiles(values.tests?.split(",") ?? places.flatMap(({ place }) => findTests(place)));
console.log(
  `${chosen.length} of ${asked.length} mutants in ${sources.length} files, ${tests.length} test files`,
);

const runner = await openRunner({ instrumented, tests, patience: Number(patience) });
const { failed, seconds } = await runner.learn();
for (const test of failed) console.log(`left out, as it fails before anything is changed: ${test}`);
console.log(`unchanged, the tests take ${seconds.toFixed(0)} s`);

const started = performance.now();
const survivors = [];
for (const [index, mutant] of chosen.entries()) {
  const { killer, seconds } = await runner.try(mutant);
  if (killer === undefined) survivors.push(mutant);
  const verdict = killer === undefined ? "SURVIVED" : `killed by ${killer}`;
  console.log(`${index + 1}/${chosen.length} ${seconds.toFixed(1)} s ${toName(mutant)}: ${verdict}`);
}
await runner.close();
for (const mutant of survivors) {
  console.log(`\n${toName(mutant)}\n- ${mutant.original}\n+ ${mutant.replacement}`);
}
const each = (performance.now() - started) / 1000 / chosen.length;
console.log(
  `\n${positionals.join(" ")}: ${chosen.length - survivors.length} of ${chosen.length} mutants killed, ${each.toFixed(1)} s each`,
);
process.exit(0);

function toName({ fileName, location: { start }, mutatorName }) {
  return `${fileName}:${start.line + 1}:${start.column + 1} ${mutatorName}`;
}

function refuse(why) {
  console.error(`mutate: ${why}`);
  process.exit(2);
}
