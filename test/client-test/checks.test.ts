import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createUnderstudy, type LocalUnderstudy } from "../../src/client/index.ts";
import { CLIENT_CHECK_NAMES } from "../../src/engine/faults/rule-document.ts";
import { CLIENT_CHECKS } from "../../src/tools/client-test/checks/index.ts";
import { gradeClient } from "../../src/tools/client-test/grade-client.ts";
import type { Flaws } from "./client.ts";
import {
  create,
  createAfterSearch,
  createTwo,
  performTasks,
  readAddition,
  readAsTwo,
  readAtOnce,
  readChangeLogPages,
  readOwnLists,
  readPages,
  readPagesAfterDefault,
  readPagesAgain,
  readPagesBackwards,
  readRest,
  readSentencePages,
  readTogether,
  readTwice,
  register,
  serve,
  startJob,
  upload,
  uploadForm,
  uploadTwo,
  type Work,
} from "./client-tasks.ts";

/* interfaces 21: the check named after its flaw fails for a flawed client, and no check fails for a sound one. */

let server: LocalUnderstudy;
beforeAll(async () => {
  server = await createUnderstudy();
});
afterAll(() => server.close());

async function grade(flaws: Flaws, only?: string[], does = performTasks, timeoutMs = 8000) {
  const sandbox = await server.sandbox({ clock: { mode: "frozen" } });
  try {
    return await sandbox.gradeClient((signal) => does(sandbox, flaws, signal), { only, timeoutMs });
  } finally {
    await sandbox.delete();
  }
}

describe("a sound client", () => {
  it.each([
    ["with a key", {}, performTasks],
    ["with ETags", { etags: true }, readTwice],
    ["with ETags for each of two users", { etags: true }, readAsTwo],
    ["that reads the lists of two organizations", {}, readOwnLists],
    ["that reads what it has added", {}, readAddition],
    ["without retries", { retries: () => false }, performTasks],
    ["with tokens", { usesToken: true, timeoutMs: 3000 }, readTogether],
    ["with a token", { usesToken: true, timeoutMs: 3000 }, performTasks],
    ["that uploads", {}, upload],
    ["that asks how much has arrived before it uploads", { probesFirst: true }, upload],
    ["that registers a file again", { blindRepeat: true }, register],
    ["that reads pages", {}, readPages],
    ["that reads pages again", {}, readPagesAgain],
    ["that reads the first page without parameters", {}, readPagesAfterDefault],
    ["that reads pages backwards", {}, readPagesBackwards],
    ["that asks for the rest of a list", {}, readRest],
    ["that asks for the same list twice at once", {}, readAtOnce],
    ["that creates two of the same, also if the first one fails", {}, createTwo],
    ["that reads pages of sentences", {}, readSentencePages],
    ["that reads pages of change logs", {}, readChangeLogPages],
  ] satisfies [string, Flaws, Work][])(
    "%s passes every check [interfaces 21]",
    async (title, flaws, does) => {
      // Some clients wait in real time.
      const advances = title !== "with a key" && does !== readAtOnce;
      const report = await grade({ advances, ...flaws }, undefined, does, 20_000);
      const accused = report.checks.filter(({ outcome }) => outcome === "failed");
      expect(accused.map(({ id, why }) => `${id}: ${why}`)).toEqual([]);
      expect(report).toMatchObject({ verdict: "pass", stopped: null });
    },
    60_000,
  );
});

// These runs mostly wait and measure no pauses, so they run concurrently.
describe.concurrent("a client that never ends by itself", () => {
  it.each([
    [2, ["bounded-retries"]],
    [0, ["gives-up-on-silence", "survives-empty"]],
  ])(
    "passes the checks, with %i retries [interfaces 21]",
    async (retries, ids) => {
      const flaws: Flaws = { pause: (retry) => (retry < retries ? 100 : undefined), timeoutMs: 500 };
      const { checks, stopped } = await grade(flaws, ids, serve, 4000);
      const accused = checks.filter(({ outcome }) => outcome === "failed");
      expect([accused.map(({ id, why }) => `${id}: ${why}`), stopped]).toEqual([[], null]);
    },
    60_000,
  );
});

const pauseMinutes = (retry: number) => (retry > 2 ? undefined : 60_000);
const retryAtOnce = (retry: number) => (retry > 25 ? undefined : 1);

