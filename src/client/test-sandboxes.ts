import { journalText } from "./evidence.ts";
import type { SandboxClient } from "./sandbox.ts";
import { checkTestOptions, type TestOptions } from "./test-options.ts";
import { openTestSandbox, TestServers } from "./test-sandbox.ts";

export interface TestSandboxes {
  /**
   * For a runner without a fixture of ours: what its `test` is to run. The body has a fresh sandbox; a failure shows its
   * journal on standard error, and a rule that never struck is one.
   */
  with(body: (sandbox: SandboxClient) => unknown, more?: TestOptions): (...given: unknown[]) => Promise<void>;
  /** For the runner's `after` or `afterAll`: ends the server, where it is one of the tests' own. */
  close(): Promise<void>;
}

/**
 * A fresh sandbox per test in any runner (interfaces 13): on the suite's server in a suite, on the one that `UNDERSTUDY_URL`
 * names, else on one in this process.
 * @throws TypeError for options that do not exist
 */
export function testSandboxes(options: TestOptions = {}): TestSandboxes {
  checkTestOptions(options);
  const servers = new TestServers();
  return {
    with(body, more = {}) {
      checkTestOptions(more);
      // Runners count a function's parameters, to tell whether it takes a callback.
      return async (...given) => {
        const name = testName(given[0]);
        const opened = await openTestSandbox(servers, { ...options, ...more }, name);
        let outcome: "passed" | "failed" = "failed";
        try {
          await body(opened.sandbox);
          const unstruck = await opened.unstruck();
          if (unstruck !== undefined) throw new Error(unstruck);
          outcome = "passed";
        } finally {
          if (outcome === "failed") process.stderr.write(`${name}\n${await journalText(opened.sandbox)}\n`);
          await opened.end(outcome);
        }
      };
    },
    close: () => servers.close(),
  };
}

/** The test's name, as node:test passes it to the body, or as Jest knows it. */
function testName(context: unknown): string {
  const { fullName, name } = (context ?? {}) as { fullName?: string; name?: string };
  const { expect } = globalThis as { expect?: { getState?: () => { currentTestName?: string } } };
  return fullName ?? name ?? expect?.getState?.().currentTestName ?? "a test";
}
