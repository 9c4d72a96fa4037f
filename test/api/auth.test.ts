import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { decodeJwt, decodeProtectedHeader, SignJWT } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Api, EPOCH, KEYS, startReference } from "../support/harness.ts";

const REPARENT = "/v1/organizations/org_acme/departments/dept_ml/reparent";
const EPOCH_SECONDS = Date.parse(EPOCH) / 1000;

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const getWorld = () => api.understudy.sandboxes.get("default")!.world;
const toBearer = (token: string) => ({ authorization: `Bearer ${token}` });
const reparent = (token: string) =>
  api.call(undefined, "POST", REPARENT, { new_parent_id: "dept_ops" }, toBearer(token));

async function fetchTokens(key: string = KEYS.ada) {
  const { status, body } = await api.call(undefined, "POST", "/v1/auth/token", { api_key: key });
  expect(status).toBe(200);
  return body as { access_token: string; token_type: string; expires_in: number; refresh_token: string };
}

const refresh = (refresh_token: unknown) =>
  api.call(undefined, "POST", "/v1/auth/refresh", { refresh_token });

const UNAUTHORIZED_C = {
  detail: expect.any(String),
  status_code: 401,
  error_type: "AuthenticationError",
};

describe("auth.create_token", () => {
  it("exchanges an API key in the body for a bearer token with the documented claims [G01]", async () => {
    const grant = await fetchTokens();
    expect(grant).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type: "Bearer",
      expires_in: 3600,
      refresh_token: expect.any(String),
    });
    expect(decodeProtectedHeader(grant.access_token)).toMatchObject({ alg: "HS256", typ: "JWT" });
    expect(decodeJwt(grant.access_token)).toEqual({
      sub: "usr_ada",
      org: "org_acme",
      key: "apikey_ada",
      iat: EPOCH_SECONDS,
      exp: EPOCH_SECONDS + 3600,
    });
    expect((await reparent(grant.access_token)).status).toBe(200);
  });

  it.each([
    ["api-key", KEYS.dan],
    ["x-api-key", KEYS.dan],
    ["authorization", `Bearer ${KEYS.dan}`],
  ])("takes the key from the header %s, without a body [G01]", async (name, value) => {
    const { status, body } = await api.call(undefined, "POST", "/v1/auth/token", undefined, {
      [name]: value,
    });
    expect(status).toBe(200);
    expect(decodeJwt(body.access_token).sub).toBe("usr_dan");
  });

  it("prefers the key in the body to a header, so a stale token may be sent too [G01]", async () => {
    const sent = { api_key: KEYS.dan };
    const { body } = await api.call(undefined, "POST", "/v1/auth/token", sent, toBearer("stale"));
    expect(decodeJwt(body.access_token).sub).toBe("usr_dan");
    expect((await api.call("ada", "POST", "/v1/auth/token", { api_key: "ak_wrong" })).status).toBe(401);
  });

  it("does not exchange an access token for another one [G01]", async () => {
    const { access_token } = await fetchTokens();
    const answer = await api.call(undefined, "POST", "/v1/auth/token", {}, toBearer(access_token));
    expect(answer.status).toBe(401);
  });

  it.each([
    ["missing", {}],
    ["unknown", { api_key: "ak_nobodyKnowsThisKey000000000000000000000000" }],
    ["revoked", { api_key: KEYS.revoked }],
    ["expired", { api_key: KEYS.expired }],
    ["of a suspended user", { api_key: KEYS.finn }],
    ["of a disabled user", { api_key: KEYS.gus }],
  ])("answers 401 in envelope C to a key that is %s [G01, G06]", async (_why, body) => {
    const answer = await api.call(undefined, "POST", "/v1/auth/token", body);
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual(UNAUTHORIZED_C);
    expect(answer.headers.get("x-sandbox-decision")).toBe("auth");
    expect(answer.headers.get("x-ratelimit-limit")).toBeNull();
  });

  it.each([[42], [null], [["ak"]], [{}]])(
    "answers 422 in envelope C to api_key %j [G01, G06]",
    async (api_key) => {
      const answer = await api.call(undefined, "POST", "/v1/auth/token", { api_key });
      expect(answer.status).toBe(422);
      expect(answer.body).toEqual({
        detail: expect.stringContaining("api_key"),
        status_code: 422,
        error_type: "ValidationError",
      });
    },
  );

  it("answers in envelope A to a body that is not JSON [G06, G09]", async () => {
    const headers = { "content-type": "application/json" };
    const answer = await api.call(undefined, "POST", "/v1/auth/token", "{", headers);
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe("INVALID_JSON");
  });

  it("counts toward the key's window and answers 429 in envelope C [G06, G07]", async () => {
    const globex = { api_key: KEYS.eve };
    const first = await api.call(undefined, "POST", "/v1/auth/token", globex);
    expect(first.headers.get("x-ratelimit-remaining")).toBe("99");
    const { access_token } = first.body;
    for (let sent = 0; sent < 99; sent++) {
      await api.call(undefined, "GET", "/v1/admin/connector/auth-configs", undefined, toBearer(access_token));
    }
    const answer = await api.call(undefined, "POST", "/v1/auth/token", globex);
    expect(answer.status).toBe(429);
    expect(answer.body).toEqual({
      detail: expect.any(String),
      status_code: 429,
      error_type: "RateLimitError",
    });
    expect(answer.headers.get("retry-after")).toBe("60");
  });

  it("gives the lifetime of the setting [G01]", async () => {
    await api.close();
    api = await startReference({ settings: { token_lifetime_seconds: 5 } });
    const { access_token, expires_in } = await fetchTokens();
    expect(expires_in).toBe(5);
    await api.advance(4_999);
    expect((await reparent(access_token)).status).toBe(200);
    await api.advance(1);
    expect((await reparent(access_token)).status).toBe(401);
  });
});

