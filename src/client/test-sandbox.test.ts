import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { SandboxClient } from "./sandbox.ts";
import { ShareFile, SUITE_FILE_VARIABLE } from "./suite-share.ts";
import { checkTestOptions, describeTooFewHits, TestServers, testSandboxes } from "./test-sandbox.ts";
import type { FaultRule } from "./types.ts";

const makeRule = (given: Partial<FaultRule>) =>
  ({ id: "fault_1", label: "fault_1 {}", hits: 0, spent: false, ...given }) as FaultRule & { label: string };

describe("a rule that was not triggered [interfaces 13]", () => {
  it("is reported if it is a fault, unless it is off [interfaces 8]", () => {
    expect(describeTooFewHits([makeRule({ probability: 0 })])).toBeUndefined();
    expect(describeTooFewHits([makeRule({})])).toBe("armed but never triggered: fault_1 {}");
    expect(describeTooFewHits([makeRule({ hits: 1 })])).toBeUndefined();
  });

  it("need not be triggered if it answers an unknown path, but must be if it breaks one [interfaces 13]", () => {
    const match = { path: "/v1/tools" };
    expect(describeTooFewHits([makeRule({ match, effect: { body: {} } })])).toBeUndefined();
    expect(describeTooFewHits([makeRule({ match, times: 2, effect: { status: 204 } })])).toBeUndefined();
    expect(describeTooFewHits([makeRule({ match, effect: { wire: "reset" } })])).toContain("never triggered");
    expect(
      describeTooFewHits([makeRule({ match: { operation: "models.list" }, effect: { body: {} } })]),
    ).toContain("never triggered");
  });

  it("is reported until its `times` are used up [interfaces 13]", () => {
    expect(describeTooFewHits([makeRule({ times: 3, hits: 2 })])).toBe(
      "armed but not used up: fault_1 {} triggered 2 of 3 times",
    );
    expect(describeTooFewHits([makeRule({ times: 3, hits: 3 })])).toBeUndefined();
    expect(describeTooFewHits([makeRule({ times: 3, hits: 1, spent: true })])).toBeUndefined();
  });
});

describe("a test of a runner without a fixture [interfaces 13]", () => {
  const sandboxes = testSandboxes({ engine: true });
  let printed = "";
  beforeEach(() => {
    printed = "";
    vi.spyOn(process.stderr, "write").mockImplementation((text) => {
      printed += text;
      return true;
    });
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
    await sandboxes.close();
  });
  const fail = sandboxes.with((_, row: object) => {
    throw new Error(`no ${Object.keys(row)}`);
  });

  it("shows its journal when the sandboxes are closed if it has not ended, such as after a timeout", async () => {
    let waiting = () => {};
    const whenWaiting = new Promise<void>((resolve) => {
      waiting = resolve;
    });
    void sandboxes.with(async (sandbox, _: object) => {
      await sandbox.fetch("/v1/models");
      waiting();
      await new Promise(() => {});
    })({ name: "waits too long" });
    await whenWaiting;
    await sandboxes.close();
    expect(printed).toMatch(/^waits too long\nJournal of sandbox .*\n.* GET \/v1\/models -> 401/);
  });

  it("has its own name in Jest, also with other tests and with a row of test.each that has a name", async () => {
    const getState = () => ({ currentTestName: "the last", currentConcurrentTestName: () => "this one" });
    vi.stubGlobal("expect", { getState });
    await expect(fail({ name: "a row" })).rejects.toThrow("no");
    vi.stubGlobal("expect", { getState: () => ({ currentTestName: "the only one" }) });
    await expect(fail({ name: "a row" })).rejects.toThrow("no");
    expect(printed.match(/^.*(?=\nJournal)/gm)).toEqual(["this one", "the only one"]);
  });

  it("fails with its own error if its journal cannot be shown", async () => {
    const own = sandboxes.with(async () => {
      vi.mocked(process.stderr.write).mockImplementation(() => {
        throw new Error("the disk is full");
      });
      throw new Error("two models expected");
    });
    await expect(own()).rejects.toThrow("two models expected");
  });

  it("does not count as failed if it skips itself by an exception, as in Vitest", async () => {
    const context = {
      skip: () => {
        throw new Error("skipped");
      },
    };
    await expect(
      sandboxes.with((_, { skip: leaveOut }: typeof context) => leaveOut())(context),
    ).rejects.toThrow("skipped");
    expect(printed).toBe("");
  });

  it("shows its journal under its own name, also after a skip whose condition was false, as in Vitest", async () => {
    // Vitest's context is a function.
    const context = Object.assign(function context() {}, {
      task: { name: "pays" },
      skip: (_: boolean) => {},
    });
    const pays = sandboxes.with((_, { skip: leaveOut }: typeof context) => {
      leaveOut(false);
      throw new Error("not paid");
    });
    await expect(pays(context)).rejects.toThrow("not paid");
    expect(printed).toMatch(/^pays\nJournal/);
  });
});

