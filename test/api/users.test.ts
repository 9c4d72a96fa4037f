import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { exportRows } from "../support/audit-rows.ts";
import { type Api, type Caller, EPOCH, KEYS, startReference } from "../support/harness.ts";
import { getStateRules } from "../support/state-rules.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const setCurrent = (
  who: Caller | undefined,
  organization_id: unknown,
  headers: Record<string, string> = {},
) => api.call(who, "PUT", "/v1/user/current-organization", { organization_id }, headers);
const getCurrent = (id: string) => getStateRules(api, "api_keys").get(id).current;

describe("users.set_current_organization", () => {
  it("answers the organization and lets the key act in it [4.5]", async () => {
    const { status, body } = await setCurrent("ada", "org_initech");
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      message: expect.stringContaining("Initech"),
      current_organization_id: "org_initech",
      organization: { id: "org_initech", name: "Initech", type: "personal" },
    });
    const next = await setCurrent("ada", "org_initech");
    expect(next.headers.get("service-organization")).toBe("org_initech");
    // Section 8: the plan of the current organization applies, and that of Initech is standard.
    expect(next.headers.get("x-ratelimit-limit")).toBe("100");
  });

  it("changes only the calling key [G32]", async () => {
    await setCurrent("ada", "org_initech");
    expect(getCurrent("apikey_ada")).toBe("org_initech");
    expect(getCurrent("apikey_ci")).toBe("org_acme");
  });

  it("an access token changes its key [G32]", async () => {
    const { body } = await api.call("ci", "POST", "/v1/auth/token", {});
    const bearer = { authorization: `Bearer ${body.access_token}` };
    expect((await setCurrent(undefined, "org_initech", bearer)).status).toBe(200);
    expect(getCurrent("apikey_ci")).toBe("org_initech");
    expect(getCurrent("apikey_ada")).toBe("org_acme");
    const next = await setCurrent(undefined, "org_initech", bearer);
    expect(next.headers.get("service-organization")).toBe("org_initech");
  });

  it("answers the same 403 to an unknown organization as to a foreign one [4.5, G03]", async () => {
    const foreign = await setCurrent("dan", "org_globex");
    const unknown = await setCurrent("dan", "org_nowhere");
    for (const { status, body } of [foreign, unknown]) {
      expect([status, body.error.code, body.error.type]).toEqual([
        403,
        "INSUFFICIENT_PERMISSIONS",
        "authorization_error",
      ]);
    }
    expect(foreign.body.error.system_message).toContain("membership");
    expect(unknown.body.error.message).toBe(foreign.body.error.message);
    expect(unknown.body.error.system_message).toBe(foreign.body.error.system_message);
    expect(getCurrent("apikey_dan")).toBe("org_acme");
  });

  it.each([["acme"], [null], [7], ["org_"], ["org_a b"]])(
    "answers 422 to organization_id %j [G08]",
    async (value) => {
      const { status, body } = await setCurrent("ada", value);
      expect([status, body.error.details]).toEqual([422, { field: "organization_id", value }]);
    },
  );

  it("answers 401 without credentials [4.5]", async () => {
    expect((await setCurrent(undefined, "org_acme")).body.error.code).toBe("AUTHENTICATION_REQUIRED");
  });
});

