import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { DocumentError } from "../../src/engine/documents/document-error.ts";
import { readScenario } from "../../src/engine/faults/scenario.ts";
import { API } from "../../src/engine/resources/index.ts";
import { activate, CONTROL, getDecision } from "../support/fault-calls.ts";
import { type Api, startReference } from "../support/harness.ts";

/* The rules change during the run (interfaces 21). */

const STAGED = `
rules:
  - { id: slow, match: { operation: threads.delete }, effect: { delay: 1ms } }
stages:
  - name: calm
    until: { requests: 2 }
  - name: outage
    rules:
      - { id: down, effect: { status: 503 } }
      - { match: { operation: models.list }, effect: { status: 500 }, lease: { ttl: 30s } }
    until: { time: 2m }
  - name: recovery
    rules:
      - { id: limited, effect: { error: RATE_LIMIT_EXCEEDED! }, times: 1 }
    until: { requests: 3 }
`;

let api: Api;
let folder: string;
const write = (name: string, text: string) => writeFileSync(join(folder, `${name}.yaml`), text);
const call = (sandbox = "", headers = {}) =>
  api.call("dan", "GET", `${sandbox}/v1/models`, undefined, headers);
const control = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, CONTROL + path, body);

async function findStages(sandbox = CONTROL, name = "staged") {
  const { body } = await api.call(undefined, "GET", `${sandbox}/scenarios`);
  return body.items.find((one: { name: string }) => one.name === name).stages;
}
const listStates = async (sandbox?: string) =>
  (await findStages(sandbox)).map(({ state }: { state: string }) => state);
const advance = (by: string) => control("POST", "/clock/advance", { by });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "stages-"));
  write("staged", STAGED);
  api = await startReference({ scenariosFolder: folder });
  await activate(api, "staged");
});
afterEach(async () => {
  await api.close();
  rmSync(folder, { recursive: true });
});

const listStatuses = async (times: number) => {
  const got: number[] = [];
  for (let n = 0; n < times; n += 1) got.push((await call()).status);
  return got;
};

