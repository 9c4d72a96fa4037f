import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTempFolder, removeTempFolders, runCommand } from "../support/run-understudy.ts";
import { useReference } from "../support/use-reference.ts";

afterAll(removeTempFolders);
const api = useReference();
const control = (method: string, path: string, body?: object) =>
  api.call(undefined, method, `/_control/sandboxes${path}`, body);

interface Snapshot {
  origin: number;
  world: { tables: Record<string, { records: Record<string, unknown>[] }> };
  windows: [string, Record<string, number>][];
}
let saved: Snapshot;

const KEY = `ak_${"a".repeat(39)}`;
const FIXTURE = {
  organizations: [{ id: "org_a" }],
  users: [{ id: "usr_a", memberships: { org_a: "owner" } }],
  api_keys: [{ id: "apikey_a", user_id: "usr_a", current: "org_a", key: KEY }],
  departments: [{ id: "dept_a" }],
  files: [{ id: "file_a", filename: "a.txt" }],
  vector_stores: [
    {
      id: "vs_a",
      files: [{ file_id: "file_a", status: "processing", started_at: "2026-03-15T11:59:33.000Z" }],
    },
  ],
  connections: [{ id: "conn_a" }],
};

/** A world with a record in each internal collection that has instants or counts. */
beforeAll(async () => {
  const created = await control("POST", "", { name: "world", fixture: FIXTURE, clock: { mode: "frozen" } });
  expect(created.status, created.text).toBe(201);
  const job = { connection_id: "conn_a", job_type: "sync", status: "running" };
  await control("POST", "/world/state/connector_jobs", job);
  const { body: receiver } = await control("POST", "/world/receivers", { answers: ["hang"] });
  const headers = { "api-key": KEY };
  const hook = { url: receiver.url, events: ["user.created"] };
  expect((await api.call(undefined, "POST", "/_s/world/webhooks", hook, headers)).status).toBe(201);
  await control("POST", "/world/state/users", { name: "Zoe" });
  await api.call(undefined, "POST", "/_s/world/v1/auth/token", {}, headers);
  await control("POST", "/world/snapshots", { name: "s" });
  saved = (await control("GET", "/world/snapshots/s")).body;
});

const WRONG = [
  9e15,
  -9e15,
  1e300,
  253_402_300_800_001,
  "2026-03-15T12:00:00.000Z",
  "NaN",
  1.5,
  null,
  {},
  true,
];

describe("an uploaded snapshot", () => {
  it.each([
    ["_timers", "due"],
    ["_refresh_tokens", "expires_at"],
    ["_receivers", "created_at"],
    ["_receivers", "served"],
    ["_outgoing", "first.created_at"],
    ["_outgoing", "position"],
    ["connector_jobs", "due"],
    ["connector_jobs", "bytes_total"],
    ["store_files", "processing_ms"],
    ["departments", "created_at"],
  ])("with a wrong %s.%s is refused at that place [interfaces 4]", async (collection, path) => {
    for (const wrong of WRONG) {
      const snapshot = structuredClone(saved);
      const { records = [] } = snapshot.world.tables[collection] ?? {};
      const [first, last] = path.split(".") as [string, string?];
      const record = records.find((one) => one[first] != null);
      expect(record, `${collection} of the saved world`).toBeDefined();
      if (last === undefined) record![first] = wrong;
      else (record![first] as Record<string, unknown>)[last] = wrong;
      const isNull = wrong === null && collection === "connector_jobs" && path === "due";
      const isCount = wrong === 9e15 || wrong === 253_402_300_800_001;
      if (isNull || (isCount && /served|position|bytes|_ms/.test(path))) continue;
      const { status, body, text } = await control("PUT", "/world/snapshots/t", snapshot);
      expect([wrong, status], text).toEqual([wrong, 422]);
      expect(body.field).toMatch(new RegExp(`^world\\.tables\\.${collection}\\b`));
    }
  });

  it("with an impossible time of a rate window is refused [interfaces 4]", async () => {
    for (const minute of [9e15, -9e15, 1e300]) {
      const snapshot = structuredClone(saved);
      snapshot.windows = [["apikey_a", { minute, requests: 1, tokens: 0 }]];
      const { status, body } = await control("PUT", "/world/snapshots/t", snapshot);
      expect([status, body.field]).toEqual([422, "windows[0][1].minute"]);
    }
  });

  it("as it was saved is accepted", async () => {
    expect((await control("PUT", "/world/snapshots/t", saved)).status).toBeLessThan(300);
  });
});

const NO_INSTANTS = [
  ...WRONG.filter((wrong) => wrong !== "2026-03-15T12:00:00.000Z"),
  "+275760-09-13T00:00:00Z",
  "10000-01-01T00:00:00Z",
  "-000001-01-01T00:00:00Z",
  "2026-02-30T00:00:00Z",
];

describe("a bundle", () => {
  it.each([
    "clock/start",
    "steps/0/request/at",
    "steps/0/request/committed",
    "steps/1/control/now",
    "steps/1/control/changed",
    "deliveries/del_1/0/ended_at",
  ])("with a wrong %s is refused at that place, and nothing is replayed [interfaces 4]", async (path) => {
    const name = path.replaceAll(/\W|_/g, "-");
    await control("POST", "", { name, fixture: FIXTURE, clock: { mode: "frozen" } });
    await api.call(undefined, "GET", `/_s/${name}/v1/models`, undefined, { "api-key": KEY });
    await control("POST", `/${name}/clock/advance`, { by: "1h" });
    const { body: bundle } = await control("POST", `/${name}/bundle`);
    bundle.deliveries = { del_1: [{ response_code: 200, ended_at: "2026-03-15T12:00:00.000Z" }] };
    const file = join(createTempFolder(), "run.json");
    const keys = path.split("/");
    for (const wrong of NO_INSTANTS) {
      const damaged = structuredClone(bundle);
      const owner = keys.slice(0, -1).reduce((value, key) => value[key], damaged);
      owner[keys.at(-1)!] = wrong;
      writeFileSync(file, JSON.stringify(damaged));
      const { code, stderr } = await runCommand(["replay", file]);
      expect([wrong, code, stderr]).toEqual([wrong, 2, expect.stringContaining(`damaged: /${path} must be`)]);
    }
  });
});

describe("a fixture", () => {
  it.each([
    ["epoch", (wrong: unknown) => ({ epoch: wrong })],
    [
      "vector_stores[0].files[0].started_at",
      (wrong: unknown) => ({
        vector_stores: [
          { id: "vs_b", files: [{ file_id: "file_a", status: "processing", started_at: wrong }] },
        ],
      }),
    ],
  ])("with a wrong %s is refused at that place [interfaces 4]", async (place, change) => {
    for (const wrong of NO_INSTANTS) {
      const fixture = { ...FIXTURE, ...change(wrong) };
      const { status, body, text } = await control("POST", "", { name: "never", fixture });
      expect([wrong, status], text).toEqual([wrong, 422]);
      expect(body.field).toBe(`fixture.${place}`);
    }
    expect((await control("GET", "/never")).status).toBe(404);
  });
});
