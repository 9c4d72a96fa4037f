import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { requireStateCollection } from "../../src/control/state/state-collection.ts";
import { API } from "../../src/engine/resources/index.ts";
import { usageStateRules } from "../../src/engine/resources/usage/operations.ts";
import { recordSpending } from "../../src/engine/resources/usage/spending.ts";
import { type Api, type Caller, startReference } from "../support/harness.ts";
import { getStateRules } from "../support/state-rules.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const DAY = 86_400_000;
const fetchLimits = (who: Caller | undefined, org = "org_acme", query = "") =>
  api.call(who, "GET", `/v1/analytics/usage/limits/${org}${query}`);
const state = requireStateCollection(API, "usage");
const getWorld = () => api.understudy.sandboxes.get("default")!.world;
const spend = (amount: number, key_id = "apikey_ada", organization_id = "org_acme") =>
  getWorld().transact((tx) => {
    recordSpending(tx, { organization_id, key_id, amount });
    return tx.events;
  });
const answerAs = (who: Caller) =>
  api.call(who, "POST", "/v1/model/response", {
    model: "atlas-large",
    inputs: [{ role: "user", content: "Hello" }],
  });

describe("usage.retrieve_limits [4.17]", () => {
  it("shows organization, total and keys of the current month [4.17, 2.7, 3.6]", async () => {
    const { status, body } = await fetchLimits("dan");
    expect(status).toBe(200);
    expect(body).toEqual({
      organization_limits: {
        monthly_limit: 1000,
        current_usage: 850,
        utilization_percentage: 85,
        remaining_budget: 150,
        status: "warning",
      },
      api_limits: {
        monthly_limit: 600,
        current_usage: 420,
        utilization_percentage: 70,
        remaining_budget: 180,
        status: "ok",
      },
      api_key_limits: [
        makeKey("apikey_ada", "Ada laptop", [200, 150, 75, "ok"]),
        makeKey("apikey_ben", "Ben laptop", [200, 160, 80, "warning"]),
        makeKey("apikey_ci", "CI pipeline", [100, 100, 100, "exceeded"]),
        makeKey("apikey_cleo", "Cleo reports", [null, 10, null, "no_limit"]),
      ],
      summary: { total_keys: 4, keys_with_limits: 3, keys_exceeded: 1, overall_status: "exceeded" },
    });
  });

  it("counts every key of a kind in the summary [4.17, G33]", async () => {
    getStateRules(api, "usage").patch("org_acme:apikey_ada", { monthly_limit: 100 });
    getStateRules(api, "usage").patch("org_acme:apikey_cleo", { monthly_limit: 1 });
    expect((await fetchLimits("dan")).body.summary).toEqual({
      total_keys: 4,
      keys_with_limits: 4,
      keys_exceeded: 3,
      overall_status: "exceeded",
    });
  });

  describe("for a key that was deleted [4.17, G33]", () => {
    const control = (method: string, path: string, body?: object) =>
      api.call(undefined, method, `/_control/sandboxes/default/state/${path}`, body);
    const fetchEntry = async (id: string, query = "") =>
      (await fetchLimits("dan", "org_acme", query)).body.api_key_limits.find(
        ({ api_key_id }: { api_key_id: string }) => api_key_id === id,
      );

    it("has its last name and its spending, without its limit, and counts it in the total [4.17, G33]", async () => {
      const before = (await fetchLimits("dan")).body;
      await control("PATCH", "api_keys/apikey_ci", { name: "Old pipeline" });
      expect((await control("DELETE", "api_keys/apikey_ci")).status).toBe(204);
      expect(await fetchEntry("apikey_ci")).toEqual({
        api_key_id: "apikey_ci",
        api_key_name: "Old pipeline",
        monthly_limit: null,
        current_usage: 100,
        utilization_percentage: null,
        status: "no_limit",
      });
      const { organization_limits, api_limits, summary } = (await fetchLimits("dan")).body;
      expect({ organization_limits, api_limits }).toEqual({
        organization_limits: before.organization_limits,
        api_limits: before.api_limits,
      });
      expect(summary).toMatchObject({
        total_keys: before.summary.total_keys,
        keys_with_limits: before.summary.keys_with_limits - 1,
        keys_exceeded: before.summary.keys_exceeded - 1,
      });
      expect(await fetchEntry("apikey_ci", "?month=1&year=2026")).toBeUndefined();
      expect((await control("PATCH", "usage/org_acme:apikey_ci", { spent: { "2026-03": 40 } })).status).toBe(
        200,
      );
      expect(await fetchEntry("apikey_ci")).toMatchObject({ current_usage: 40 });
    });

    it("also has it if it spent by requests, or if its user was deleted [4.17, G33]", async () => {
      await control("DELETE", "usage/org_acme:apikey_dan");
      spend(12.5, "apikey_dan");
      await control("DELETE", "users/usr_dan");
      const { body } = await fetchLimits("ben");
      expect(body.api_key_limits).toContainEqual(
        expect.objectContaining({ api_key_name: "Dan laptop", current_usage: 12.5 }),
      );
    });

    it("has no spending for a new key with the same id [4.17, G37]", async () => {
      const { body: key } = await control("GET", "api_keys/apikey_ci");
      await control("DELETE", "api_keys/apikey_ci");
      expect((await control("POST", "api_keys", key)).status).toBe(201);
      expect(await fetchEntry("apikey_ci")).toBeUndefined();
    });
  });

  it("has no spending of any key after the organization's usage is deleted [4.17, interfaces 4]", async () => {
    const usage = "/_control/sandboxes/default/state/usage";
    expect((await api.call(undefined, "DELETE", `${usage}/org_acme`)).status).toBe(204);
    const { body } = await fetchLimits("dan");
    expect(body.organization_limits).toMatchObject({ monthly_limit: null, current_usage: 0 });
    expect(body.api_key_limits).toEqual([]);
    const { items } = (await api.call(undefined, "GET", usage)).body;
    expect(
      items.filter(({ organization_id }: { organization_id: string }) => organization_id === "org_acme"),
    ).toEqual([]);
  });

  it("compares a past month with today's limits [4.17, G33]", async () => {
    const { body } = await fetchLimits("ada", "org_acme", "?month=2");
    expect(body.organization_limits).toMatchObject({ current_usage: 400, utilization_percentage: 40 });
    expect(body.api_limits.current_usage).toBe(200);
    expect(body.api_key_limits.map((entry: { api_key_id: string }) => entry.api_key_id)).toEqual([
      "apikey_ada",
      "apikey_ben",
      "apikey_ci",
    ]);
    expect(
      (await fetchLimits("ada", "org_acme", "?month=3&year=2025")).body.organization_limits.current_usage,
    ).toBe(0);
  });

  it("is empty for future months, even if a state call added spending to them [4.17, G33]", async () => {
    getStateRules(api, "usage").patch("org_acme", { spent: { 1: 5_000_000 } });
    const { body } = await fetchLimits("ada", "org_acme", "?month=4");
    expect(body.organization_limits).toMatchObject({
      current_usage: 0,
      remaining_budget: 1000,
      status: "ok",
    });
    expect(body.api_limits.current_usage).toBe(0);
    expect(body.summary).toEqual({
      total_keys: 3,
      keys_with_limits: 3,
      keys_exceeded: 0,
      overall_status: "ok",
    });
  });

  it("uses the sandbox's current month by default, month by month [4.17]", async () => {
    await api.advance(20 * DAY);
    expect((await fetchLimits("ada")).body.organization_limits.current_usage).toBe(0);
    expect((await fetchLimits("ada", "org_acme", "?month=3")).body.organization_limits.current_usage).toBe(
      850,
    );
    expect((await fetchLimits("ada", "org_acme", "?year=2025")).body.organization_limits.current_usage).toBe(
      0,
    );
  });

  it("converts the fixture's months to the sandbox's clock [4.17]", async () => {
    await api.close();
    api = await startReference({ clock: { mode: "frozen", now: Date.parse("2031-01-31T23:00:00Z") } });
    expect((await fetchLimits("ada")).body.organization_limits.current_usage).toBe(850);
    const past = await fetchLimits("ada", "org_acme", "?month=12&year=2030");
    expect(past.body.organization_limits.current_usage).toBe(400);
  });

  it("has no_limit and null api_limits without limits [2.7, G33]", async () => {
    const { body } = await fetchLimits("hana", "org_initech");
    expect(body).toEqual({
      organization_limits: {
        monthly_limit: null,
        current_usage: 0,
        utilization_percentage: null,
        remaining_budget: null,
        status: "no_limit",
      },
      api_limits: null,
      api_key_limits: [],
      summary: { total_keys: 0, keys_with_limits: 0, keys_exceeded: 0, overall_status: "no_limit" },
    });
    const globex = (await fetchLimits("eve", "org_globex")).body;
    expect(globex.api_limits).toBeNull();
    expect(globex.organization_limits).toMatchObject({ status: "exceeded", remaining_budget: 0 });
    const hooli = (await fetchLimits("ivan", "org_hooli")).body;
    expect(hooli.api_limits).toMatchObject({ monthly_limit: 50, current_usage: 50, status: "exceeded" });
  });

  it.each([
    ["month", "0"],
    ["month", "13"],
    ["month", "013"],
    ["month", ""],
    ["month", "march"],
    ["month", "3.5"],
    ["year", "0"],
    ["year", "10000"],
    ["year", ""],
  ])("refuses %s=%s, shown as the text that was sent [4.17, G08, G33]", async (field, value) => {
    const answer = await fetchLimits("ada", "org_acme", `?${field}=${value}`);
    expect(answer.status).toBe(422);
    expect(answer.body.error).toMatchObject({ code: "INVALID_INPUT", details: { field, value } });
  });

  it.each([
    ["ada", "org_none", 404, "ORGANIZATION_NOT_FOUND"],
    ["eve", "org_acme", 403, "ORGANIZATION_ACCESS_DENIED"],
    [undefined, "org_acme", 401, "AUTHENTICATION_REQUIRED"],
    ["ada", "acme", 422, "INVALID_INPUT"],
  ] as const)("answers %s at %s with %d %s [4.17, G03]", async (who, org, status, code) => {
    const answer = await fetchLimits(who, org);
    expect(answer.status).toBe(status);
    expect(answer.body.error).toMatchObject({ code, status });
  });
});