describe("access tokens", () => {
  it("expire by the sandbox's clock, also if they were verified before [G01]", async () => {
    const { access_token } = await fetchTokens();
    await api.advance(3_599_000);
    expect((await reparent(access_token)).status).toBe(200);
    await api.advance(1_000);
    const answer = await reparent(access_token);
    expect(answer.status).toBe(401);
    expect(answer.body.error.code).toBe("AUTHENTICATION_REQUIRED");
  });

  it("are refused if unsigned, signed elsewhere, altered or of another algorithm [G01]", async () => {
    const { access_token } = await fetchTokens();
    const [header, payload, signature] = access_token.split(".") as [string, string, string];
    const claims = decodeJwt(access_token);
    const encodePart = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const rsa = `${encodePart({ alg: "RS256", typ: "JWT" })}.${payload}`;
    const foreign = await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from("guess"));
    const secret = getWorld().root.tables.get("_signing_keys")!.get("apikey_ada").secret as string;
    const hs512 = `${encodePart({ alg: "HS512", typ: "JWT" })}.${payload}`;
    const forgeries = {
      none: `${encodePart({ alg: "none" })}.${payload}.`,
      noneWithSignature: `${encodePart({ alg: "none" })}.${payload}.${signature}`,
      foreign,
      rsa: `${rsa}.${sign("sha256", Buffer.from(rsa), privateKey).toString("base64url")}`,
      // The right secret with another algorithm: the service accepts only HS256.
      hs512: `${hs512}.${createHmac("sha512", secret).update(hs512).digest("base64url")}`,
      altered: `${header}.${encodePart({ ...claims, key: "apikey_ben", sub: "usr_ben" })}.${signature}`,
      cut: access_token.slice(0, -2),
      noClaims: `${header}.${encodePart({})}.${createHmac("sha256", secret)
        .update(`${header}.${encodePart({})}`)
        .digest("base64url")}`,
      long: `${header}.${"a".repeat(10_000)}.${signature}`,
    };
    for (const [name, token] of Object.entries(forgeries)) {
      const answer = await reparent(token);
      expect([name, answer.status]).toEqual([name, 401]);
    }
    expect((await reparent(access_token)).status).toBe(200);
  });

  it.each([
    ["revoked", { revoked: true }],
    ["expired", { expires_at: 0 }],
  ])("are refused if their key is %s later [G01]", async (_why, change) => {
    const { access_token } = await fetchTokens();
    expect((await reparent(access_token)).status).toBe(200);
    const { apiKeys } = await import("../../src/engine/resources/api-keys/schema.ts");
    getWorld().transact((tx) => tx.update(apiKeys, "apikey_ada", change));
    expect((await reparent(access_token)).status).toBe(401);
  });

  it("are refused if their user is suspended later, refresh tokens too [G01]", async () => {
    const { access_token, refresh_token } = await fetchTokens();
    const { users } = await import("../../src/engine/resources/users/schema.ts");
    getWorld().transact((tx) => tx.update(users, "usr_ada", { account: "suspended" }));
    expect((await reparent(access_token)).status).toBe(401);
    expect((await refresh(refresh_token)).status).toBe(401);
  });

  it("are refused after their key has changed hands, refresh tokens too [G01]", async () => {
    const { access_token, refresh_token } = await fetchTokens();
    const { apiKeys } = await import("../../src/engine/resources/api-keys/schema.ts");
    getWorld().transact((tx) => tx.update(apiKeys, "apikey_ada", { user_id: "usr_ben" }));
    expect((await reparent(access_token)).status).toBe(401);
    expect((await refresh(refresh_token)).status).toBe(401);
    getWorld().transact((tx) => tx.update(apiKeys, "apikey_ada", { user_id: "usr_ada" }));
    expect((await reparent(access_token)).status).toBe(200);
  });

  it("are refused after a reset, access and refresh tokens, also when there is a new key [G01]", async () => {
    const old = await fetchTokens();
    api.understudy.sandboxes.get("default")!.reset();
    expect((await reparent(old.access_token)).status).toBe(401);
    const fresh = await fetchTokens();
    expect((await reparent(old.access_token)).status).toBe(401);
    expect((await refresh(old.refresh_token)).status).toBe(401);
    expect((await reparent(fresh.access_token)).status).toBe(200);
  });

  it("are refused in another sandbox, but accepted in a fork made after them [G01]", async () => {
    const { access_token } = await fetchTokens();
    const { sandboxes } = api.understudy;
    sandboxes.create({ name: "other" });
    sandboxes.fork(sandboxes.get("default")!, "copy");
    const reparentIn = (sandbox: string) =>
      api.call(
        undefined,
        "POST",
        REPARENT,
        { new_parent_id: null },
        {
          ...toBearer(access_token),
          "x-sandbox": sandbox,
        },
      );
    await api.call(undefined, "POST", "/v1/auth/token", { api_key: KEYS.ada }, { "x-sandbox": "other" });
    expect((await reparentIn("other")).status).toBe(401);
    expect((await reparentIn("copy")).status).toBe(200);
  });
});

