import { expect, test } from "../../../src/client/vitest.ts";

// Run by test/cli/vitest-helper.test.ts in a Vitest of its own; two of these fail on purpose.
const models = ({ url, credentials }: { url: string; credentials: Readonly<Record<string, string>> }) =>
  fetch(`${url}/v1/models`, { headers: { "api-key": credentials["usr_dan"]! } });

test("meets its fault", async ({ sandbox }) => {
  await sandbox.faults.add({ match: { operation: "models.list" }, times: 1, effect: { status: 503 } });
  expect((await models(sandbox)).status).toBe(503);
});

test("arms in vain", async ({ sandbox }) => {
  await sandbox.faults.add({ match: { operation: "threads.delete" }, effect: { status: 503 } });
  expect((await models(sandbox)).status).toBe(200);
});

test("fails by itself", async ({ sandbox }) => {
  expect((await models(sandbox)).status).toBe(418);
});
