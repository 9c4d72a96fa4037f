import { test as base } from "vitest";
import { printableLines } from "../contract/printable.ts";
import type { SandboxClient } from "./sandbox.ts";
import { journalText, testServer, unhitFaults } from "./test-sandbox.ts";

let server: ReturnType<typeof testServer> | undefined;

/**
 * `test` with a `sandbox` fixture (interfaces 8): a fresh sandbox per test, its journal shown when the
 * test fails, and a failure when a fault that the test armed never struck.
 */
export const test = base.extend<{ sandbox: SandboxClient }>({
  sandbox: async ({ task }, use) => {
    server ??= testServer();
    const { understudy } = await server;
    const sandbox = await understudy.sandbox();
    // Hooks such as onTestFailed run after this has ended, when the sandbox and its journal are gone.
    const failed = () => task.result?.state === "fail";
    try {
      await use(sandbox);
      const unhit = failed() ? [] : await unhitFaults(sandbox);
      if (unhit.length > 0) {
        throw new Error(`armed but never struck: ${unhit.join("; ")}\n${await journalText(sandbox)}`);
      }
    } finally {
      if (failed()) process.stderr.write(`${printableLines(await journalText(sandbox))}\n`);
      await sandbox.delete();
    }
  },
});

export { expect } from "vitest";