it("an attempt that Jest or Mocha retries does not count as failed in a suite, while a failed row of a table does [interfaces 13]", async () => {
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const share = new ShareFile({ sandbox: "busy", world: {}, origin: false, scenarios: [], rules: [] });
  vi.stubEnv(SUITE_FILE_VARIABLE, share.path);
  const sandboxes = testSandboxes();
  let calls = 0;
  const flaky = sandboxes.with((_, ..._row: number[]) => {
    calls += 1;
    if (calls % 2 === 1) throw new Error("not yet");
  });
  try {
    const mocha = { test: { fullTitle: () => "in Mocha" } };
    await expect(flaky.call(mocha)).rejects.toThrow("not yet");
    await flaky.call(mocha);
    vi.stubGlobal("expect", { getState: () => ({ currentTestName: "in Jest" }) });
    await expect(flaky(1)).rejects.toThrow("not yet");
    await flaky(2);
    await expect(flaky(3)).rejects.toThrow("not yet");
    await flaky(3);
    expect(share.listTests().map(({ name, outcome }) => `${name}: ${outcome}`)).toEqual([
      ...["in Mocha: retried", "in Mocha: passed"],
      ...["in Jest: failed", "in Jest: passed", "in Jest: retried", "in Jest: passed"],
    ]);
  } finally {
    vi.unstubAllGlobals();
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    await sandboxes.close();
    share.remove();
  }
});

it("an attempt that node:test repeats in another process does not count as failed, while a second test of its name does [interfaces 13]", async () => {
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const share = new ShareFile({ sandbox: "busy", world: {}, origin: false, scenarios: [], rules: [] });
  vi.stubEnv(SUITE_FILE_VARIABLE, share.path);
  const context = { name: "pays", fullName: "shop > pays", filePath: "/shop/pay.test.mjs" };
  try {
    for (const outcomes of [[false, true, false], [true]]) {
      vi.resetModules();
      const process = await import("./test-sandbox.ts");
      const sandboxes = process.testSandboxes();
      for (const passes of outcomes) {
        const test = sandboxes.with((_, _test: typeof context) => {
          if (!passes) throw new Error("not paid");
        });
        await test(context).catch(() => {});
      }
      await sandboxes.close();
    }
    expect(share.listTests().map(({ name, outcome }) => `${name}: ${outcome}`)).toEqual([
      ...["shop > pays: retried", "shop > pays: passed", "shop > pays: failed"],
      "shop > pays: passed",
    ]);
  } finally {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    share.remove();
  }
});

it("the other sandboxes end if one cannot end when the servers close [interfaces 13]", async () => {
  const servers = new TestServers();
  const end = vi.fn(async () => {});
  servers.endAtClose(() => Promise.reject(new Error("the server is gone")));
  servers.endAtClose(end);
  await servers.close();
  expect(end).toHaveBeenCalledOnce();
});

it("the other servers end if one could not start [interfaces 13]", async () => {
  const sandboxes = testSandboxes({ engine: true });
  const broken = sandboxes.with(() => {}, { operations: { wrong: {} } });
  await expect(broken()).rejects.toThrow("exports no operation");
  let sandbox: SandboxClient | undefined;
  await sandboxes.with((fresh) => {
    sandbox = fresh;
  })();
  await sandboxes.close();
  await expect(sandbox!.info()).rejects.toThrow("closed");
});

describe("options of the fixtures [interfaces 13]", () => {
  it.each([
    [{ fixtur: "reference" }, 'understudy has no option "fixtur"; its options are fixture, seed,'],
    [[], "understudy takes its options as an object of fixture, seed, clock"],
    ["reference", 'it was given "reference"'],
    [{ scenarios: "slow-network" }, "option scenarios is a list of names"],
    [{ scenariosFolder: "nowhere" }, 'there is no folder "nowhere"'],
    [{ scenariosFolder: "package.json" }, 'there is no folder "package.json"'],
    [{ allowUntriggered: "yes" }, "option allowUntriggered is true or false"],
  ])("%j is refused with a sentence [interfaces 13]", (options, said) => {
    expect(() => checkTestOptions(options)).toThrow(said);
  });

  it("accept every known option [interfaces 13]", () => {
    const options = { fixture: "reference", seed: 7, clock: { mode: "frozen" }, scenarios: [] };
    expect(checkTestOptions(options)).toBe(options);
  });
});
