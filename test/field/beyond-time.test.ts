import { beforeAll, describe, expect, it } from "vitest";
import { useReference } from "../support/use-reference.ts";

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

  it("with a rate window beyond time is refused [interfaces 4]", async () => {
    for (const minute of [9e15, -9e15, 1e300]) {
      const snapshot = structuredClone(saved);
      snapshot.windows = [["apikey_a", { minute, requests: 1, tokens: 0 }]];
      const { status, body } = await control("PUT", "/world/snapshots/t", snapshot);
      expect([status, body.field]).toEqual([422, "windows[0][1].minute"]);
    }
  });

  it("as it was saved is taken", async () => {
    expect((await control("PUT", "/world/snapshots/t", saved)).status).toBeLessThan(300);
  });
});
