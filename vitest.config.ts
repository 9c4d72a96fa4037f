import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/support/longest-first.ts";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    pool: "forks",
    // Both cores are busy with tests: threads that help to collect garbage cost more than they spare, as do small spaces.
    execArgv: ["--single-threaded-gc", "--max-semi-space-size=64"],
    // One more than there are cores: a fifth of the time a test waits for what it started, and a core would rest.
    maxWorkers: availableParallelism() + 1,
    // A worker keeps the modules of the file before: to import the server again for each took a third of the time.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    reporters: ["default", "./test/support/counts-reporter.ts"],
    // Limits, not waits: some tests drive receivers in other languages, and CI has two cores.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // CI's machine is busier than anyone's own; counts-reporter.ts names loudly what only the second attempt let pass.
    retry: 1,
    // A poll waits for what another process does; on a busy machine that takes longer than its default second.
    // A test that asks nothing proves nothing, be it one that returns early or loops over an empty list.
    expect: { requireAssertions: true, poll: { timeout: 60_000 } },
    setupFiles: ["./test/support/property-seed.ts", "./src/hosts/node/platform.ts"],
    // A focused test would leave the others out.
    allowOnly: false,
    env: { TZ: "UTC", NODE_ENV: "test", UNDERSTUDY_JUDGE_ANSWERS: "1" },
  },
});
