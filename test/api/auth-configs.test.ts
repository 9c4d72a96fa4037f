import { afterEach, beforeEach, expect, it } from "vitest";
import { type Api, type Caller, startReference } from "../support/harness.ts";
import { getStateRules } from "../support/state-rules.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const list = (who: Caller | undefined) => api.call(who, "GET", "/v1/admin/connector/auth-configs");

it.each(["ada", "ben"] as const)(
  "lists the organization's three configs for %s [4.10, 2.11]",
  async (who) => {
    const { status, body, headers } = await list(who);
    expect(status).toBe(200);
    expect(body.total).toBe(3);
    expect(body.auth_configs).toHaveLength(3);
    for (const entry of body.auth_configs) {
      expect(entry).toEqual({
        id: expect.any(String),
        toolkit: expect.any(String),
        type: expect.any(String),
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      });
    }
    const times = body.auth_configs.map(({ created_at }: { created_at: string }) => created_at);
    expect(times).toEqual([...times].sort().reverse());
    expect(headers.get("service-organization")).toBe("org_acme");
  },
);

it("a member and a request without credentials are refused [4.10]", async () => {
  const member = await list("dan");
  expect([member.status, member.body.error.code]).toEqual([403, "INSUFFICIENT_PERMISSIONS"]);
  expect((await list(undefined)).status).toBe(401);
});

it("the listed configs are those of the organization in which the key acts [4.10, 4.5]", async () => {
  expect((await list("eve")).body).toEqual({ auth_configs: [], total: 0 });
  await api.call("ada", "PUT", "/v1/user/current-organization", { organization_id: "org_initech" });
  // Ada owns Acme, but is only a member of Initech.
  expect((await list("ada")).status).toBe(403);
});

it("a config that a state call adds is listed first [interfaces 4]", async () => {
  const { record } = getStateRules(api, "auth_configs").post({
    toolkit: "telescope",
    organization_id: "org_acme",
  });
  const { body } = await list("ada");
  expect(body.total).toBe(4);
  expect(body.auth_configs[0]).toMatchObject({ id: record.id, toolkit: "telescope" });
});
