import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Api, type Caller, EPOCH, startReference } from "../support/harness.ts";
import { getStateRules } from "../support/state-rules.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const HOUR = 3_600_000;
const toHoursAgo = (hours: number) => new Date(Date.parse(EPOCH) - hours * HOUR).toISOString();
const listHistory = (who: Caller | undefined, id: string, query = "") =>
  api.call(who, "GET", `/v1/assistants/${id}/history${query}`);
const getAssistantRules = () => getStateRules(api, "assistants");

// biome-ignore lint/suspicious/noExplicitAny: entries as they were answered
type Entry = any;

async function readAllPages(query = ""): Promise<Entry[]> {
  const first = await listHistory("dan", "asst_helper", `?limit=100${query}`);
  const second = await listHistory("dan", "asst_helper", `?limit=100&offset=100${query}`);
  return [...first.body.audit_logs, ...second.body.audit_logs];
}

describe("assistants.list_history [4.8]", () => {
  it("has 50 entries on a page, the newest first, with metadata [4.8, 2.6, G28]", async () => {
    const { status, body } = await listHistory("dan", "asst_helper");
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(["audit_logs", "pagination"]);
    expect(body.pagination).toEqual({ total: 120, limit: 50, offset: 0, has_more: true });
    expect(body.audit_logs).toHaveLength(50);
    expect(body.audit_logs[0]).toEqual({
      id: expect.stringMatching(/^log_/),
      timestamp: toHoursAgo(1),
      resource_type: "assistant",
      resource_id: "asst_helper",
      resource_name: "Helper",
      action: "deleted",
      user_id: expect.stringMatching(/^usr_/),
      user_name: expect.any(String),
      user_email: expect.stringMatching(/@acme\.test$/),
      changes: [],
      metadata: {
        ip_address: expect.any(String),
        user_agent: expect.any(String),
        source: expect.any(String),
      },
    });
    const times = body.audit_logs.map((entry: Entry) => entry.timestamp);
    expect(times).toEqual([...times].sort().reverse());
  });

  it("spans 120 hours, and its created entry is the oldest and has no changes [4.8, G18]", async () => {
    const entries = await readAllPages();
    expect(entries).toHaveLength(120);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(120);
    expect(entries.at(-1)).toMatchObject({ action: "created", changes: [], timestamp: toHoursAgo(120) });
    const fresh = await listHistory("dan", "asst_fresh");
    expect(fresh.body.pagination).toMatchObject({ total: 1, has_more: false });
    expect(fresh.body.audit_logs[0]).toMatchObject({ action: "created", resource_name: "Fresh" });
  });

  it("starts each update from the value after the one before [2.6]", async () => {
    const values = new Map<string, unknown>();
    for (const { action, changes } of (await readAllPages()).reverse()) {
      if (action !== "updated") continue;
      expect(changes).toHaveLength(1);
      const [{ field, old_value, new_value }] = changes;
      if (values.has(field)) expect(old_value).toEqual(values.get(field));
      expect(new_value).not.toEqual(old_value);
      values.set(field, new_value);
    }
    expect(getAssistantRules().get("asst_helper")).toMatchObject(Object.fromEntries(values));
  });

  it.each([
    ["created", 1],
    ["updated", 118],
    ["deleted", 1],
  ])("filters by action %s [4.8]", async (action, total) => {
    const { body } = await listHistory("dan", "asst_helper", `?action=${action}`);
    expect(body.pagination.total).toBe(total);
    expect(body.audit_logs.every((entry: Entry) => entry.action === action)).toBe(true);
  });

  it("filters by user, and by user and action together [4.8]", async () => {
    const all = await readAllPages();
    const byAda = all.filter(({ user_id }) => user_id === "usr_ada");
    expect(byAda.length).toBeGreaterThan(0);
    const { body } = await listHistory("dan", "asst_helper", "?user_id=usr_ada&limit=100");
    expect(body.audit_logs).toEqual(byAda);
    const created = await listHistory("dan", "asst_helper", "?user_id=usr_ada&action=created");
    expect(created.body.audit_logs).toEqual([all.at(-1)]);
    expect((await listHistory("dan", "asst_helper", "?user_id=uid_unknown")).body.pagination.total).toBe(0);
  });

  it("includes the start and the end, and a date is the whole UTC day [4.8, G28]", async () => {
    const countTotal = async (query: string) =>
      (await listHistory("dan", "asst_helper", query)).body.pagination.total;
    expect(await countTotal(`?start_date=${toHoursAgo(10)}&end_date=${toHoursAgo(5)}`)).toBe(6);
    expect(await countTotal(`?start_date=${toHoursAgo(3)}`)).toBe(3);
    expect(await countTotal(`?end_date=${toHoursAgo(119)}`)).toBe(2);
    expect(await countTotal("?start_date=2026-03-14&end_date=2026-03-14")).toBe(24);
    expect(await countTotal("?start_date=2026-03-15")).toBe(12);
    expect(await countTotal(`?start_date=${toHoursAgo(10)}&end_date=${toHoursAgo(5)}&action=deleted`)).toBe(
      0,
    );
  });

  it("has pages up to the end and beyond [4.8]", async () => {
    const page = (await listHistory("dan", "asst_helper", "?limit=100&offset=100")).body;
    expect(page.audit_logs).toHaveLength(20);
    expect(page.pagination).toEqual({ total: 120, limit: 100, offset: 100, has_more: false });
    const beyond = (await listHistory("dan", "asst_helper", "?offset=120")).body;
    expect(beyond).toEqual({
      audit_logs: [],
      pagination: { total: 120, limit: 50, offset: 120, has_more: false },
    });
  });

  it.each([
    ["limit", "0"],
    ["limit", "101"],
    ["limit", "ten"],
    ["offset", "-1"],
    ["action", "restored"],
    ["user_id", "ada"],
    ["start_date", "yesterday"],
    ["end_date", "2026-02-30"],
    ["start_date", ""],
  ])("refuses %s=%s in envelope B [4.8, G08]", async (field, value) => {
    const answer = await listHistory("dan", "asst_helper", `?${field}=${value}`);
    expect(answer.status).toBe(422);
    expect(answer.body.error).toEqual({
      message: expect.any(String),
      type: "invalid_request_error",
      code: "INVALID_INPUT",
      param: field,
    });
  });

  it("refuses a start after the end with the field start [4.8, G28]", async () => {
    const answer = await listHistory("dan", "asst_helper", "?start_date=2026-03-15&end_date=2026-03-14");
    expect(answer.status).toBe(422);
    expect(answer.body.error.param).toBe("start_date");
  });

  it("clamps page sizes if the setting says so [4.8, G08]", async () => {
    await api.close();
    api = await startReference({ settings: { out_of_range_limits: "clamp" } });
    const { body } = await listHistory("dan", "asst_helper", "?limit=1000&offset=-5");
    expect(body.pagination).toMatchObject({ limit: 100, offset: 0 });
  });

  it.each([
    ["unknown", "dan", "asst_none"],
    ["foreign", "eve", "asst_helper"],
  ] as const)(
    "answers 404 RESOURCE_NOT_FOUND in envelope B for an %s assistant [4.8, G18]",
    async (_, who, id) => {
      const answer = await listHistory(who, id);
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual({
        error: { message: expect.any(String), type: "not_found_error", code: "RESOURCE_NOT_FOUND" },
      });
    },
  );

  it("answers 401 with its upper-case code in envelope B [4.8, G03]", async () => {
    const answer = await listHistory(undefined, "asst_helper");
    expect(answer.status).toBe(401);
    expect(answer.body.error).toMatchObject({
      type: "authentication_error",
      code: "AUTHENTICATION_REQUIRED",
    });
  });
});

