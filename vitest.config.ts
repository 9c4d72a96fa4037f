import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";

/** Makes every server of a test check its control API's answers, without loading the API for tests that need no server. */
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
    // Both cores are busy with tests: threads that help to collect garbage cost more than they spare, as do small spaces.
    execArgv: ["--single-threaded-gc", "--max-semi-space-size=64"],
    // One more than there are cores: a fifth of the time a test waits for what it started, and a core would rest.
    maxWorkers: availableParallelism() + 1,
    // A worker keeps the modules of the file before: to import the server again for each took a third of the time.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    reporters: ["default", "./test/support/counts-reporter.ts"],
    // These limits end a test that hangs. They are no speed test: a busy machine makes a test of four seconds take twenty.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A test without an assertion proves nothing. A poll waits for another process, so it gets more than its default second.
    expect: { requireAssertions: true, poll: { timeout: 15_000 } },
    setupFiles: ["./test/support/property-seed.ts", "./src/hosts/node/platform.ts"],
    // A focused test would leave the others out.
    allowOnly: false,
    env: { TZ: "UTC", NODE_ENV: "test" },
  },
});