describe("the spending hierarchy [8, G33]", () => {
  it.each([
    ["eve", { scope: "organization", monthly_limit: 500, current_usage: 500 }],
    ["ivan", { scope: "api_total", monthly_limit: 50, current_usage: 50 }],
    ["ci", { scope: "api_key", monthly_limit: 100, current_usage: 100 }],
  ] as const)("refuses %s with 429 by %j [8, G05]", async (who, details) => {
    const answer = await answerAs(who);
    expect(answer.status).toBe(429);
    expect(answer.body.error).toMatchObject({
      code: "SPENDING_LIMIT_EXCEEDED",
      type: "client_error",
      details,
    });
    expect(answer.headers.get("x-sandbox-decision")).toBe("spending");
    expect(answer.headers.get("retry-after")).toBeNull();
  });

  it("shows amounts below a hundredth with six decimals [G39]", async () => {
    const rows = getStateRules(api, "usage");
    rows.patch("org_acme", { spent: { "0": 0 } });
    rows.patch("org_acme:apikey_ada", { monthly_limit: 0.0042, spent: { "0": 4_217 } });
    expect((await answerAs("ada")).body.error.details).toEqual({
      scope: "api_key",
      monthly_limit: 0.0042,
      current_usage: 0.004217,
    });
    expect((await fetchLimits("ada")).body.api_key_limits[0]).toMatchObject({
      monthly_limit: 0,
      current_usage: 0,
    });
    rows.patch("org_acme:apikey_ada", { monthly_limit: 0.0012345678 });
    expect((await answerAs("ada")).body.error.details.monthly_limit).toBe(0.001235);
  });

  it("checks the organization's limit first, then the total, then the key's [8]", async () => {
    const rows = getStateRules(api, "usage");
    const fetchScope = async () => (await answerAs("ci")).body.error?.details.scope;
    rows.patch("org_acme", { monthly_limit: 850, api_monthly_limit: 420 });
    expect(await fetchScope()).toBe("organization");
    rows.patch("org_acme", { monthly_limit: 851 });
    expect(await fetchScope()).toBe("api_total");
    rows.patch("org_acme", { api_monthly_limit: null });
    expect(await fetchScope()).toBe("api_key");
    rows.patch("org_acme:apikey_ci", { monthly_limit: 100.01 });
    expect((await answerAs("ci")).status).toBe(200);
  });

  it("starts with a full budget in a new month [8]", async () => {
    expect((await answerAs("ci")).status).toBe(429);
    await api.advance(17 * DAY);
    expect((await answerAs("ci")).status).toBe(200);
  });

  it("refuses nothing without limits [8]", async () => {
    expect((await answerAs("hana")).status).toBe(200);
  });
});

