import { afterEach, describe, expect, it, vi } from "vitest";
import { createUnderstudy } from "../../src/client/index.ts";
import { ManualClientTest } from "../../src/tools/client-test/manual-test.ts";
import { waitUntil } from "../support/eventually.ts";

afterEach(() => {
  vi.useRealTimers();
});

describe("the rules of a manual client test", () => {
  it("expire after the test is done [interfaces 21]", async () => {
    const server = await createUnderstudy();
    const sandbox = await server.sandbox({});
    const key = sandbox.credentials.usr_dan;
    const read = async () =>
      (await fetch(`${sandbox.url}/v1/models`, { headers: { "api-key": key } })).status;
    const readEnd = async () =>
      Date.parse((await sandbox.faults.list()).items[0]!.lease!.ends_at!) -
      Date.parse((await sandbox.clock.show()).now);
    vi.useFakeTimers({ toFake: ["setInterval"] });
    const test = new ManualClientTest(sandbox, { only: ["no-retry-of-403"] });
    await test.waitForRun();
    await read();
    test.end("worked");
    await test.waitForRun();
    expect(await read()).toBe(403);
    await sandbox.clock.advance({ by: "2m" });
    expect(await readEnd()).toBeLessThan(61_000);
    vi.advanceTimersByTime(60_000);
    await waitUntil(async () => (await readEnd()) > 170_000);
    const [rule] = (await sandbox.faults.list()).items;
    expect(rule!.hits).toBe(1);
    // Simulates the end of the process.
    vi.clearAllTimers();
    await sandbox.clock.advance({ by: "3m" });
    expect(await read()).toBe(200);
    test.stop();
    await test.report;
    expect((await sandbox.faults.list()).items).toEqual([]);
    await server.close();
  }, 60_000);
});

describe("a manual client test whose client made no request yet", () => {
  it("passes no check [interfaces 21]", async () => {
    const server = await createUnderstudy();
    const test = new ManualClientTest(await server.sandbox({}), {});
    await test.waitForRun();
    const { checks } = await test.status();
    expect(new Set(checks.map(({ outcome }) => outcome))).toEqual(new Set(["not-observable"]));
    test.stop();
    await test.report;
    await server.close();
  }, 60_000);
});

describe("a manual client test that cannot start", () => {
  it("says why, in place of a run that never comes [interfaces 21]", async () => {
    const server = await createUnderstudy();
    const sandbox = await server.sandbox({});
    await sandbox.snapshots.save("before-client-test");
    const test = new ManualClientTest(sandbox, {});
    await expect(test.waitForRun()).rejects.toThrow(/before-client-test/);
    await server.close();
  }, 60_000);
});

describe("a manual client test that is stopped while its run is prepared", () => {
  it("ends [interfaces 21]", async () => {
    const server = await createUnderstudy();
    const sandbox = await server.sandbox({});
    const test = new ManualClientTest(sandbox, { only: ["no-retry-of-403"] });
    vi.spyOn(sandbox.journal, "clear").mockImplementationOnce(async () => test.stop());
    const { stopped } = await test.report;
    expect(stopped).toBe("The test was stopped by its user in run 1 of 2.");
    await server.close();
  });
});

describe("two calls that wait for the same run of a manual client test", () => {
  it("both resolve when it can be made [interfaces 21]", async () => {
    const server = await createUnderstudy();
    const test = new ManualClientTest(await server.sandbox({}), { only: ["no-retry-of-403"] });
    const waits = [test.waitForRun(), test.waitForRun()];
    expect(await Promise.all(waits)).toEqual([undefined, undefined]);
    test.stop();
    await test.report;
    await server.close();
  });
});

describe("a manual client test that ends in its first run", () => {
  const readStopped = async (end: (test: ManualClientTest) => void) => {
    const server = await createUnderstudy();
    const test = new ManualClientTest(await server.sandbox({}), { only: ["no-retry-of-403"] });
    await test.waitForRun();
    end(test);
    const { stopped } = await test.report;
    await server.close();
    return stopped;
  };

  it("says that its user stopped it, not that the client made no request [interfaces 21]", async () => {
    expect(await readStopped((test) => test.stop())).toBe("The test was stopped by its user in run 1 of 2.");
  });

  it("says in a complete sentence that the client hangs [interfaces 21]", async () => {
    expect(await readStopped((test) => test.end("hangs"))).toContain(
      "The client made no request to the sandbox. It did not end.",
    );
  });
});
