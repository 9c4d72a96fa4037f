import { describe } from "vitest";
import { expect, test } from "../../../src/client/vitest.ts";

// test/cli/suite-helpers.test.ts runs this file as the command of a suite.
const listModels = async ({
  url,
  credentials,
}: {
  url: string;
  credentials: Readonly<Record<string, string>>;
}) => (await fetch(`${url}/v1/models`, { headers: { "api-key": credentials["usr_dan"]! } })).status;

test("waits after a refusal", async ({ sandbox }) => {
  expect(await listModels(sandbox)).toBe(429);
});

describe("in the past", () => {
  const past = test.extend({ understudy: { clock: { mode: "frozen", now: "2020-02-29T12:00:00.000Z" } } });

  past("waits after a refusal, too", async ({ sandbox }) => {
    expect(await listModels(sandbox)).toBe(429);
    expect((await sandbox.info()).clock.now).toBe("2020-02-29T12:00:00.000Z");
  });
});

test("expects an answer", async ({ sandbox }) => {
  expect([200, 429]).toContain(await listModels(sandbox));
  if (process.env["FAILING"]) expect(await listModels(sandbox)).toBe(200);
});
