import { expect, test } from "../../../src/client/vitest.ts";

// test/cli/suite-helpers.test.ts runs two files, so that a coverage report has two workers.
const listModels = async ({
  url,
  credentials,
}: {
  url: string;
  credentials: Readonly<Record<string, string>>;
}) => (await fetch(`${url}/v1/models`, { headers: { "api-key": credentials["usr_dan"]! } })).status;

test("lists the models", async ({ sandbox }) => {
  expect(await listModels(sandbox)).toBe(200);
});

test("waits after a refusal", async ({ sandbox }) => {
  await sandbox.faults.add({ match: { operation: "models.list" }, effect: { error: "RATE_LIMIT_EXCEEDED" } });
  expect(await listModels(sandbox)).toBe(429);
});
