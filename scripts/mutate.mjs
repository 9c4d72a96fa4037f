// Mutation testing: makes small changes to the code, and lists those that no test notices.
//
//   npm run mutate -- src/engine/state                        every mutant of a folder
//   npm run mutate -- src/engine/pipeline --sample 60 --seed 2    sixty of them, the same for the same seed
//   npm run mutate -- src/engine/pipeline/steps.ts:40             those of a file, or of one line
//   npm run mutate -- src/engine/webhooks --tests src/engine/webhooks,test/webhooks/webhooks.test.ts
//
// For each mutant, the fastest of its tests run for at most sixty seconds (`--patience 300` for longer).
//
// StrykerJS's instrumenter makes the mutants. Its Vitest runner is not used: it runs every test for a mutant that a
// `beforeAll` reaches, and starts a worker, which imports the server again, for each test file. Here all tests of a mutant
// share one worker, the fastest first, until one fails. docs/reference/quality.md has the scores and the survivors.

import { parseArgs } from "node:util";
import { listMutants, shuffle } from "./mutation/mutants.mjs";
import { openRunner } from "./mutation/runner.mjs";
import { findTests, listSources, listTestFiles } from "./mutation/tests-of.mjs";

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
  refuse(
    "name a folder or file, such as src/engine/state; docs/reference/quality.md lists those that are measured",
  );
}
if (sample !== undefined && !(Number(sample) > 0)) refuse(`--sample is a number of mutants, not ${sample}`);
if (!Number.isSafeInteger(Number(seed))) refuse(`--seed is a whole number, not ${seed}`);

if (!(Number(patience) > 0)) refuse(`--patience is a number of seconds, not ${patience}`);

const places = positionals.map((given) => {
  const [, place, line] = given.match(/^(.*?)(?::(\d+))?$/);
  return { place: place.replace(/\/$/, ""), line: line === undefined ? undefined : Number(line) };
});
const sources = [...new Set(places.flatMap(({ place }) => listSources(place)))];
if (sources.length === 0) refuse(`there is nothing to change in ${positionals.join(", ")}`);
const { instrumented, mutants } = await listMutants(sources);
const requested = mutants.filter(({ fileName, location: { start, end } }) =>
  places.some(
    ({ place, line }) =>
      (fileName === place || fileName.startsWith(`${place}/`)) &&
      (line === undefined || (start.line < line && line <= end.line + 1)),
  ),
);
if (requested.length === 0) refuse(`there is nothing to change in ${positionals.join(", ")}`);
const chosen = sample === undefined ? requested : shuffle(requested, Number(seed)).slice(0, Number(sample));
const tests = listTestFiles(values.tests?.split(",") ?? places.flatMap(({ place }) => findTests(place)));
console.log(
  `${chosen.length} of ${requested.length} mutants in ${sources.length} files, ${tests.length} test files`,
);

const runner = await openRunner({ instrumented, tests, patience: Number(patience) });
const { failed, seconds } = await runner.measure();
for (const test of failed) console.log(`left out, since it fails without a mutant: ${test}`);
console.log(`without a mutant, the tests take ${seconds.toFixed(0)} s`);

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

function refuse(message) {
  console.error(`mutate: ${message}`);
  process.exit(2);
}