describe("a scenario with stages", () => {
  it("changes its rules after a number of requests, and after a time of the sandbox's clock [interfaces 21]", async () => {
    expect(await listStatuses(4)).toEqual([200, 200, 503, 503]);
    await advance("119s");
    expect((await call()).status).toBe(503);
    await advance("1s");
    const [limited] = [await call()];
    expect([limited.status, getDecision(limited)]).toEqual([429, "fault:staged/limited"]);
    expect(await listStatuses(3)).toEqual([200, 200, 200]);
    expect(await listStates()).toEqual(["ended", "ended", "ended"]);
  });

  it("shows its current stage, when each began, and how many requests came [interfaces 21]", async () => {
    expect(await listStates()).toEqual(["current", "waiting", "waiting"]);
    await listStatuses(3);
    await advance("2m");
    expect(await findStages()).toEqual([
      {
        ...{ name: "calm", rules: [], until: { requests: 2 }, state: "ended", requests: 2 },
        ...{ began_at: "2026-03-15T12:00:00.000Z", ended_at: "2026-03-15T12:00:00.000Z" },
      },
      {
        ...{
          name: "outage",
          rules: ["down", "outage-2"],
          until: { time: "2m" },
          state: "ended",
          requests: 1,
        },
        ...{ began_at: "2026-03-15T12:00:00.000Z", ended_at: "2026-03-15T12:02:00.000Z" },
      },
      {
        ...{ name: "recovery", rules: ["limited"], until: { requests: 3 }, state: "current", requests: 0 },
        ...{ began_at: "2026-03-15T12:02:00.000Z", ended_at: null },
      },
    ]);
  });

  it("adds the start of a stage to the timeline, after the request that ended the one before [interfaces 21]", async () => {
    await listStatuses(3);
    await advance("2m");
    const { body } = await control("GET", "/history?kind=scenario");
    const began = body.entries.map(({ title, subject, at }: Record<string, string>) => [title, subject, at]);
    expect(began.slice(0, 2)).toEqual([
      ["Stage “recovery” of staged began.", "staged/recovery", "2026-03-15T12:02:00.000Z"],
      ["Stage “outage” of staged began.", "staged/outage", "2026-03-15T12:00:00.000Z"],
    ]);
    const { body: journal } = await control("GET", "/journal");
    const [last, second] = journal.entries;
    const [, outage] = body.entries;
    expect([second.seq < outage.seq, outage.seq < last.seq]).toEqual([true, true]);
    const timers = (await control("GET", "/history?kind=timer")).body.entries;
    expect(timers[0].title).toBe("The stage staged/outage ended.");
  });

  it("gives each request its stage, by which requests can be listed [interfaces 21]", async () => {
    await listStatuses(3);
    const { body } = await control("GET", "/journal?stage=staged/calm");
    expect(body.entries.map(({ stages }: { stages: string[] }) => stages)).toEqual([
      ["staged/calm"],
      ["staged/calm"],
    ]);
    const verify = (stage: string, count: number) =>
      control("POST", "/journal/verify", { match: { operation: "models.list", stage }, count });
    expect((await verify("staged/outage", 1)).body.ok).toBe(true);
    expect((await verify("staged/recovery", 0)).body.ok).toBe(true);
    const unknown = await verify("staged/outrage", 0);
    expect([unknown.status, unknown.body.hint]).toEqual([422, "staged/outage"]);
  });

  it("lets no more requests into a stage than it says, also if they are concurrent [interfaces 21]", async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => call()));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 503, 503, 503, 503]);
  });

  it("applies the rules under which a request began, also if that request ends its stage [interfaces 21]", async () => {
    write(
      "lost",
      "stages:\n  - name: lost\n    rules: [{ id: after, phase: after, effect: { status: 503 } }]\n    until: { requests: 1 }\n",
    );
    await activate(api, "lost");
    expect(await listStatuses(2)).toEqual([503, 200]);
  });

  it("counts a lease of a later stage only while that stage is current [interfaces 21]", async () => {
    const listLeases = async () =>
      (await control("GET", "/clock/pending")).body
        .filter(({ kind }: { kind: string }) => kind === "lease")
        .map(({ subject, due_at }: Record<string, string>) => [subject, due_at]);
    expect(await listLeases()).toEqual([]);
    await advance("1h");
    await listStatuses(2);
    expect(await listLeases()).toEqual([
      ["outage-2", "2026-03-15T13:00:30.000Z"],
      ["staged/outage", "2026-03-15T13:02:00.000Z"],
    ]);
    await advance("2m");
    expect(await listLeases()).toEqual([]);
  });

  it("begins the next stage at once if a call ends the current one early [interfaces 4, 21]", async () => {
    await listStatuses(2);
    const before = await findStages();
    await advance("30s");
    await control("POST", "/clock/pending/run", { kind: "lease", subject: "staged/outage" });
    const [, outage, recovery] = await findStages();
    const now = new Date(Date.parse(before[1].began_at) + 30_000).toISOString();
    expect([outage.ended_at, recovery.began_at]).toEqual([now, now]);
  });

  it("passes through all stages in an advance over several [interfaces 21]", async () => {
    const step = (name: string, status: number) =>
      `  - { name: ${name}, rules: [{ id: ${name}, effect: { status: ${status} } }], until: { time: 1m } }\n`;
    write("steps", `stages:\n${step("one", 500)}${step("two", 502)}${step("three", 503)}`);
    await activate(api, "steps");
    await advance("150s");
    expect((await call()).status).toBe(503);
    expect(
      (await findStages(CONTROL, "steps")).map(({ began_at }: { began_at: string }) => began_at),
    ).toEqual(["2026-03-15T12:00:00.000Z", "2026-03-15T12:01:00.000Z", "2026-03-15T12:02:00.000Z"]);
    await advance("1h");
    expect((await call()).status).toBe(200);
  });

  it("ends a stage when a request is held, and holds no second one by rules that have ended [interfaces 20, 21]", async () => {
    write(
      "held",
      "stages:\n  - name: first\n    rules: [{ id: wait, effect: { hold: { timeout: 30s } } }]\n    until: { held: true }\n  - name: second\n    rules: [{ id: other, effect: { status: 502 } }]\n",
    );
    await activate(api, "held");
    const waiting = call();
    await expect
      .poll(async () => (await findStages(CONTROL, "held")).map(({ state }: { state: string }) => state))
      .toEqual(["ended", "current"]);
    // The second request is answered before the first.
    expect((await call()).status).toBe(502);
    const { body } = await control("GET", "/held");
    await control("POST", `/held/${body.items[0].id}/release`, {});
    expect((await waiting).status).toBe(200);
  });

  it("is not moved by a dry run, which explains only rules of the current stage [interfaces 11]", async () => {
    await call();
    const explained = await control("POST", "/faults/explain", {
      operation: "models.list",
      principal: "usr_dan",
    });
    expect(explained.body.decision).toBe("ok");
    expect(explained.body.rules).toContainEqual({
      ...{ rule: "staged/down", phase: "before", triggers: false },
      why: "its stage is not the current one",
    });
    expect(await listStatuses(2)).toEqual([200, 503]);
  });

  it("is not changed by a restore or a rewind, and begins again with a reset [interfaces 4, 10]", async () => {
    await control("POST", "/snapshots", { name: "calm" });
    await listStatuses(2);
    await advance("1m");
    await control("POST", "/snapshots/calm/restore");
    expect(await listStates()).toEqual(["ended", "current", "waiting"]);
    const [calm, outage] = await findStages();
    expect([calm.began_at, calm.ended_at, outage.began_at]).toEqual(
      Array.from({ length: 3 }, () => "2026-03-15T11:59:00.000Z"),
    );
    // One minute of the outage remains.
    await advance("59s");
    expect((await call()).status).toBe(503);
    await advance("1s");
    expect((await call()).status).toBe(429);
    await control("POST", "/reset");
    await activate(api, "staged");
  });

  it("has the same progress in a fork as in its original, and is independent then [interfaces 4]", async () => {
    await listStatuses(3);
    await control("POST", "/fork", { name: "forked" });
    const forked = "/_control/sandboxes/forked";
    expect(await listStates(forked)).toEqual(["ended", "current", "waiting"]);
    await advance("2m");
    expect([await listStates(), await listStates(forked)]).toEqual([
      ["ended", "ended", "current"],
      ["ended", "current", "waiting"],
    ]);
    expect((await call("/_s/forked")).status).toBe(503);
    await api.call(undefined, "POST", `${forked}/clock/advance`, { by: "2m" });
    expect((await call("/_s/forked")).status).toBe(429);
  });

  it("begins again with a reset of a sandbox that was created with it [interfaces 4]", async () => {
    const fresh = "/_control/sandboxes/fresh";
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "fresh", scenarios: ["staged"] });
    for (let n = 0; n < 3; n += 1) await call("/_s/fresh");
    expect(await listStates(fresh)).toEqual(["ended", "current", "waiting"]);
    await api.call(undefined, "POST", `${fresh}/reset`);
    expect(await listStates(fresh)).toEqual(["current", "waiting", "waiting"]);
    expect((await call("/_s/fresh")).status).toBe(200);
  });
});

