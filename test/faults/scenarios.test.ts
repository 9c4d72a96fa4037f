import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { followScenarios } from "../../src/documents/follow-edits.ts";
import { DocumentWatch } from "../../src/documents/watch-documents.ts";
import { DocumentError } from "../../src/engine/documents/document-error.ts";
import { activate, arm, CONTROL, getDecision } from "../support/fault-calls.ts";
import { type Api, startReference } from "../support/harness.ts";

const REPARENT = "/v1/organizations/org_acme/departments/dept_ml/reparent";
const THREAD = "/v1/threads/thread_none";

let api: Api;
let folder: string;
const writeScenario = (name: string, rules: string) => writeFileSync(join(folder, `${name}.yaml`), rules);
const call = (headers = {}) => api.call("dan", "DELETE", THREAD, undefined, headers);
const control = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, CONTROL + path, body);

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "scenarios-"));
  writeScenario("mine", "description: Of my own.\nrules:\n  - { id: a, effect: { status: 503 } }\n");
  api = await startReference({ scenariosFolder: folder });
});
afterEach(async () => {
  await api.close();
  rmSync(folder, { recursive: true });
});

describe("a scenario that is invalid at a restart", () => {
  it("is inactive, with a warning, and its sandbox keeps its data [interfaces 2]", async () => {
    const store = mkdtempSync(join(tmpdir(), "worlds-"));
    const said: string[] = [];
    const log = {
      info() {},
      warn: (text: string) => said.push(text),
      error: (text: string) => said.push(text),
    };
    const start = () =>
      startReference({ scenariosFolder: folder, persist: { folder: store }, log: log as never });
    const before = await start();
    await before.call(undefined, "POST", `${CONTROL}/snapshots`, { name: "kept" });
    await activate(before, "mine");
    // The scenario was active at first and is now off in this sandbox, so no warning is due.
    await before.call(undefined, "POST", "/_control/sandboxes", { name: "off", scenarios: ["mine"] });
    await before.call(undefined, "PUT", "/_control/sandboxes/off/scenarios/active", { names: [] });
    await before.close();
    writeScenario("mine", "rules:\n  - { id: a, effect: { status: 99999 } }\n");
    const after = await start();
    expect((await after.call(undefined, "GET", CONTROL)).body.scenarios).toEqual([]);
    expect((await after.call(undefined, "GET", `${CONTROL}/snapshots/kept`)).status).toBe(200);
    expect(said).toEqual([
      expect.stringMatching(
        /^The scenario mine was active in sandbox default, but cannot be used: \S*mine\.yaml:2:/,
      ),
    ]);
    await after.close();
    rmSync(store, { recursive: true });
  });
});