describe("usage events [G25]", () => {
  it("report each limit once: organization, total, key, threshold before limit [G25]", () => {
    expect(spend(9).map(({ event }) => event)).toEqual([]);
    expect(spend(1)).toEqual([
      {
        event: "usage.threshold",
        organization_id: "org_acme",
        data: {
          organization_id: "org_acme",
          scope: "api_key",
          api_key_id: "apikey_ada",
          monthly_limit: 200,
          current_usage: 160,
          utilization_percentage: 80,
        },
      },
    ]);
    expect(spend(1)).toEqual([]);
    const jump = spend(500).map(({ event, data }) => `${data["scope"]} ${event}`);
    expect(jump).toEqual([
      "organization usage.limit",
      "api_total usage.threshold",
      "api_total usage.limit",
      "api_key usage.limit",
    ]);
    expect(spend(500)).toEqual([]);
  });

  it("are sent again for the same limit in the next month only [G25]", async () => {
    spend(10);
    getStateRules(api, "usage").patch("org_acme:apikey_ada", { monthly_limit: 205 });
    expect(spend(10)).toEqual([]);
    await api.advance(20 * DAY);
    expect(spend(170).map(({ data }) => data["scope"])).toEqual(["api_key"]);
  });

  it("are also sent for a state call that crosses a limit, unless it is silent [G25]", () => {
    const rows = getStateRules(api, "usage");
    expect(rows.patch("org_acme", { api_monthly_limit: 500 }).emitted).toMatchObject([
      { event: "usage.threshold", data: { scope: "api_total", utilization_percentage: 84 } },
    ]);
    expect(rows.patch("org_acme", { monthly_limit: 800 }, { silent: true }).emitted).toEqual([]);
  });

  it("add up tiny amounts exactly [G20]", async () => {
    for (let i = 0; i < 1000; i++) spend(0.000_011, "apikey_hana", "org_initech");
    const row = usageStateRules.toPublic!(
      getStateRules(api, "usage").get("org_initech:apikey_hana"),
      getWorld().read(),
    );
    expect(row).toMatchObject({ spent: { "2026-03": 0.011 } });
    expect((await fetchLimits("hana", "org_initech")).body.api_key_limits).toEqual([
      makeKey("apikey_hana", "Hana laptop", [null, 0.01, null, "no_limit"]),
    ]);
  });
});