it("survives a restart: a saved sandbox keeps its current stages, and ends each in time [interfaces 2]", async () => {
  const persist = { folder: join(folder, "saved"), durable: true };
  const start = async () => {
    await api.close();
    api = await startReference({ scenariosFolder: folder, persist });
  };
  await start();
  await activate(api, "staged");
  await listStatuses(3);
  await advance("1m");
  await start();
  expect(await listStates()).toEqual(["ended", "current", "waiting"]);
  await advance("59s");
  expect((await call()).status).toBe(503);
  await advance("1s");
  expect((await call()).status).toBe(429);
});

it("ends nothing by time after a restart with a file that has lost its times [interfaces 2]", async () => {
  const persist = { folder: join(folder, "saved"), durable: true };
  const start = async () => {
    await api.close();
    api = await startReference({ scenariosFolder: folder, persist });
  };
  const rule = "  - { id: slow, match: { operation: models.list }, effect: { delay: 1ms }";
  const writeTimed = (lease: string, until: string) =>
    write(
      "timed",
      `rules:\n${rule}${lease} }\nstages:\n  - { name: a, until: { ${until} } }\n  - { name: b }\n`,
    );
  writeTimed(", lease: { ttl: 1m }", "time: 1m");
  await start();
  await activate(api, "timed");
  writeTimed("", "requests: 100");
  await start();
  await advance("1h");
  expect((await findStages(CONTROL, "timed"))[0].state).toBe("current");
  expect(getDecision(await call())).toBe("fault:timed/slow");
});

it("keeps its stage after an edit of a rule, and begins again after an edit of a stage's name [interfaces 6]", async () => {
  const edit = (from: string, to: string) => {
    write("staged", STAGED.replace(from, to));
    api.understudy.scenarios.refresh(join(folder, "staged.yaml"));
  };
  await listStatuses(3);
  await advance("1m");
  edit("status: 503", "status: 502");
  expect((await call()).status).toBe(502);
  await advance("1m");
  expect(await listStates()).toEqual(["ended", "ended", "current"]);
  edit("name: calm", "name: quiet");
  expect(await listStates()).toEqual(["current", "waiting", "waiting"]);
  expect((await control("GET", "/clock/pending")).body).not.toContainEqual(
    expect.objectContaining({ subject: "staged/outage" }),
  );
});

