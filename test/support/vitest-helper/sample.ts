import { describe } from "vitest";
import { expect, test } from "../../../src/client/vitest.ts";

// test/cli/vitest-helper.test.ts runs this file in a separate Vitest. Some tests fail on purpose.
const listModels = ({ url, credentials }: { url: string; credentials: Readonly<Record<string, string>> }) =>
  // Some clients drop the path of a base URL.
  fetch(new URL("/v1/models", url), { headers: { "api-key": credentials["usr_dan"]! } });

test("gets its fault", async ({ sandbox }) => {
  await sandbox.faults.add({ match: { operation: "models.list" }, times: 1, effect: { status: 503 } });
  expect((await listModels(sandbox)).status).toBe(503);
});

test("leaves a request held", async ({ sandbox }) => {
  await sandbox.faults.add({ match: { operation: "models.list" }, effect: { hold: {} } });
  void listModels(sandbox);
  await sandbox.held.next();
});

test("arms a rule that never triggers", async ({ sandbox }) => {
  await sandbox.faults.add({ match: { operation: "threads.delete" }, effect: { status: 503 } });
  expect((await listModels(sandbox)).status).toBe(200);
});

test("fails an assertion", async ({ sandbox }) => {
  await fetch(`${sandbox.url}/v1/models`, { headers: { "api-key": "ak_wrong" } });
  expect((await listModels(sandbox)).status).toBe(418);
});

test("does not use up a rule", async ({ sandbox }) => {
  await sandbox.faults.add({ match: { operation: "models.list" }, times: 2, effect: { status: 503 } });
  expect((await listModels(sandbox)).status).toBe(503);
});

test("deletes its sandbox", async ({ sandbox }) => {
  await sandbox.delete();
});

test.fails("is meant to fail", async ({ sandbox }) => {
  expect((await listModels(sandbox)).status).toBe(418);
});

describe("with options", () => {
  const past = "2020-02-29T12:00:00.000Z";
  const own = test.extend({
    understudy: {
      fixture: { extends: "reference", departments: [{ id: "dept_own", name: "Own" }] },
      seed: 7,
      clock: { mode: "frozen", now: past },
      settings: { journal_limit: 10 },
      scenarios: ["models-list-rate-limited"],
    },
  });

  own("begins as the options say", async ({ sandbox }) => {
    expect((await listModels(sandbox)).status).toBe(429);
    const { seed, clock, settings, counts, scenarios } = await sandbox.info();
    expect([seed, clock.mode, clock.now, settings.journal_limit, scenarios]).toEqual([
      ...[7, "frozen", past, 10, ["models-list-rate-limited"]],
    ]);
    expect((await sandbox.state("departments").get("dept_own")).name).toBe("Own");
    expect(counts["departments"]).toBeGreaterThan(1);
  });

  own("never triggers its scenario", async ({ sandbox }) => {
    expect(sandbox.name).toBeTruthy();
  });

  describe("that allow it", () => {
    const allowing = test.extend({
      understudy: { scenarios: ["models-list-rate-limited"], allowUntriggered: true },
    });

    allowing("may leave it alone", async ({ sandbox }) => {
      expect((await sandbox.info()).scenarios).toEqual(["models-list-rate-limited"]);
    });
  });

  describe("that do not exist", () => {
    const misspelt = test.extend({ understudy: { fixtur: "reference" } as never });

    misspelt("are refused", async ({ sandbox }) => {
      expect(sandbox.name).toBeTruthy();
    });
  });
});

describe("with an override", () => {
  test.override({ understudy: { clock: { mode: "scaled", rate: 1, now: "2020-02-29T12:00:00.000Z" } } });

  test("runs on from the past", async ({ sandbox }) => {
    const { mode, now } = (await sandbox.info()).clock;
    expect([mode, now.slice(0, 15)]).toEqual(["scaled", "2020-02-29T12:0"]);
  });
});

describe("toHaveReceived", () => {
  test("counts what came", async ({ sandbox }) => {
    await listModels(sandbox);
    await expect(sandbox).toHaveReceived({ operation: "models.list" });
    await expect(sandbox).toHaveReceived(
      { operation: "models.*", status: 200 },
      { times: { min: 1, max: 2 } },
    );
    await expect(sandbox).not.toHaveReceived({ operation: "threads.delete" });
  });

  test("waits for what is still to come", async ({ sandbox }) => {
    const received = expect(sandbox).toHaveReceived({ operation: "models.list" }, { within: "30s" });
    await listModels(sandbox);
    await received;
  });

  test("names the nearest request", async ({ sandbox }) => {
    await listModels(sandbox);
    await expect(sandbox).toHaveReceived({ operation: "models.list", status: 404 }, { times: 2 });
  });
});
