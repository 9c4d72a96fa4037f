// Runs tests against code that contains its mutants.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { BaseSequencer, createVitest } from "vitest/node";

/** A loop that a mutant makes endless throws after this many times the usual number of passes. */
const MAX_HITS_FACTOR = 100;

export async function openRunner({ instrumented, tests, patience }) {
  const folder = mkdtempSync(join(tmpdir(), "understudy-mutate-"));
  const pidFile = join(folder, "pid");
  let order = new Map();
  class FastestFirst extends BaseSequencer {
    async sort(files) {
      return files.toSorted((a, b) => (order.get(a.moduleId) ?? 0) - (order.get(b.moduleId) ?? 0));
    }
  }
  const vitest = await createVitest(
    "test",
    {
      watch: false,
      maxWorkers: 1,
      isolate: false,
      retry: 0,
      bail: 0,
      // Shorter than usual: a mutant may make a test wait for ever.
      testTimeout: 30_000,
      hookTimeout: 30_000,
      expect: { requireAssertions: true, poll: { timeout: 15_000 } },
      reporters: [{}],
      onConsoleLog: () => false,
      onUnhandledError: () => true,
      setupFiles: [join(import.meta.dirname, "setup.mjs"), "test/support/property-seed.ts"],
      sequence: { sequencer: FastestFirst },
    },
    { plugins: [{ name: "mutants", enforce: "pre", load: (id) => instrumented.get(id.split("?")[0]) }] },
  );
  const project = vitest.projects[0];
  const wanted = new Set(tests.map((file) => resolve(file)));
  const files = (await vitest.globTestSpecifications()).filter(({ moduleId }) => wanted.has(moduleId));
  /** By file: the milliseconds of each test, and those of its hooks and imports. */
  const costs = new Map();
  /** By mutant: whether imports reach it, how often tests do, and which tests of which files. */
  const reached = new Map();
  /** By source file, how many of its mutants each test file has killed: that file is likely to kill the next. */
  const kills = new Map();

  return {
    /** Runs the tests without a mutant, and records which mutants each reaches and how long it takes. */
    async measure() {
      // Not the command's entry, which runs the command when it is imported.
      const sources = [...instrumented.keys()].filter((file) => !file.endsWith("/main.ts"));
      vitest.provide("mutation", { pidFile, sources });
      const started = performance.now();
      const { testModules, unhandledErrors } = await vitest.runTestSpecifications(files);
      const failed = testModules.filter((module) => module.state() === "failed").map(describeFailure);
      for (const module of testModules) if (module.state() !== "failed") recordCosts(module);
      return {
        failed: [...failed, ...unhandledErrors.map(describeOutsideError)],
        seconds: (performance.now() - started) / 1000,
      };
    },

    /** Runs the tests of a mutant. `killer` is the test that fails, or `time`; undefined if the mutant survives. */
    async try(mutant) {
      const { plan, milliseconds } = planTests(mutant);
      if (plan.length === 0) return { killer: undefined, seconds: 0 };
      order = new Map(plan.map(({ file }, index) => [file, index]));
      vitest.provide("mutation", {
        pidFile,
        mutant: mutant.id,
        hitLimit: 10_000 + MAX_HITS_FACTOR * (reached.get(mutant.id)?.hits ?? 0),
      });
      vitest.config.bail = 1;
      project.config.bail = 1;
      vitest.state.filesMap.clear();
      vitest.state.errorsSet.clear();
      const started = performance.now();
      let timedOut = false;
      const limit = setTimeout(
        () => {
          timedOut = endWorker(Number(readFileSync(pidFile, "utf8")));
        },
        60_000 + 4 * milliseconds,
      );
      const specifications = plan.map(({ file, testIds }) => project.createSpecification(file, { testIds }));
      const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
      clearTimeout(limit);
      const red = testModules.find((module) => module.state() === "failed");
      if (red !== undefined) countKill(mutant.fileName, red.moduleId);
      const killer = timedOut
        ? "time"
        : red !== undefined
          ? describeFailure(red)
          : unhandledErrors.length > 0
            ? describeOutsideError(unhandledErrors[0])
            : undefined;
      return { killer, seconds: (performance.now() - started) / 1000 };
    },

    async close() {
      await vitest.close();
      rmSync(folder, { recursive: true, force: true });
      // Vitest sets it when a test fails, which killed mutants cause.
      process.exitCode = 0;
    },
  };

  function recordCosts(module) {
    const file = module.moduleId;
    const tests = new Map(
      [...module.children.allTests()].map((test) => [test.id, test.diagnostic()?.duration ?? 0]),
    );
    const testMs = [...tests.values()].reduce((sum, one) => sum + one, 0);
    const { duration, collectDuration } = module.diagnostic();
    costs.set(file, { tests, rest: Math.max(0, duration - testMs) + Math.min(collectDuration, 500) });
    const { imported, tests: byTest } = module.meta().reached ?? { imported: {}, tests: {} };
    for (const id of Object.keys(imported)) getReach(id).imported = true;
    for (const [test, hits] of Object.entries(byTest)) {
      for (const [id, times] of Object.entries(hits)) {
        const one = getReach(id);
        one.hits += times;
        const set = one.files.get(file) ?? one.files.set(file, new Set()).get(file);
        for (const each of test.endsWith(":hooks") ? tests.keys() : [test]) set.add(each);
      }
    }
  }

  function getReach(id) {
    return reached.get(id) ?? reached.set(id, { imported: false, hits: 0, files: new Map() }).get(id);
  }

  /** The files and tests that reach a mutant, the likely and fast ones first. */
  function planTests({ id, fileName }) {
    const { imported, files: byFile } = reached.get(id) ?? { imported: false, files: new Map() };
    const rows = [...costs].flatMap(([file, { tests, rest }]) => {
      const testIds = byFile.get(file) ?? (imported ? new Set(tests.keys()) : new Set());
      if (testIds.size === 0) return [];
      const cost = rest + [...testIds].reduce((sum, test) => sum + tests.get(test), 0);
      const likely = 1 + 3 * (kills.get(fileName)?.get(file) ?? 0);
      return [{ file, testIds: [...testIds], cost, rank: (cost / likely) * (byFile.has(file) ? 1 : 10) }];
    });
    const plan = [];
    let milliseconds = 0;
    for (const row of rows.toSorted((a, b) => a.rank - b.rank)) {
      if (plan.length > 0 && milliseconds + row.cost > patience * 1000) continue;
      plan.push(row);
      milliseconds += row.cost;
    }
    return { plan, milliseconds };
  }

  function countKill(source, file) {
    const counts = kills.get(source) ?? kills.set(source, new Map()).get(source);
    counts.set(file, (counts.get(file) ?? 0) + 1);
  }
}

/** Kills a worker; false if it has ended already. */
function endWorker(pid) {
  try {
    return process.kill(pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
    return false;
  }
}

function describeFailure(module) {
  const red = [...module.children.allTests()].find((test) => test.result().state === "failed");
  const errors = [...module.errors(), ...[...module.children.allSuites()].flatMap((suite) => suite.errors())];
  const what = red?.fullName ?? errors[0]?.message?.split("\n")[0] ?? "failed";
  return `${relative(process.cwd(), module.moduleId)} > ${what.slice(0, 120)}`;
}

function describeOutsideError(error) {
  return `an error outside of tests: ${String(error?.message ?? JSON.stringify(error)).slice(0, 120)}`;
}