/** At least one flaw for each check. */
const FLAWS: readonly [id: string, Flaws, Work][] = [
  ["honours-retry-after", { pause: () => 100 }, performTasks],
  // The refused request has a body that the server did not read.
  ["honours-retry-after", { pause: () => 100 }, create],
  ["bounded-retries", { pause: retryAtOnce }, performTasks],
  ["growing-pauses", { pause: pauseMinutes, advances: true }, performTasks],
  ["jittered-pauses", { pause: pauseMinutes, advances: true }, performTasks],
  ["no-retry-of-400", { retries: () => true }, performTasks],
  ["no-retry-of-403", { retries: () => true }, performTasks],
  ["no-retry-of-404", { retries: () => true }, performTasks],
  ["no-retry-of-422", { retries: () => true }, performTasks],
  ["no-retry-of-401", { usesToken: true, refreshesForEver: true }, performTasks],
  ["no-retry-of-401", { retries: () => true }, performTasks],
  ["no-blind-repeat", { blindRepeat: true }, performTasks],
  ["no-blind-repeat", { blindRepeat: true }, createTwo],
  ["no-blind-repeat", { blindRepeat: true }, createAfterSearch],
  ["no-blind-repeat", { blindRepeat: true }, uploadForm],
  ["no-retry-of-422", { blindRepeat: true }, uploadForm],
  ["honours-retry-after", { pause: () => 100 }, readAtOnce],
  ["resumes-uploads", { restartsUpload: true }, upload],
  ["tolerates-additions", { strict: true }, performTasks],
  ["tolerates-new-values", { closed: true }, performTasks],
  ["one-refresh", { usesToken: true, refreshEach: true, timeoutMs: 10_000 }, readTogether],
  ["no-credentials-in-urls", { keyInUrl: true }, performTasks],
  ["no-credentials-elsewhere", { redirect: "follow" }, performTasks],
  ["reads-all-pages", { pages: "twice" }, readPages],
  ["reads-all-pages", { pages: "first twice" }, readPages],
  ["reads-all-pages", { pages: "gap" }, readPages],
  ["reads-all-pages", { pages: "stops" }, readPages],
  ["reads-all-pages", { pages: "twice" }, readSentencePages],
  ["reads-all-pages", { pages: "gap" }, readSentencePages],
  ["reads-all-pages", { pages: "stops" }, readSentencePages],
  ["reads-all-pages", { pages: "twice" }, readChangeLogPages],
  ["reads-all-pages", { pages: "gap" }, readChangeLogPages],
  ["reads-all-pages", { pages: "stops" }, readChangeLogPages],
  ["uses-etags", {}, readTwice],
];

const HANGING: readonly [id: string, Flaws, Work][] = [
  ["gives-up-on-silence", { timeoutMs: 0 }, performTasks],
  ["survives-truncated", { deafTo: "truncated" }, performTasks],
  ["survives-empty", { deafTo: "empty" }, performTasks],
  ["survives-wrong-type", { patientBody: true }, performTasks],
];

async function findFlaw(id: string, flaws: Flaws, does: Work): Promise<void> {
  const { checks, verdict } = await grade(flaws, [id], does);
  expect(checks).toMatchObject([{ id, outcome: "failed" }]);
  expect(checks[0]!.evidence.length).toBeGreaterThan(0);
  expect(verdict).toBe(checks[0]!.severity === "warning" ? "pass" : "fail");
}

describe.concurrent("a client that hangs", () => {
  it.each(HANGING)("fails the check for its flaw: %s [interfaces 21]", findFlaw, 30_000);

  it.each([
    ["survives-truncated", { deafTo: "truncated" }],
    ["survives-empty", { deafTo: "empty" }],
    ["survives-wrong-type", { patientBody: true }],
  ] satisfies [string, Flaws][])(
    "fails the check also if another kind of broken answer reveals the flaw: %s [interfaces 21]",
    async (id, flaws) => {
      const family = ["gives-up-on-silence", "survives-truncated", "survives-empty", "survives-wrong-type"];
      const { checks } = await grade(flaws, family);
      expect(checks.filter(({ outcome }) => outcome === "failed").map((one) => one.id)).toEqual([id]);
    },
  );
});

const MEASURING = ["honours-retry-after", "growing-pauses", "jittered-pauses"];

describe.concurrent("a flawed client whose pauses are not measured", () => {
  const others = FLAWS.filter(([id]) => !MEASURING.includes(id));
  it.each(others)("fails the check for its flaw: %s [interfaces 21]", findFlaw, 30_000);
});

describe("a flawed client", () => {
  const measured = FLAWS.filter(([id]) => MEASURING.includes(id));
  it.each(measured)("fails the check for its flaw: %s [interfaces 21]", findFlaw, 30_000);

  it("can be found in a scenario by every check, and by no other [interfaces 21]", () => {
    expect([...CLIENT_CHECK_NAMES].sort()).toEqual(CLIENT_CHECKS.map(({ id }) => id).sort());
  });

  it("is tested for every check", () => {
    const shown = [...FLAWS, ...HANGING].map(([id]) => id);
    expect(CLIENT_CHECKS.map(({ id }) => id).filter((id) => !shown.includes(id))).toEqual([]);
  });
});