describe("state rules of assistants [G18, G31]", () => {
  it("the history survives the deletion of the assistant, and stays in order on a frozen clock [G18]", async () => {
    getAssistantRules().post({ id: "asst_new", name: "New", temperature: 0.2 }, { user_id: "usr_ben" });
    for (let i = 1; i <= 5; i++) getAssistantRules().patch("asst_new", { name: `New ${i}` });
    getAssistantRules().remove("asst_new");
    expect(getAssistantRules().get("asst_new")).toBeUndefined();
    const { body } = await listHistory("dan", "asst_new");
    const rows = body.audit_logs.map((entry: Entry) => [entry.action, entry.resource_name, entry.user_name]);
    expect(rows).toEqual([
      ["deleted", "New 5", "Ada Osei"],
      ...[5, 4, 3, 2, 1].map((i) => ["updated", `New ${i}`, "Ada Osei"]),
      ["created", "New", "Ben Castro"],
    ]);
    expect(body.audit_logs[1].changes).toEqual([{ field: "name", old_value: "New 4", new_value: "New 5" }]);
    expect((await listHistory("eve", "asst_new")).status).toBe(404);
  });

  it("removing a deleted assistant writes no second deletion [G18]", async () => {
    getAssistantRules().post({ id: "asst_new", name: "New" });
    getAssistantRules().patch("asst_new", { deleted_at: 0 });
    getAssistantRules().remove("asst_new");
    const { body } = await listHistory("dan", "asst_new");
    expect(body.audit_logs.map(({ action }: Entry) => action)).toEqual(["deleted", "created"]);
    const changes = await api.call("ada", "POST", "/v1/organizations/org_acme/dashboard/change-logs", {
      take: 2,
    });
    expect(changes.body.logs.map(({ action }: Entry) => action)).toEqual(["deleted", "created"]);
  });

  it("every change is also a change log of type assistant [G31]", async () => {
    getAssistantRules().post({ id: "asst_new", name: "New" });
    getAssistantRules().patch("asst_new", { description: "Other" });
    getAssistantRules().remove("asst_new");
    const { body } = await api.call("ada", "POST", "/v1/organizations/org_acme/dashboard/change-logs", {
      resource_type: "assistant",
      take: 3,
    });
    expect(body.logs.map((log: Entry) => [log.action, log.resource_id])).toEqual([
      ["deleted", "asst_new"],
      ["updated", "asst_new"],
      ["created", "asst_new"],
    ]);
    expect(body.logs[1].changes).toMatchObject([{ field: "description", new_value: "Other" }]);
  });

  it("a restoration is only in the change log, and an empty change in neither [G31]", async () => {
    const before = (await listHistory("dan", "asst_helper")).body.pagination.total;
    getAssistantRules().patch("asst_helper", { deleted_at: null });
    getAssistantRules().patch("asst_helper", {});
    expect((await listHistory("dan", "asst_helper")).body.pagination.total).toBe(before);
    const { body } = await api.call("ada", "POST", "/v1/organizations/org_acme/dashboard/change-logs", {});
    expect(body.total_count).toBe(131);
    expect(body.logs[0]).toMatchObject({ action: "restored", resource_id: "asst_helper" });
  });

  it("silent changes are not recorded [interfaces 4]", async () => {
    getAssistantRules().post({ id: "asst_new" }, { silent: true });
    expect((await listHistory("dan", "asst_new")).body.pagination.total).toBe(0);
    getAssistantRules().remove("asst_new", { silent: true });
    expect((await listHistory("dan", "asst_new")).status).toBe(404);
  });
});
