import { test as base, onTestFailed } from "vitest";
import type { SandboxClient } from "./sandbox.ts";
import { journalText, testServer, unhitFaults } from "./test-sandbox.ts";

let server: ReturnType<typeof testServer> | undefined;

/**
 * `test` with a `sandbox` fixture (interfaces 8): a fresh sandbox per test, its journal shown when the
 * test fails, and a failure when a fault that the test armed never struck.
 */
export const test = base.extend<{ sandbox: SandboxClient }>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads a fixture's dependencies off this pattern
  sandbox: async ({}, use) => {
    server ??= testServer();
    const { understudy } = await server;
    const sandbox = await understudy.sandbox();
    let failed = false;
    onTestFailed(async () => {
      failed = true;
    });
    try {
      await use(sandbox);
      const unhit = await unhitFaults(sandbox);
      if (unhit.length > 0) throw new Error(`armed but never struck: ${unhit.join("; ")}`);
    } finally {
      if (failed) process.stderr.write(`${await journalText(sandbox)}\n`);
      await sandbox.delete();
    }
  },
});

export { expect } from "vitest";
