// Runs in the worker before each test file: records which mutants its tests reach, or switches one mutant on.

import { writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, inject } from "vitest";

const { mutant, hitLimit, pidFile, sources } = inject("mutation");
globalThis.__stryker__ ??= {};
const stryker = globalThis.__stryker__;

if (mutant === undefined) {
  // Mutants that imports reach belong to no file; those that hooks reach, to all tests of the file.
  stryker.currentTestId = undefined;
  // Imported before the tests: a module that is loaded on demand would count for the first test that needs it.
  for (const file of sources) await import(file);
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern which fixtures are wanted
  beforeAll(({}, { file }) => {
    stryker.currentTestId = `${file.id}:hooks`;
  });
  beforeEach(({ task }) => {
    stryker.currentTestId = task.id;
  });
  afterEach(({ task }) => {
    stryker.currentTestId = `${task.file.id}:hooks`;
  });
  // biome-ignore lint/correctness/noEmptyPattern: as above
  afterAll(({}, { file, meta }) => {
    const { static: imported, perTest } = stryker.mutantCoverage ?? { static: {}, perTest: {} };
    const own = Object.entries(perTest).filter(
      ([id]) => id.startsWith(`${file.id}_`) || id.startsWith(`${file.id}:`),
    );
    meta.reached = { imported, tests: Object.fromEntries(own) };
  });
} else {
  // The runner kills this process if the tests do not end.
  writeFileSync(pidFile, String(process.pid));
  stryker.activeMutant = mutant;
  stryker.hitCount ??= 0;
  stryker.hitLimit = hitLimit;
}