it("a client that uploads two files in turn resumes each of them [interfaces 21]", async () => {
  const { checks } = await grade({}, ["resumes-uploads"], uploadTwo);
  expect(checks).toMatchObject([{ outcome: "passed" }]);
  const { checks: flawed } = await grade({ restartsUpload: true }, ["resumes-uploads"], uploadTwo);
  expect(flawed).toMatchObject([{ outcome: "failed" }]);
});

it("a repetition that the service refuses has not made the change twice [interfaces 21]", async () => {
  const { checks } = await grade({ blindRepeat: true }, ["no-blind-repeat"], startJob);
  expect(checks).toMatchObject([
    { outcome: "passed", why: "it sent the request again, which changed nothing" },
  ]);
});

describe("a client that cannot be graded", () => {
  it("gets the reason in a sentence [interfaces 21]", async () => {
    const silent = await grade({}, undefined, async () => {});
    expect(silent).toMatchObject({ verdict: "not-graded", checks: [] });
    expect(silent.stopped).toContain("made no request to the sandbox");
    const broken = await grade({}, undefined, async () => {
      throw new Error("connect ECONNREFUSED 127.0.0.1:4747");
    });
    expect(broken.stopped).toContain("ECONNREFUSED 127.0.0.1:4747");
    const failing = await grade({}, undefined, async (sandbox, flaws, signal) => {
      await performTasks(sandbox, flaws, signal);
      throw new Error("no field data");
    });
    expect(failing.stopped).toContain("even without failures: no field data");
    await expect(grade({}, ["no-such-check"])).rejects.toThrow(
      /there is no check "no-such-check"; there are honours/,
    );
  });

  it("leaves the sandbox as it was [interfaces 21]", async () => {
    const sandbox = await server.sandbox({
      clock: { mode: "frozen" },
      settings: { token_lifetime_seconds: 77 },
    });
    await sandbox.faults.add({ id: "mine", match: { path: "/webhooks" }, effect: { status: 503 } });
    const before = await sandbox.info();
    await sandbox.gradeClient((signal) => readTogether(sandbox, { usesToken: true }, signal), {
      only: ["one-refresh", "no-credentials-elsewhere"],
    });
    const { clock, settings, counts } = await sandbox.info();
    expect({ clock, settings, counts }).toEqual({
      clock: before.clock,
      settings: before.settings,
      counts: before.counts,
    });
    expect((await sandbox.faults.list()).items).toMatchObject([{ id: "mine" }]);
    await sandbox.delete();
  });
});

it("rules are removed if a run cannot be prepared [interfaces 21]", async () => {
  const sandbox = await server.sandbox();
  const configure = async (settings: object) => {
    if ((await sandbox.faults.list()).items.length > 0) throw new Error("refused");
    return sandbox.configure(settings);
  };
  const failing = Object.assign(Object.create(sandbox), { configure });
  await expect(gradeClient(failing, (signal) => performTasks(sandbox, {}, signal))).rejects.toThrow(
    "refused",
  );
  expect((await sandbox.faults.list()).items).toEqual([]);
  await sandbox.delete();
});

describe("a client that makes many requests", () => {
  const gradeCalls = async (count: number) => {
    const sandbox = await server.sandbox();
    const headers = { "api-key": sandbox.credentials.usr_dan };
    const read = async () => {
      const batch = Array.from({ length: 100 }, () => sandbox.fetch("/v1/models", { headers }));
      for (const answer of await Promise.all(batch)) await answer.arrayBuffer();
    };
    const run = async (signal: AbortSignal) => {
      for (let batch = 0; batch < count / 100 && !signal.aborted; batch++) await read();
    };
    try {
      return await sandbox.gradeClient(run, { only: ["uses-etags"], timeoutMs: Number.POSITIVE_INFINITY });
    } finally {
      await sandbox.delete();
    }
  };

  it("is graded by all of them, even beyond the journal's limit [interfaces 21]", async () => {
    expect(await gradeCalls(1200)).toMatchObject({ stopped: null, requests: 1200 });
  }, 60_000);

  it("is stopped after 5,000, and graded by these [interfaces 21]", async () => {
    expect(await gradeCalls(Number.POSITIVE_INFINITY)).toMatchObject({ stopped: null, requests: 5000 });
  }, 120_000);
});
