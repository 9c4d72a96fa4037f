import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHANGE_ACTIONS, RESOURCE_TYPES } from "../../src/engine/resources/change-logs/schema.ts";
import { type Api, type Caller, startReference } from "../support/harness.ts";

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

const PATH = "/v1/organizations/org_acme/dashboard/change-logs";
const list = (who: Caller | undefined, body?: unknown, path = PATH) => api.call(who, "POST", path, body);
// biome-ignore lint/suspicious/noExplicitAny: entries as they were answered
type Log = any;

async function readAllPages(): Promise<Log[]> {
  const first = await list("ada", { take: 100 });
  const second = await list("ada", { take: 100, skip: 100 });
  return [...first.body.logs, ...second.body.logs];
}

describe("change_logs.list [4.16]", () => {
  it("lists 50 of 130, the newest first, without metadata [4.16, 2.6, G28]", async () => {
    const { status, body } = await list("ada", {});
    expect(status).toBe(200);
    expect(body).toMatchObject({ total_count: 130, skip: 0, take: 50 });
    expect(body.logs).toHaveLength(50);
    expect(Object.keys(body.logs[0]).sort()).toEqual([
      "action",
      "changes",
      "id",
      "resource_id",
      "resource_name",
      "resource_type",
      "timestamp",
      "user_email",
      "user_id",
      "user_name",
    ]);
    const times = body.logs.map((log: Log) => log.timestamp);
    expect(times).toEqual([...times].sort().reverse());
  });

  it("needs no body if there is no filter [4.16]", async () => {
    const { body } = await list("ben");
    expect(body).toMatchObject({ total_count: 130, skip: 0, take: 50 });
  });

  it("contains all four resource types and all eight actions [4.16]", async () => {
    const logs = await readAllPages();
    expect(logs).toHaveLength(130);
    expect(new Set(logs.map(({ resource_type }) => resource_type))).toEqual(new Set(RESOURCE_TYPES));
    expect(new Set(logs.map(({ action }) => action))).toEqual(new Set(CHANGE_ACTIONS));
  });

  it("filters by type, by action, and by both [4.16]", async () => {
    const logs = await readAllPages();
    for (const filter of [
      { resource_type: "rule" },
      { action: "restored" },
      { resource_type: "document", action: "added" },
    ]) {
      const expected = logs.filter((log) =>
        Object.entries(filter).every(([name, value]) => log[name] === value),
      );
      const { body } = await list("ada", { ...filter, take: 100 });
      expect(body.logs).toEqual(expected);
      expect(body.total_count).toBe(expected.length);
      expect(expected.length).toBeGreaterThan(0);
    }
  });

  it("narrows by dates, including both [4.16, G28]", async () => {
    const logs = await readAllPages();
    const [newest, oldest] = [logs[10].timestamp, logs[19].timestamp];
    const { body } = await list("ada", { start_date: oldest, end_date: newest });
    expect(body.logs).toEqual(logs.slice(10, 20));
    const day = await list("ada", { start_date: "2026-03-14", end_date: "2026-03-14", take: 100 });
    expect(day.body.logs).toEqual(logs.filter(({ timestamp }) => timestamp.startsWith("2026-03-14")));
    expect(day.body.total_count).toBeGreaterThan(0);
  });

  it("clamps page sizes and offsets of any size if the setting says so [4.16, G08]", async () => {
    const settings = { out_of_range_limits: "clamp" };
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "clamping", settings });
    const post = (body: string) =>
      api.call("ada", "POST", `/_s/clamping${PATH}`, body, { "content-type": "application/json" });
    for (const [body, page] of [
      ['{"skip": 1e21, "take": 100000000000000000000}', { skip: Number.MAX_SAFE_INTEGER, take: 100 }],
      ['{"skip": -1e21}', { skip: 0, take: 50 }],
    ] as const) {
      const answer = await post(body);
      expect([answer.status, answer.body]).toMatchObject([200, page]);
    }
    const refused = await post('{"skip": 1e21, "start_date": 1e21}');
    expect([refused.status, refused.body.error.details.field]).toEqual([422, "start_date"]);
  });

  it("is paged by skip and take [4.16]", async () => {
    const logs = await readAllPages();
    const { body } = await list("ada", { skip: 125, take: 10 });
    expect(body).toEqual({ logs: logs.slice(125), total_count: 130, skip: 125, take: 10 });
  });

  it.each([
    ["skip", -1],
    ["take", 0],
    ["take", 101],
    ["take", "ten"],
    ["resource_type", "dashboard"],
    ["action", "invited"],
    ["start_date", "soon"],
    ["end_date", 20260315],
  ])("refuses %s %j [4.16, G08]", async (field, value) => {
    const answer = await list("ada", { [field]: value });
    expect(answer.status).toBe(422);
    expect(answer.body.error).toMatchObject({ code: "INVALID_INPUT", details: { field, value } });
  });

  it("refuses a start after the end, and names the start [4.16, G28]", async () => {
    const answer = await list("ada", { start_date: "2026-03-16", end_date: "2026-03-14" });
    expect(answer.body.error.details).toEqual({ field: "start_date", value: "2026-03-16" });
  });

  it.each([
    ["dan", PATH, 403, "INSUFFICIENT_PERMISSIONS"],
    ["cleo", PATH, 403, "INSUFFICIENT_PERMISSIONS"],
    ["eve", PATH, 403, "ORGANIZATION_ACCESS_DENIED"],
    ["ada", "/v1/organizations/org_none/dashboard/change-logs", 404, "ORGANIZATION_NOT_FOUND"],
    [undefined, PATH, 401, "AUTHENTICATION_REQUIRED"],
  ] as const)("answers %s at %s with %d %s [4.16, G02, G03]", async (who, path, status, code) => {
    const answer = await list(who, {}, path);
    expect(answer.status).toBe(status);
    expect(answer.body.error).toMatchObject({ code, status });
  });

  it.each(["change_logs", "assistant_history"])(
    "refuses changes in an entry of a creation by state calls: %s [2.6]",
    async (collection) => {
      const path = `/_control/sandboxes/default/state/${collection}`;
      const change = { field: "name", old_value: "a", new_value: "b" };
      const refused = await api.call(undefined, "POST", path, { action: "created", changes: [change] });
      expect([refused.status, refused.body.field]).toEqual([422, "changes"]);
      const { body } = await api.call(undefined, "POST", path, { action: "updated", changes: [change] });
      const changed = await api.call(undefined, "PATCH", `${path}/${body.id}`, { action: "created" });
      expect(changed.body).toMatchObject({ action: "created", changes: [] });
      const again = await api.call(undefined, "PATCH", `${path}/${body.id}`, { changes: [change] });
      expect([again.status, again.body.field]).toEqual([422, "changes"]);
      expect((await api.call(undefined, "DELETE", `${path}/${body.id}`)).status).toBe(204);
    },
  );

  it("is empty for an organization without entries [4.16]", async () => {
    const { body } = await list("eve", {}, "/v1/organizations/org_globex/dashboard/change-logs");
    expect(body).toEqual({ logs: [], total_count: 0, skip: 0, take: 50 });
  });
});
