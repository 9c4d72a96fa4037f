import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { arm, CONTROL, getDecision } from "../support/fault-calls.ts";
import { type Api, KEYS, startReference } from "../support/harness.ts";

const PATH = "/v1/admin/connector/auth-configs";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const send = (headers: Record<string, string>) => api.call(undefined, "GET", PATH, undefined, headers);

describe("a rule for a caller", () => {
  it.each([
    ["a suspended account by principal", KEYS.finn, { principal: "usr_finn" }],
    ["a disabled account by principal", KEYS.gus, { principal: "usr_gus" }],
    ["a suspended account by api_key", KEYS.finn, { api_key: "apikey_finn" }],
    ["a suspended account by organization", KEYS.finn, { organization: "org_acme" }],
    ["a revoked key by api_key", KEYS.revoked, { api_key: "apikey_revoked" }],
    ["a revoked key by principal", KEYS.revoked, { principal: "usr_ada" }],
    ["an expired key by api_key", KEYS.expired, { api_key: "apikey_expired" }],
    ["an expired key by organization", KEYS.expired, { organization: "org_acme" }],
  ])("matches %s [interfaces 6]", async (_who, key, match) => {
    await arm(api, { id: "seen", match, effect: { status: 503 } });
    const triggered = await send({ "api-key": key });
    expect([triggered.status, getDecision(triggered)]).toEqual([503, "fault:inline/seen"]);
  });

  it("matches the sender of an expired access token [interfaces 6]", async () => {
    const { body } = await api.call("dan", "POST", "/v1/auth/token");
    const bearer = { authorization: `Bearer ${body.access_token}` };
    await arm(api, { id: "seen", match: { principal: "usr_dan" }, times: 1, effect: { status: 503 } });
    await api.advance(body.expires_in * 1000);
    expect(getDecision(await send(bearer))).toBe("fault:inline/seen");
    const after = await send(bearer);
    expect([after.status, getDecision(after)]).toEqual([401, "auth"]);
  });

  it("that does not match leaves a 401 for the unknown key [interfaces 6]", async () => {
    await arm(api, { match: { principal: "usr_finn" }, effect: { delay: "1ms" } });
    const refused = await send({ "api-key": KEYS.finn });
    const unknown = await send({ "api-key": "ak_unknown" });
    expect([refused.status, getDecision(refused)]).toEqual([401, "auth"]);
    expect(Object.keys(Object.fromEntries(refused.headers)).sort()).toEqual(
      Object.keys(Object.fromEntries(unknown.headers)).sort(),
    );
    const journal = (await api.call(undefined, "GET", `${CONTROL}/journal?limit=1`)).body;
    expect(journal.entries[0].principal).toBeNull();
  });

  it("never matches an unknown or missing key [interfaces 6]", async () => {
    await arm(api, { match: { organization: "org_acme" }, effect: { status: 503 } });
    for (const headers of [undefined, { "api-key": "ak_unknown" }])
      expect((await send(headers ?? {})).status).toBe(401);
  });

  it("does not give a suspended account a token, in the header or in the body [G01]", async () => {
    const header = await api.call("finn", "POST", "/v1/auth/token");
    const body = await api.call(undefined, "POST", "/v1/auth/token", { api_key: KEYS.finn });
    expect([header.status, body.status]).toEqual([401, 401]);
  });
});
