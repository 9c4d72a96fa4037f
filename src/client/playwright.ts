import { writeFileSync } from "node:fs";
import { test as base, expect as baseExpect, type TestInfo } from "@playwright/test";
import { collectEvidence } from "./evidence.ts";
import { type ReceivedMatch, type ReceivedOptions, toHaveReceived } from "./received.ts";
import type { SandboxClient } from "./sandbox.ts";
import { runInSandbox, type TestOptions, TestServers } from "./test-sandbox.ts";

/**
 * Playwright's `test` with a `sandbox` fixture (interfaces.md 8 and 13): a fresh sandbox per test, created as the option
 * `understudy` says. If the test fails, its evidence is attached to the report. The test also fails if a rule was never
 * triggered.
 */
export const test = base.extend<
  { understudy: TestOptions; sandbox: SandboxClient },
  { understudyServers: TestServers }
>({
  understudy: [{}, { option: true }],
  understudyServers: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's dependencies off this pattern
    async ({}, use) => {
      const servers = new TestServers();
      await use(servers);
      await servers.close();
    },
    { scope: "worker" },
  ],
  sandbox: async ({ understudyServers, understudy }, use, testInfo) => {
    await runInSandbox(understudyServers, understudy, {
      name: testInfo.titlePath.join(" › "),
      id: testInfo.testId,
      run: use,
      outcome: () => {
        if (testInfo.status !== testInfo.expectedStatus) return "failed";
        return testInfo.status === "skipped" ? "skipped" : "passed";
      },
      onFailure: (sandbox) => attachEvidence(testInfo, sandbox),
    });
  },
});

export type { TestOptions };

/** Playwright's own, with `expect(sandbox).toHaveReceived(match, { times, within })`. */
export const expect = baseExpect.extend({
  toHaveReceived: (sandbox: SandboxClient, match: ReceivedMatch, options?: ReceivedOptions) =>
    toHaveReceived(sandbox, match, options),
});

/** Attaches files with descriptive names, which all of Playwright's reporters link. */
async function attachEvidence(testInfo: TestInfo, sandbox: SandboxClient): Promise<void> {
  for (const { file, contentType, body } of await collectEvidence(sandbox)) {
    const path = testInfo.outputPath(file);
    writeFileSync(path, body, { mode: 0o600 });
    await testInfo.attach(file, { path, contentType });
  }
}
