import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";

/** Makes all servers of tests check the control API's responses. Tests without a server do not load the API. */
const checkControlAnswers = {
  name: "check-control-answers",
  transform: (code: string, id: string) =>
    id.endsWith("/src/control/handle-control.ts")
      ? `${code}
import { checkAnswers, checkRefusals } from "../../test/support/openapi/control-answers.ts";
checkAnswers(CONTROL_OPERATIONS);
checkRefusals(CONTROL_STEPS);`
      : undefined,
};

export default defineConfig({
  plugins: [checkControlAnswers],
  test: {
    include: ["src/**/*.test.ts", "scripts/**/*.test.ts", "test/**/*.test.ts"],
    pool: "forks",
    // Tests use both cores, so garbage collector threads and a small young generation cost more than they save.
    execArgv: ["--single-threaded-gc", "--max-semi-space-size=64"],
    // One more than the cores, since tests wait for other processes for a fifth of the time.
    maxWorkers: availableParallelism() + 1,
    // Test files of a worker share modules: importing the server again for each file took a third of the time.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    reporters: ["default", "./test/support/counts-reporter.ts"],
    // These limits end tests that hang. They do not test speed: on a busy machine, four seconds become twenty.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A test without an assertion proves nothing. A poll waits for another process: its limit is longer
    // than any busy machine needs, as in test/support/eventually.ts.
    expect: { requireAssertions: true, poll: { timeout: 50_000 } },
    setupFiles: ["./test/support/property-seed.ts", "./src/hosts/node/platform.ts"],
    // A focused test would skip the others.
    allowOnly: false,
    env: { TZ: "UTC", NODE_ENV: "test" },
  },
});
