import { test as base } from "@playwright/test";
import type { SandboxClient } from "./sandbox.ts";
import { journalText, testServer, unhitFaults } from "./test-sandbox.ts";

/**
 * Playwright's `test` with a `sandbox` fixture (interfaces 8): a fresh sandbox per test, its journal
 * attached to the report when the test fails, and a failure when a fault that it armed never struck.
 */
export const test = base.extend<
  { sandbox: SandboxClient },
  { understudyServer: Awaited<ReturnType<typeof testServer>> }
>({
  understudyServer: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's dependencies off this pattern
    async ({}, use) => {
      const server = await testServer();
      await use(server);
      await server.close();
    },
    { scope: "worker" },
  ],
  sandbox: async ({ understudyServer }, use, testInfo) => {
    const sandbox = await understudyServer.understudy.sandbox();
    // The status does not tell yet of what is thrown here.
    let inVain = false;
    try {
      await use(sandbox);
      const unhit = testInfo.status === testInfo.expectedStatus ? await unhitFaults(sandbox) : [];
      inVain = unhit.length > 0;
      if (inVain) throw new Error(`armed but never struck: ${unhit.join("; ")}`);
    } finally {
      if (inVain || testInfo.status !== testInfo.expectedStatus) {
        await testInfo.attach("understudy-journal", {
          body: await journalText(sandbox),
          contentType: "text/plain",
        });
      }
      await sandbox.delete();
    }
  },
});

export { expect } from "@playwright/test";
