// test/cli/playwright-helper.test.ts runs this file in a separate Playwright, with the built package. Some tests fail
// on purpose.
import { expect, test } from "../../../dist/client/playwright.js";

const listModels = ({ url, credentials }) =>
  fetch(`${url}/v1/models`, { headers: { "api-key": credentials.usr_dan } });

test("begins as the configuration says", async ({ sandbox }) => {
  expect((await sandbox.info()).seed).toBe(7);
  await listModels(sandbox);
  await expect(sandbox).toHaveReceived({ operation: "models.list" }, { times: 1 });
  await expect(sandbox).not.toHaveReceived({ operation: "threads.delete" });
});

test("fails an assertion", async ({ sandbox }) => {
  await listModels(sandbox);
  await expect(sandbox).toHaveReceived({ operation: "models.list", status: 404 });
});

test("leaves a request held", async ({ sandbox }) => {
  await sandbox.faults.add({ match: { operation: "models.list" }, effect: { hold: {} } });
  void listModels(sandbox);
  await sandbox.held.next();
});

test("arms a rule that never triggers", async ({ sandbox }) => {
  await sandbox.faults.add({ match: { operation: "threads.delete" }, effect: { status: 503 } });
});

test("deletes its sandbox", async ({ sandbox }) => {
  await sandbox.delete();
});

test.describe("with options", () => {
  test.use({
    understudy: {
      clock: { mode: "frozen", now: "2020-02-29T12:00:00.000Z" },
      scenarios: ["models-list-rate-limited"],
    },
  });

  test("begins as the options say", async ({ sandbox }) => {
    expect((await listModels(sandbox)).status).toBe(429);
    const { clock, seed } = await sandbox.info();
    expect([clock.mode, clock.now, seed]).toEqual(["frozen", "2020-02-29T12:00:00.000Z", 1]);
  });

  test("never triggers its scenario", async ({ sandbox }) => {
    expect(sandbox.name).toBeTruthy();
  });
});

test.describe("with options that do not exist", () => {
  test.use({ understudy: { sead: 7 } });

  test("is refused", async ({ sandbox }) => {
    expect(sandbox.name).toBeTruthy();
  });
});