describe("a scenario over the control API", () => {
  it("is activated with others in one call, the user's own together with shipped ones [interfaces 4]", async () => {
    await activate(api, "mine");
    expect(getDecision(await call())).toBe("fault:mine/a");
    await activate(api, "outage-with-recovery");
    expect(getDecision(await call())).toBe("fault:outage-with-recovery/outage");
    expect((await control("GET", "")).body.scenarios).toEqual(["outage-with-recovery"]);
    await activate(api);
    expect(getDecision(await call())).toBe("access");
  });

  it("is listed with its state and how often each rule has been triggered [interfaces 4]", async () => {
    await activate(api, "mine");
    await call();
    const { body } = await control("GET", "/scenarios");
    expect(body.total).toBe(body.items.length);
    const mine = body.items.find(({ name }: { name: string }) => name === "mine");
    expect(mine).toMatchObject({ active: true, shipped: false, description: "Of my own.", hits: 1 });
    expect(mine.rules).toMatchObject([{ id: "a", hits: 1, effect: { status: 503 } }]);
    expect(body.items.find(({ name }: { name: string }) => name === "slow-network")).toMatchObject({
      active: false,
      shipped: true,
    });
  });

  it("is refused with 422 and the nearest name if unknown, and nothing changes [interfaces 4]", async () => {
    await activate(api, "mine");
    const answer = await control("PUT", "/scenarios/active", { names: ["mine", "slow-netwrk"] });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({ field: "names[1]", hint: "slow-network" });
    expect((await control("GET", "")).body.scenarios).toEqual(["mine"]);
    expect((await control("PUT", "/scenarios/active", { name: "mine" })).status).toBe(422);
  });

  it("can be active from the creation of a sandbox, and an unknown one prevents the creation [interfaces 4]", async () => {
    const made = await api.call(undefined, "POST", "/_control/sandboxes", {
      name: "sa",
      scenarios: ["mine"],
    });
    expect(made.status).toBe(201);
    expect(made.body.scenarios).toEqual(["mine"]);
    expect(getDecision(await api.call("dan", "DELETE", `/_s/sa${THREAD}`))).toBe("fault:mine/a");
    const refused = await api.call(undefined, "POST", "/_control/sandboxes", {
      name: "sb",
      scenarios: ["mien"],
    });
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject({ hint: "mine" });
    expect((await api.call(undefined, "GET", "/_control/sandboxes/sb")).status).toBe(404);
  });

  it("is evaluated in the order of activation [interfaces 6]", async () => {
    writeScenario("other", "rules:\n  - { id: b, effect: { status: 500 } }\n");
    await activate(api, "other", "mine");
    expect(getDecision(await call())).toBe("fault:other/b");
    await activate(api, "mine", "other");
    expect(getDecision(await call())).toBe("fault:mine/a");
  });

  it("in the user's folder hides a shipped one of the same name [interfaces 6]", async () => {
    writeScenario("slow-network", "rules:\n  - { id: own, effect: { status: 500 } }\n");
    await activate(api, "slow-network");
    expect(getDecision(await call())).toBe("fault:slow-network/own");
  });

  it("with a broken file is listed with its problem and cannot be activated [interfaces 6]", async () => {
    writeScenario("broken", "rules:\n  - { effect: { error: NOPE } }\n");
    const listed = (await control("GET", "/scenarios")).body.items.find(
      ({ name }: { name: string }) => name === "broken",
    );
    expect(listed.problem).toMatch(/broken\.yaml:2:24: "NOPE" is not a code/);
    const refused = await control("PUT", "/scenarios/active", { names: ["broken"] });
    expect(refused.status).toBe(422);
    expect(refused.body.problems[0]).toMatchObject({ line: 2, column: 24 });
    expect((await call({ "x-sandbox-fault": "broken" })).status).toBe(400);
  });

  it("can be given as a file at the start [interfaces 2]", async () => {
    const elsewhere = join(folder, "below");
    mkdirSync(elsewhere);
    writeFileSync(
      join(elsewhere, "own.yaml"),
      "name: by-file\nrules:\n  - { id: c, effect: { status: 502 } }\n",
    );
    const started = await startReference({ scenarios: [join(elsewhere, "own.yaml"), "slow-network"] });
    const { body } = await started.call(undefined, "GET", CONTROL);
    expect(body.scenarios).toEqual(["by-file", "slow-network"]);
    await started.close();
    await expect(startReference({ scenarios: [join(folder, "none.yaml")] })).rejects.toBeInstanceOf(
      DocumentError,
    );
    await expect(startReference({ scenarios: ["none"] })).rejects.toThrow(/no scenario "none"/);
  });
});

