// In the worker, before each test file: notes what its tests reach, or switches one mutant on.

import { writeFileSync } from "node:fs";
import { afterAll, afterEach, beforeAll, beforeEach, inject } from "vitest";

const { mutant, hitLimit, pidFile, sources } = inject("mutation");
globalThis.__stryker__ ??= {};
const stryker = globalThis.__stryker__;

if (mutant === undefined) {
  // What is reached while modules are imported belongs to no file; what its hooks reach, to all tests of the file.
  stryker.currentTestId = undefined;
  // What is loaded when it is first asked for would else belong to the one test that happens to ask first.
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
  // So that one that never ends can be ended from outside.
  writeFileSync(pidFile, String(process.pid));
  stryker.activeMutant = mutant;
  stryker.hitCount ??= 0;
  stryker.hitLimit = hitLimit;
}