it("ends a stage in time after an edit of its end: as if it had begun with that [interfaces 6]", async () => {
  const edit = (from: string, to: string) => {
    write("staged", STAGED.replace(from, to));
    api.understudy.scenarios.refresh(join(folder, "staged.yaml"));
  };
  await listStatuses(1);
  edit("requests: 2", "requests: 1");
  await listStatuses(1);
  expect(await listStates()).toEqual(["ended", "current", "waiting"]);
  await advance("1m");
  edit("time: 2m", "requests: 1000");
  await advance("1h");
  expect(await listStates()).toEqual(["ended", "current", "waiting"]);
  edit("time: 2m", "time: 1h");
  await advance("1m");
  expect(await listStates()).toEqual(["ended", "ended", "current"]);
});

describe("a scenario with wrong stages is refused with the place of the mistake", () => {
  const describeMistakes = (text: string) => {
    try {
      readScenario({ text, displayName: "s.yaml", file: "/s.yaml" }, API);
    } catch (error) {
      return (error as DocumentError).format();
    }
    return "accepted";
  };
  it.each([
    ["description: nothing\n", "s.yaml:1:1: the scenario needs `rules`, or `stages` with rules"],
    ["stages:\n  - { name: a }\n  - { name: b }\n", "s.yaml:2:5: the stage needs `until"],
    [
      "stages:\n  - { name: a, until: { time: 0s } }\n  - { name: b }\n",
      "s.yaml:2:31: `until.time` must be more than 0",
    ],
    [
      "stages:\n  - { name: a, until: { requests: 1 } }\n  - { name: a }\n",
      "s.yaml:3:13: another stage is called a",
    ],
    [
      "stages:\n  - name: a\n    until: { time: 2 minuets }\n",
      "s.yaml:3:20: `until.time` must be a duration",
    ],
    ["stages:\n  - name: a\n    until: { requests: 0 }\n", "s.yaml:3:24:"],
    ["stages:\n  - name: a\n    until: { requests: 1, time: 2m }\n", "s.yaml:3:12:"],
    ["stages:\n  - name: a\n    until: { held: false }\n", "s.yaml:3:20:"],
    [
      "stages:\n  - name: a\n    rules:\n      - { effect: { error: NOPE } }\n",
      's.yaml:4:28: "NOPE" is not a code',
    ],
    [
      "rules: [{ id: x, effect: { status: 500 } }]\nstages:\n  - name: a\n    rules:\n      - { id: x, effect: { status: 500 } }\n",
      "s.yaml:5:15: another rule is called x already",
    ],
    [
      "stages:\n  - name: a\n    expect: [{ match: { operation: model.list } }]\n",
      's.yaml:3:36: "model.list" is not an operation',
    ],
    [
      "stages:\n  - name: a\n    expect: [{ sequence: [{ operation: model.list }] }]\n",
      's.yaml:3:40: "model.list" is not an operation',
    ],
    ["stages:\n  - name: a\n    expect: [{ client: [honors-retry-after] }]\n", "s.yaml:3:25:"],
    [
      "stages:\n  - name: a\n    expect: [{ client: [one-refresh], match: { status: 401 } }]\n",
      "s.yaml:3:16: an expectation has one of",
    ],
    ["stages:\n  - name: a\n    expect: [{ description: all }]\n", "s.yaml:3:14: an expectation has one of"],
    [
      "stages:\n  - name: a\n    expect: [{ client: [one-refresh], count: 1 }]\n",
      "s.yaml:3:39: `count` is for `match`",
    ],
    [
      "stages:\n  - name: a\n    expect: [{ match: { operation: models.list }, strict: true }]\n",
      "s.yaml:3:51: `strict` is for `sequence`",
    ],
    [
      "stages: [{ name: a }]\nexpect: [{ match: { event: user.create } }]\n",
      's.yaml:2:28: "user.create" is not an event',
    ],
    [
      "stages: [{ name: a }]\nexpect: [{ match: { attempt: 2, principal: usr_dan } }]\n",
      "s.yaml:2:33: `principal` is about requests, and `attempt` about deliveries",
    ],
    [
      "stages:\n  - name: a\n    expect: [{ match: { event: user.created } }]\n",
      "s.yaml:3:25: a delivery belongs to no stage",
    ],
  ])("%j [interfaces 21]", (text, problem) => {
    expect(describeMistakes(text)).toContain(problem);
  });

  it("suggests minutes for a mistyped unit, but not for months [interfaces 21]", () => {
    const describe = (time: string) =>
      describeMistakes(`stages:\n  - name: a\n    until: { time: ${time} }\n`);
    expect(describe("2 minuets")).toContain('did you mean "2m"?');
    expect(describe("2 months")).not.toContain("did you mean");
  });
});