describe("an edit of a scenario's file", () => {
  const follow = (changes: string[], problems: Error[]) => {
    const scenarios = followScenarios(api.understudy.scenarios, {
      onChange: ({ name }) => changes.push(name),
      onProblem: (error) => problems.push(error),
    });
    return new DocumentWatch([scenarios], (error) => problems.push(error));
  };

  it("applies at once, and a broken one leaves the last good version [interfaces 6]", async () => {
    await activate(api, "mine");
    const problems: DocumentError[] = [];
    const changes: string[] = [];
    const watch = follow(changes, problems);
    await watch.waitUntilReady();
    writeScenario("mine", "rules:\n  - { id: edited, effect: { status: 500 } }\n");
    await expect.poll(() => changes.length).toBe(1);
    expect(getDecision(await call())).toBe("fault:mine/edited");

    writeScenario("mine", "rules:\n  - { id: edited, effect: { statsu: 500 } }\n");
    await expect.poll(() => problems.length).toBe(1);
    expect(problems[0]).toMatchObject({ line: 2, hint: "status" });
    expect(getDecision(await call())).toBe("fault:mine/edited");
    const listed = (await control("GET", "/scenarios")).body.items.find(
      ({ name }: { name: string }) => name === "mine",
    );
    expect(listed).toMatchObject({ active: true, hits: 2 });
    expect(listed.problem).toContain("mine.yaml:2:");

    writeScenario(
      "mine",
      "rules:\n  - { id: edited, effect: { status: 500 } }\n  - { id: more, effect: { delay: 1ms } }\n",
    );
    await expect.poll(() => changes.length).toBe(2);
    const { items } = (await control("GET", "/scenarios")).body;
    const corrected = items.find(({ name }: { name: string }) => name === "mine");
    expect(corrected.problem).toBeUndefined();
    // A rule whose definition is unchanged keeps its progress.
    expect(corrected.rules).toMatchObject([
      { id: "edited", hits: 2 },
      { id: "more", hits: 0 },
    ]);
    await watch.close();
  });

  it("that removes the file activates another one of its name until it is back [interfaces 2, 6]", async () => {
    writeFileSync(
      join(folder, "other.yaml"),
      "name: mine\nrules: [{ id: other, effect: { status: 500 } }]\n",
    );
    await activate(api, "mine");
    const problems: Error[] = [];
    const changes: string[] = [];
    const watch = follow(changes, problems);
    await watch.waitUntilReady();
    expect(getDecision(await call())).toBe("fault:mine/a");
    const text = readFileSync(join(folder, "mine.yaml"), "utf8");
    rmSync(join(folder, "mine.yaml"));
    await expect.poll(() => changes).toEqual(["mine"]);
    expect(getDecision(await call())).toBe("fault:mine/other");
    writeFileSync(join(folder, "mine.yaml"), text);
    await expect.poll(() => changes).toEqual(["mine", "mine"]);
    expect(getDecision(await call())).toBe("fault:mine/a");
    expect(problems).toEqual([]);
    await watch.close();
  });

  it("that adds a file of an active built-in scenario's name applies it at once, a broken one not [interfaces 2, 6]", async () => {
    const names = ["threads-delete-forbidden", "slow-network"];
    await activate(api, ...names);
    const problems: Error[] = [];
    const changes: string[] = [];
    const watch = follow(changes, problems);
    await watch.waitUntilReady();
    writeScenario(names[0]!, "rules:\n  - { effect: { statsu: 500 } }\n");
    await expect.poll(() => problems.length).toBe(1);
    expect((await control("PUT", "/scenarios/active", { names })).status).toBe(200);
    expect(getDecision(await call())).toMatch(/^fault:threads-delete-forbidden\//);
    writeScenario(names[0]!, "rules:\n  - { id: own, effect: { status: 500 } }\n");
    await expect.poll(() => changes).toEqual([names[0]]);
    expect(getDecision(await call())).toBe("fault:threads-delete-forbidden/own");
    writeScenario(names[1]!, "rules:\n  - { id: slow, effect: { delay: 1ms } }\n");
    await expect.poll(() => changes).toEqual(names);
    await watch.close();
  });

  it("that adds or edits a file of another name applies the active scenario that it names [interfaces 6]", async () => {
    writeScenario("inactive", "rules: [{ effect: { status: 500 } }]\n");
    await activate(api, "slow-network", "mine");
    const problems: Error[] = [];
    const changes: string[] = [];
    const watch = follow(changes, problems);
    await watch.waitUntilReady();
    const write = (file: string, name: string) =>
      writeScenario(file, `name: ${name}\nrules: [{ id: of-${file}, effect: { status: 500 } }]\n`);
    write("inactive", "slow-network");
    await expect.poll(() => changes).toEqual(["slow-network"]);
    expect(getDecision(await call())).toBe("fault:slow-network/of-inactive");
    rmSync(join(folder, "inactive.yaml"));
    await expect.poll(() => changes).toEqual(["slow-network", "slow-network"]);
    // The system may report the removal twice.
    expect(api.understudy.scenarios.refresh(join(folder, "inactive.yaml")).changed).toEqual([]);
    write("copy", "mine");
    write("added", "slow-network");
    await expect.poll(() => changes).toEqual(["slow-network", "slow-network", "slow-network"]);
    expect(getDecision(await call())).toBe("fault:slow-network/of-added");
    await activate(api, "mine");
    expect(getDecision(await call())).toBe("fault:mine/a");
    expect(problems).toEqual([]);
    await watch.close();
  });

  it("applies without a watch when the scenario is switched on [interfaces 6]", async () => {
    await activate(api, "mine");
    await activate(api);
    writeScenario("mine", "rules:\n  - { id: changed-meanwhile, effect: { status: 500 } }\n");
    expect(getDecision(await call({ "x-sandbox-fault": "mine" }))).toBe("fault:header/changed-meanwhile");
    await activate(api, "mine");
    expect(getDecision(await call())).toBe("fault:mine/changed-meanwhile");
  });

  it("that makes it invalid does not affect the active scenario, and is refused once that is off [interfaces 6]", async () => {
    await activate(api, "mine");
    writeScenario("mine", "rules:\n  - { match: { path: '/v1/[a' }, effect: { status: 500 } }\n");
    expect((await control("PUT", "/scenarios/active", { names: ["mine", "slow-network"] })).status).toBe(200);
    expect(getDecision(await call())).toBe("fault:mine/a");
    await activate(api);
    const refused = await control("PUT", "/scenarios/active", { names: ["mine"] });
    expect(refused.status).toBe(422);
    expect(refused.body.problems[0]).toMatchObject({ line: 2, field: "rules[0].match.path" });
  });

  it("that removes the file leaves the scenario active, through other switches and a reset [interfaces 4]", async () => {
    const path = "/_control/sandboxes";
    await api.call(undefined, "POST", path, { name: "sc", scenarios: ["mine"] });
    rmSync(join(folder, "mine.yaml"));
    const readDecision = async () => getDecision(await api.call("dan", "DELETE", `/_s/sc${THREAD}`));
    const names = ["mine", "slow-network"];
    expect((await api.call(undefined, "PUT", `${path}/sc/scenarios/active`, { names })).status).toBe(200);
    expect(await readDecision()).toBe("fault:mine/a");
    expect((await api.call(undefined, "POST", `${path}/sc/reset`)).status).toBe(200);
    expect(await readDecision()).toBe("fault:mine/a");
    await api.call(undefined, "PUT", `${path}/sc/scenarios/active`, { names: [] });
    expect((await control("PUT", "/scenarios/active", { names: ["mine"] })).status).toBe(422);
  });

  it("that renames a scenario which is off does not prevent the reset of a sandbox that began with it [interfaces 4]", async () => {
    const path = "/_control/sandboxes";
    await api.call(undefined, "POST", path, { name: "sc", scenarios: ["slow-network", "mine"] });
    await api.call(undefined, "PUT", `${path}/sc/scenarios/active`, { names: [] });
    writeScenario("mine", "name: renamed\nrules:\n  - { id: a, effect: { status: 503 } }\n");
    const reset = await api.call(undefined, "POST", `${path}/sc/reset`);
    expect([reset.status, reset.body.scenarios]).toEqual([200, ["slow-network"]]);
  });

  it("that removes the file lists the active scenario with the problem [interfaces 4]", async () => {
    await activate(api, "mine");
    rmSync(join(folder, "mine.yaml"));
    const findScenario = async () =>
      (await control("GET", "/scenarios")).body.items.find(({ name }: { name: string }) => name === "mine");
    await call();
    expect(await findScenario()).toMatchObject({
      active: true,
      hits: 1,
      problem: expect.stringMatching(/there is no file .*mine\.yaml/),
    });
    await activate(api);
    expect(await findScenario()).toBeUndefined();
  });

  it("ignores files that editors leave in the folder [interfaces 2]", async () => {
    symlinkSync("nowhere", join(folder, ".#mine.yaml"));
    symlinkSync("nowhere", join(folder, "dangling.yaml"));
    const { status, body } = await control("GET", "/scenarios");
    expect(status).toBe(200);
    expect(body.items.filter(({ shipped }: { shipped: boolean }) => !shipped)).toHaveLength(1);
  });

  it("with an invalid pattern is reported as a problem, and the server continues [interfaces 6]", async () => {
    await activate(api, "mine");
    const problems: DocumentError[] = [];
    const watch = follow([], problems);
    await watch.waitUntilReady();
    writeScenario("mine", "rules:\n  - { match: { path: '/v1/[a' }, effect: { status: 500 } }\n");
    await expect.poll(() => problems.length).toBe(1);
    expect(problems[0]).toMatchObject({ line: 2, column: 22 });
    expect(getDecision(await call())).toBe("fault:mine/a");
    await watch.close();
  });
});

describe("the lease of a rule", () => {
  const listPending = async () =>
    (await control("GET", "/clock/pending")).body.filter(({ kind }: { kind: string }) => kind === "lease");

  it("by time ends on the sandbox's clock and is reported by advance [interfaces 6]", async () => {
    await arm(api, { id: "outage", effect: { status: 503 }, lease: { ttl: "10m" } });
    expect(await listPending()).toEqual([
      { due_at: "2026-03-15T12:10:00.000Z", kind: "lease", subject: "outage" },
    ]);
    await control("POST", "/clock/advance", { by: "9m59s" });
    expect((await call()).status).toBe(503);
    const { body } = await control("POST", "/clock/advance", { by: "1s" });
    expect(body.ran).toContainEqual({ at: "2026-03-15T12:10:00.000Z", kind: "lease", subject: "outage" });
    expect(getDecision(await call())).toBe("access");
    expect((await control("GET", "/faults/outage")).body).toMatchObject({ hits: 1, spent: true });
  });

  it("leaves no timer if the rule ended by hits, or the rule or its scenario was removed [interfaces 6]", async () => {
    await arm(api, { id: "two", effect: { status: 503 }, lease: { ttl: "10m", hits: 1 } });
    await call();
    expect(await listPending()).toEqual([]);
    await arm(api, { id: "gone", effect: { status: 503 }, lease: { ttl: "10m" } });
    await control("DELETE", "/faults/gone");
    expect(await listPending()).toEqual([]);
    await activate(api, "outage-with-recovery");
    expect(await listPending()).toHaveLength(1);
    await activate(api);
    expect(await listPending()).toEqual([]);
    await api.advance(20 * 60_000);
    expect(getDecision(await call())).toBe("access");
  });

  it("is not changed by a restore [interfaces 4]", async () => {
    await control("POST", "/snapshots", { name: "early" });
    await api.advance(60_000);
    await arm(api, { id: "outage", effect: { status: 503 }, lease: { ttl: "10m" } });
    await control("POST", "/snapshots", { name: "leased" });
    await api.advance(4 * 60_000);
    await control("POST", "/snapshots/early/restore");
    expect(await listPending()).toEqual([
      { due_at: "2026-03-15T12:06:00.000Z", kind: "lease", subject: "outage" },
    ]);
    expect((await call()).status).toBe(503);
    await control("DELETE", "/faults");
    // The lease in the snapshot belongs to a rule that has been removed since.
    await control("POST", "/snapshots/leased/restore");
    expect(await listPending()).toEqual([]);
  });
});

describe("the rules of a new world", () => {
  it("are the initial scenarios, unspent, without inline rules after a reset [interfaces 4]", async () => {
    const made = {
      name: "sa",
      scenarios: ["outage-with-recovery"],
      clock: { mode: "frozen", now: "2026-03-15T12:00:00Z" },
    };
    await api.call(undefined, "POST", "/_control/sandboxes", made);
    const S = "/_control/sandboxes/sa";
    const trigger = () => api.call("dan", "DELETE", `/_s/sa${THREAD}`);
    await api.call(undefined, "POST", `${S}/clock/advance`, { by: "2m" });
    expect(getDecision(await trigger())).toBe("access");
    await api.call(undefined, "PUT", `${S}/scenarios/active`, { names: ["mine"] });
    await api.call(undefined, "POST", `${S}/faults`, { id: "inline", effect: { status: 500 } });
    const reset = await api.call(undefined, "POST", `${S}/reset`);
    expect(reset.body.scenarios).toEqual(["outage-with-recovery"]);
    expect((await api.call(undefined, "GET", `${S}/faults`)).body.total).toBe(0);
    expect(getDecision(await trigger())).toBe("fault:outage-with-recovery/outage");
    const pending = (await api.call(undefined, "GET", `${S}/clock/pending`)).body;
    expect(pending).toContainEqual({ due_at: "2026-03-15T12:02:00.000Z", kind: "lease", subject: "outage" });
  });

  it("restart draws and sequences after a reset [interfaces 6]", async () => {
    await arm(api, { id: "p", probability: 0.5, effect: { status: 503 } });
    const drawPattern = async () => {
      let text = "";
      for (let i = 0; i < 24; i++) text += (await call()).status === 503 ? "x" : ".";
      return text;
    };
    const first = await drawPattern();
    expect(first).toMatch(/x.*\.|\..*x/);
    await control("POST", "/reset");
    await arm(api, { id: "p", probability: 0.5, effect: { status: 503 } });
    expect(await drawPattern()).toBe(first);
  });

  it("are the same in a fork, with the same progress, and are independent [interfaces 4]", async () => {
    await arm(api, { id: "three", sequence: [500, 501, 502], lease: { ttl: "1h" } });
    await activate(api, "mine");
    await call();
    await api.call(undefined, "POST", `${CONTROL}/fork`, { name: "sb" });
    const forked = await api.call("dan", "DELETE", `/_s/sb${THREAD}`);
    expect([forked.status, getDecision(forked)]).toEqual([501, "fault:inline/three"]);
    expect((await call()).status).toBe(501);
    const pending = (await api.call(undefined, "GET", "/_control/sandboxes/sb/clock/pending")).body;
    expect(pending).toContainEqual({ due_at: "2026-03-15T13:00:00.000Z", kind: "lease", subject: "three" });
  });
});

describe("saved rules and scenarios", () => {
  it("survive a restart with their progress [interfaces 2]", async () => {
    const persist = { folder: join(folder, "kept"), durable: false };
    const first = await startReference({ scenariosFolder: folder, persist });
    await arm(first, { id: "three", sequence: [500, 501, 502], lease: { ttl: "1h" } });
    await activate(first, "mine", "slow-network");
    expect((await first.call("dan", "DELETE", THREAD)).status).toBe(500);
    await first.close();
    rmSync(join(folder, "mine.yaml"));
    const second = await startReference({ scenariosFolder: folder, persist });
    const { body } = await second.call(undefined, "GET", CONTROL);
    // A scenario whose file is gone cannot be active, and must not prevent the start of the server.
    expect(body.scenarios).toEqual(["slow-network"]);
    expect((await second.call("dan", "DELETE", THREAD)).status).toBe(501);
    const pending = (await second.call(undefined, "GET", `${CONTROL}/clock/pending`)).body;
    expect(pending).toContainEqual({ due_at: "2026-03-15T13:00:00.000Z", kind: "lease", subject: "three" });
    await second.close();
  });

  it("begin the leases that their file got while no server ran [interfaces 6]", async () => {
    const persist = { folder: join(folder, "kept"), durable: false };
    const stageUntil = (until: string) =>
      writeScenario("staged", `stages:\n  - { name: one, until: { ${until} } }\n  - { name: two }\n`);
    stageUntil("requests: 9");
    const first = await startReference({ scenariosFolder: folder, persist });
    await activate(first, "mine", "staged");
    expect((await first.call("dan", "DELETE", THREAD)).status).toBe(503);
    await first.close();
    writeScenario("mine", "rules:\n  - { id: a, effect: { status: 503 }, lease: { ttl: 1m } }\n");
    stageUntil("time: 1m");
    const second = await startReference({ scenariosFolder: folder, persist });
    expect((await second.call("dan", "DELETE", THREAD)).status).toBe(503);
    const { ran } = (await second.call(undefined, "POST", `${CONTROL}/clock/advance`, { by: "1m" })).body;
    const leases = ran.filter(({ kind }: { kind: string }) => kind === "lease");
    expect(leases.map(({ subject }: { subject: string }) => subject).sort()).toEqual(["a", "staged/one"]);
    expect((await second.call("dan", "DELETE", THREAD)).status).toBe(404);
    await second.close();
  });

  it("write only their progress to the log, without a whole file [interfaces 2]", async () => {
    const persist = { folder: join(folder, "kept"), durable: true };
    const first = await startReference({ persist });
    await arm(first, { id: "two", sequence: ["pass", "pass", 503] });
    await first.call("dan", "DELETE", THREAD);
    await first.call("dan", "DELETE", "/v1/threads/thread_welcome");
    const log = readFileSync(join(persist.folder, "understudy.db-wal"), "latin1");
    expect(log).toContain('"inline/two":{"calls":2');
    await first.close();
  });
});

describe("a built-in scenario", () => {
  it("session-expired-mid-work refuses only the fourth call [interfaces 6]", async () => {
    await activate(api, "session-expired-mid-work");
    const statuses = [];
    for (let i = 0; i < 6; i++) statuses.push((await call()).status);
    expect(statuses).toEqual([404, 404, 404, 401, 404, 404]);
  });

  it("lost-answers commits and answers 503, twice for each kind of change [interfaces 6]", async () => {
    await activate(api, "lost-answers");
    const move = (parent: string) => api.call("ada", "POST", REPARENT, { new_parent_id: parent });
    expect((await move("dept_ops")).status).toBe(503);
    expect((await control("GET", "/state/departments/dept_ml")).body.parent_id).toBe("dept_ops");
    expect((await move("dept_platform")).status).toBe(503);
    expect((await move("dept_ops")).status).toBe(200);
  });

  it("outage-with-recovery ends after two minutes of the sandbox's time [interfaces 6]", async () => {
    await activate(api, "outage-with-recovery");
    const down = await call();
    expect([down.status, down.headers.get("retry-after")]).toEqual([503, "30"]);
    await api.advance(120_000);
    expect((await call()).status).toBe(404);
  });
});