describe("state rules of users", () => {
  const getUserRules = () => getStateRules(api, "users");
  const listAudited = async (query = "", who: Caller = "ada", organization = "org_acme") =>
    (await exportRows(api, `?from_date=2026-03-15T12:00:00Z${query}`, who, organization)).map((row) => [
      row["Entity Type"],
      row["Entity Name"],
      row["Action"],
      row["Actor Name"],
    ]);

  it("emit user.created with the documented data, and audit it [6.2, G18]", async () => {
    const { record, emitted } = getUserRules().post({ name: "Zoe Zed", email: "zoe@acme.test" });
    expect(record).toMatchObject({ memberships: { org_acme: "member" }, account: "active", verified: false });
    expect(emitted).toEqual([
      {
        event: "user.created",
        organization_id: "org_acme",
        data: { user_id: record.id, email: "zoe@acme.test", created_at: EPOCH },
      },
    ]);
    expect(await listAudited()).toEqual([["user", "Zoe Zed", "created", "Ada Osei"]]);
  });

  it("send the event to each organization of the user, with its own actor [G18]", async () => {
    const { emitted } = getUserRules().patch("usr_ada", { name: "Ada O." });
    expect(emitted.map(({ event, organization_id }) => [event, organization_id])).toEqual([
      ["user.updated", "org_acme"],
      ["user.updated", "org_initech"],
    ]);
    expect(emitted[0]!.data).toEqual({
      user_id: "usr_ada",
      name: "Ada O.",
      email: "ada@acme.test",
      account: "active",
      verified: true,
      created_at: expect.any(String),
    });
    expect(await listAudited()).toEqual([["user", "Ada O.", "updated", "Ada O."]]);
    expect(await listAudited("", "hana", "org_initech")).toEqual([
      ["user", "Ada O.", "updated", "Hana Suzuki"],
    ]);
  });

  it("emit user.verified if verified becomes true, also user.updated for more changes, and only user.updated back again [G25]", () => {
    const { record } = getUserRules().post({ name: "Zoe" });
    const listEvents = (change: object) =>
      getUserRules()
        .patch(record.id, change)
        .emitted.map(({ event }) => event);
    expect(listEvents({ verified: true })).toEqual(["user.verified"]);
    expect(listEvents({ verified: false })).toEqual(["user.updated"]);
    expect(listEvents({ verified: true, name: "Zoe B." })).toEqual(["user.verified", "user.updated"]);
    expect(listEvents({ verified: true })).toEqual([]);
  });

  it("audit gaining, changing and losing a role as role_assignment [G31]", async () => {
    getUserRules().patch("usr_dan", { memberships: { org_acme: "admin", org_globex: "member" } });
    expect(await listAudited()).toEqual([
      ["role_assignment", "admin", "assigned", "Ada Osei"],
      ["role_assignment", "member", "unassigned", "Ada Osei"],
    ]);
    expect(await listAudited("", "eve", "org_globex")).toEqual([
      ["role_assignment", "member", "assigned", "Eve Laurent"],
    ]);
    getUserRules().patch("usr_dan", { memberships: { org_globex: "member" } }, { user_id: "usr_ben" });
    expect(await listAudited("&action_type=unassigned")).toEqual([
      ["role_assignment", "admin", "unassigned", "Ben Castro"],
      ["role_assignment", "member", "unassigned", "Ada Osei"],
    ]);
    expect(
      (await api.call("dan", "PUT", "/v1/user/current-organization", { organization_id: "org_acme" })).status,
    ).toBe(403);
  });

  it("remove the capabilities of a lost membership, unless the change gives them [G02, G31]", async () => {
    const gone = { org_initech: "member" } as const;
    const kept = { memberships: gone, capabilities: { org_acme: ["report-create"] } };
    expect(() => getUserRules().patch("usr_cleo", kept)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ field: "capabilities.org_acme" }) }),
    );
    expect(getUserRules().patch("usr_cleo", { memberships: gone }).record).toMatchObject({
      memberships: gone,
      capabilities: {},
    });
    expect(await listAudited()).toEqual([
      ["permission", "report-create", "updated", "Ada Osei"],
      ["role_assignment", "member", "unassigned", "Ada Osei"],
    ]);
  });

  it("audit a suspension as deactivated, and the end of it as reactivated [G31, 4.15]", async () => {
    getUserRules().patch("usr_dan", { account: "suspended", name: "Dan W." });
    getUserRules().patch("usr_dan", { account: "disabled" });
    getUserRules().patch("usr_dan", { account: "active" });
    const rows = await exportRows(api, "?from_date=2026-03-15T12:00:00Z");
    expect(rows.map((row) => [row["Action"], row["Previous Value"], row["New Value"]])).toEqual([
      ["reactivated", "disabled", "active"],
      ["updated", "suspended", "disabled"],
      ["deactivated", "active", "suspended"],
      ["updated", '{"name":"Dan Whitfield"}', '{"name":"Dan W."}'],
    ]);
  });

  it("delete keys and sessions of a deleted user [interfaces 4]", async () => {
    const { body } = await api.call("ben", "POST", "/v1/auth/token");
    const { emitted } = getUserRules().remove("usr_ben");
    expect(emitted.map(({ event }) => event)).toEqual(["user.deleted"]);
    expect((await setCurrent("ben", "org_acme")).status).toBe(401);
    const refresh = { refresh_token: body.refresh_token };
    expect((await api.call(undefined, "POST", "/v1/auth/refresh", refresh)).status).toBe(401);
    expect(
      api.understudy.sandboxes
        .get("default")!
        .world.listPending()
        .filter(({ kind }) => kind === "expiry"),
    ).toEqual([]);
    expect(await listAudited()).toEqual([["user", "Ben Castro", "deleted", "Ada Osei"]]);
  });

  it("emit no event for a silent change [interfaces 4]", async () => {
    const { record, emitted } = getUserRules().post({ name: "Quiet" }, { silent: true });
    expect(emitted).toEqual([]);
    expect(getUserRules().patch(record.id, { name: "Q", memberships: {} }, { silent: true }).emitted).toEqual(
      [],
    );
    expect(getUserRules().remove(record.id, { silent: true }).emitted).toEqual([]);
    expect(await listAudited()).toEqual([]);
  });

  it.each([
    ["memberships.org_nowhere", { memberships: { org_nowhere: "member" } }],
    ["capabilities.org_globex", { capabilities: { org_globex: ["report-create"] } }],
  ])("refuse %s [interfaces 4]", (field, change) => {
    expect(() => getUserRules().patch("usr_dan", change)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ field }) }),
    );
  });
});

describe("state rules of keys and organizations", () => {
  it("give a created key the documented form, and it works at once [2.15]", async () => {
    const { record } = getStateRules(api, "api_keys").post({ user_id: "usr_dan" });
    expect(record.key).toMatch(/^ak_[A-Za-z0-9]{39}$/);
    expect(record.current).toBe("org_acme");
    const answer = await setCurrent(undefined, "org_acme", { "api-key": record.key });
    expect(answer.status).toBe(200);
    getStateRules(api, "api_keys").patch(record.id, { revoked: true });
    expect((await setCurrent(undefined, "org_acme", { "api-key": record.key })).status).toBe(401);
  });

  it.each([
    ["user_id", { user_id: "usr_none" }],
    ["current", { user_id: "usr_dan", current: "org_none" }],
    ["key", { user_id: "usr_dan", key: KEYS.ada }],
  ])("refuse a key whose %s does not fit [interfaces 4]", (field, fields) => {
    expect(() => getStateRules(api, "api_keys").post(fields)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ field }) }),
    );
  });

  it("delete all records of an organization, and let its users' keys act in others [interfaces 4]", async () => {
    getStateRules(api, "organizations").remove("org_acme");
    expect(getStateRules(api, "departments").size()).toBe(1);
    expect(getStateRules(api, "music_collections").size()).toBe(0);
    expect(getStateRules(api, "audit_logs").size()).toBe(12_000);
    expect(getStateRules(api, "users").get("usr_ada").memberships).toEqual({ org_initech: "member" });
    expect(getCurrent("apikey_ada")).toBe("org_initech");
    expect(getStateRules(api, "api_keys").get("apikey_dan")).toBeUndefined();
  });
});