describe("state rules of usage [interfaces 4]", () => {
  it("show amounts by calendar month and remove them [interfaces 4]", () => {
    const rows = getStateRules(api, "usage");
    const read = getWorld().read();
    expect(state.toPublic(rows.get("org_acme"), read)).toEqual({
      id: "org_acme",
      organization_id: "org_acme",
      api_key_id: null,
      monthly_limit: 1000,
      api_monthly_limit: 600,
      spent: { "2026-02": 400, "2026-03": 850 },
    });
    const spent = usageStateRules.fromPublic!({ spent: { "2025-12": 1.5, "2026-03": 2 } }, read);
    expect(spent).toEqual({ spent: { "-3": 1_500_000, "0": 2_000_000 } });
    rows.patch("org_acme", { spent: { "-1": 0 } });
    expect(rows.get("org_acme").spent).toEqual({ "0": 850_000_000, "-1": 0 });
  });

  it("change the organization and the total with a key's spending, month by month [8]", async () => {
    const rows = getStateRules(api, "usage");
    const fetchShown = async (query = "") => {
      const { body } = await fetchLimits("ada", "org_acme", query);
      return [body.organization_limits.current_usage, body.api_limits.current_usage];
    };
    const { emitted } = rows.patch("org_acme:apikey_ada", { spent: { "0": 195_000_000, "-1": 50_000_000 } });
    expect(await fetchShown()).toEqual([895, 465]);
    expect(await fetchShown("?month=2")).toEqual([360, 160]);
    expect(emitted.map(({ data }) => data["scope"])).toEqual(["api_key"]);
    const { emitted: newEvents } = rows.patch("org_acme:apikey_ben", { spent: { "0": 275_000_000 } });
    expect(newEvents.map(({ event, data }) => `${data["scope"]} ${event}`)).toContain(
      "organization usage.limit",
    );
    expect(await fetchShown()).toEqual([1010, 580]);
    rows.remove("org_acme:apikey_ben", { silent: true });
    expect(await fetchShown()).toEqual([735, 305]);
    rows.post({ id: "org_acme:apikey_dan", spent: { "0": 5_000_000 } }, { silent: true });
    expect(await fetchShown()).toEqual([740, 310]);
    rows.patch("org_acme", { spent: { "0": 1_000_000 } });
    rows.patch("org_acme:apikey_dan", { spent: { "0": 0 } });
    expect(await fetchShown()).toEqual([0, 305]);
  });

  it("identify a row by organization and key [interfaces 4]", () => {
    const rows = getStateRules(api, "usage");
    const { record } = rows.post({ organization_id: "org_acme", api_key_id: "apikey_dan", monthly_limit: 5 });
    expect(record).toMatchObject({ id: "org_acme:apikey_dan", spent: {}, api_monthly_limit: null });
    expect(rows.post({ id: "org_initech:apikey_ada" }).record).toMatchObject({
      organization_id: "org_initech",
      api_key_id: "apikey_ada",
    });
  });

  it.each([{ organization_id: "org_globex" }, { api_key_id: "apikey_dan" }])(
    "refuse to give a row another owner: %j [interfaces 4]",
    (fields) => {
      const [[field, value]] = Object.entries(fields) as [[string, string]];
      expect(() => getStateRules(api, "usage").patch("org_acme:apikey_ben", fields)).toThrow(
        expect.objectContaining({ code: "INVALID_INPUT", details: { field, value } }),
      );
    },
  );

  it.each([
    [{ organization_id: "org_none" }, "organization_id"],
    [{ organization_id: "org_acme", api_key_id: "apikey_none" }, "api_key_id"],
    [{ organization_id: "org_acme", api_key_id: "apikey_dan", api_monthly_limit: 5 }, "api_monthly_limit"],
    [{ id: "org_acme:apikey_dan", organization_id: "org_globex" }, "id"],
  ])("refuse %j [interfaces 4]", (fields, field) => {
    expect(() => getStateRules(api, "usage").post(fields)).toThrow(
      expect.objectContaining({ code: "INVALID_INPUT", details: expect.objectContaining({ field }) }),
    );
  });
});

it.each([
  [{}, 120],
  [{ spent: { current: 100 } }, 120],
  [{ spent: { current: 300 } }, 300],
])(
  "an organization of a fixture has spent at least as much as its keys, with %j [8, G33]",
  async (entry, spent) => {
    const keys = { apikey_hana: { spent: { current: 90 } }, apikey_ada: { spent: { current: 30 } } };
    const fixture = { extends: "reference", usage: { org_initech: { monthly_limit: 120, ...entry, keys } } };
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "spending", fixture });
    const { body } = await api.call("hana", "GET", "/_s/spending/v1/analytics/usage/limits/org_initech");
    expect(body.organization_limits).toMatchObject({ current_usage: spent, status: "exceeded" });
  },
);

function makeKey(
  api_key_id: string,
  api_key_name: string,
  [monthly_limit, current_usage, utilization_percentage, status]: [
    number | null,
    number,
    number | null,
    string,
  ],
) {
  return { api_key_id, api_key_name, monthly_limit, current_usage, utilization_percentage, status };
}