describe("auth.refresh_token", () => {
  it("gives a new pair, uses up the old refresh token, and leaves the old access token valid [G01]", async () => {
    const old = await fetchTokens();
    await api.advance(60_000);
    const answer = await refresh(old.refresh_token);
    expect(answer.status).toBe(200);
    expect(answer.body.refresh_token).not.toBe(old.refresh_token);
    expect(decodeJwt(answer.body.access_token).exp).toBe(EPOCH_SECONDS + 60 + 3600);
    expect((await reparent(old.access_token)).status).toBe(200);
    expect((await reparent(answer.body.access_token)).status).toBe(200);
    const again = await refresh(old.refresh_token);
    expect(again.status).toBe(401);
    expect(again.body).toEqual(UNAUTHORIZED_C);
    expect((await refresh(answer.body.refresh_token)).status).toBe(200);
  });

  it("gives different tokens within one second, although their claims are the same [G01]", async () => {
    const first = await fetchTokens();
    const { body: second } = await refresh(first.refresh_token);
    expect(second.access_token).not.toBe(first.access_token);
    expect(decodeJwt(second.access_token)).toEqual(decodeJwt(first.access_token));
    expect((await reparent(second.access_token)).status).toBe(200);
  });

  it("succeeds exactly once for twenty uses at the same time [G01]", async () => {
    const { refresh_token } = await fetchTokens();
    const answers = await Promise.all(Array.from({ length: 20 }, () => refresh(refresh_token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(401)]);
  });

  it("accepts a refresh token for 30 days, then removes it [G01]", async () => {
    const { refresh_token } = await fetchTokens();
    const other = await fetchTokens();
    await api.advance(30 * 86_400_000 - 1);
    expect((await refresh(refresh_token)).status).toBe(200);
    expect(getWorld().root.tables.get("_refresh_tokens")!.size).toBe(2);
    await api.advance(1);
    expect((await refresh(other.refresh_token)).status).toBe(401);
    expect(getWorld().root.tables.get("_refresh_tokens")!.size).toBe(1);
  });

  it.each([
    ["missing", {}, 401],
    ["unknown", { refresh_token: "rt_unknown" }, 401],
    ["an access token", { refresh_token: "a.b.c" }, 401],
    ["a number", { refresh_token: 1 }, 422],
    ["null", { refresh_token: null }, 422],
  ])("refuses a refresh token that is %s [G01]", async (_what, body, status) => {
    expect((await api.call("ada", "POST", "/v1/auth/refresh", body)).status).toBe(status);
  });
});
