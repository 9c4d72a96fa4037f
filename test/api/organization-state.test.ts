import { afterEach, beforeEach, expect, it } from "vitest";
import { exportRows } from "../support/audit-rows.ts";
import { type Api, EPOCH, startReference } from "../support/harness.ts";

let api: Api;
beforeEach(async () => {
  api = await startReference();
});
afterEach(() => api.close());

const callState = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, `/_control/sandboxes/default/state/${path}`, body);

it("a new organization without members accepts records of every kind [interfaces 4]", async () => {
  const organization_id = (await callState("POST", "organizations", {})).body.id;
  const kinds = { files: "created_by", meeting_sessions: "owner_id", transcriptions: "owner_id" };
  for (const [name, owner] of Object.entries({
    ...kinds,
    threads: "owner_id",
    music_collections: "owner_id",
  })) {
    const made = await callState("POST", name, { organization_id });
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject({ organization_id, [owner]: "usr_ada" });
  }
});

it.each([
  ["organizations", {}, { type: "company", plan: "standard", rate_limit: null }],
  ["users", {}, { account: "active", verified: false, created_at: EPOCH }],
  ["api_keys", {}, { revoked: false, expires_at: null }],
  ["departments", {}, { organization_id: "org_acme", parent_id: null, depth: 0, created_by: "usr_ada" }],
  ["music_collections", {}, { organization_id: "org_acme", owner_id: "usr_ada", created_at: EPOCH }],
  ["tracks", { collection_id: "mcoll_ada" }, { position: 3, added_at: EPOCH }],
  ["auth_configs", {}, { organization_id: "org_acme", created_at: EPOCH }],
  ["audit_logs", {}, { organization_id: "org_acme", actor_id: "usr_ada", timestamp: EPOCH }],
])("a POST fills in the missing fields of a record of %s [interfaces 4]", async (name, given, expected) => {
  const created = await callState("POST", name, given);
  expect(created.status, created.text).toBe(201);
  expect(created.body).toMatchObject(expected);
  const id = created.body.id ?? created.body.track_id;
  const found = await callState("GET", `${name}/${id}`);
  expect(found.body).toEqual(created.body);
  expect((await callState("DELETE", `${name}/${id}`)).status).toBe(204);
  expect((await callState("GET", `${name}/${id}`)).status).toBe(404);
});

it.each([
  ["organizations", 4],
  ["users", 9],
  ["api_keys", 12],
  ["departments", 8],
  ["music_collections", 3],
  ["tracks", 453],
  ["auth_configs", 3],
  ["audit_logs", 12_400],
])("the reference world has in %s %i records", async (name, total) => {
  expect((await callState("GET", `${name}?limit=1`)).body.total).toBe(total);
});

it("a cycle by PATCH is 422 and names parent_id [3.5, interfaces 4]", async () => {
  const answer = await callState("PATCH", "departments/dept_eng", { parent_id: "dept_infra" });
  expect(answer.status).toBe(422);
  expect(answer.headers.get("content-type")).toContain("application/problem+json");
  expect(answer.text).toContain("parent_id");
});

it("?actor= sets the audited actor, and ?silent=true writes nothing [G31, interfaces 4]", async () => {
  await callState("PATCH", "departments/dept_ml?actor=usr_ben", { name: "AI" });
  await callState("PATCH", "departments/dept_ml?silent=true", { name: "Robots" });
  const rows = await exportRows(api, "?department_id=dept_ml&from_date=2026-03-15T12:00:00Z");
  expect(
    rows.map((row) => [row["Action"], row["Actor Name"], row["Previous Value"], row["New Value"]]),
  ).toEqual([["updated", "Ben Castro", '{"name":"ML"}', '{"name":"AI"}']]);
});

it("a given key is stored and works, and a key in use is refused without being shown [2.15]", async () => {
  const key = `ak_${"k".repeat(39)}`;
  const created = await callState("POST", "api_keys", { id: "apikey_new", user_id: "usr_dan", key });
  expect([created.status, created.body.id, created.body.key]).toEqual([201, "apikey_new", key]);
  const path = "/v1/music/org_acme/collections/mcoll_empty/tracks";
  expect((await api.call(undefined, "GET", path, undefined, { "api-key": key })).status).toBe(200);
  const again = await callState("POST", "api_keys", { user_id: "usr_ada", key });
  expect(again.status).toBe(422);
  expect(again.text).not.toContain(key);
});

it("a missing credential is refused in the envelope of each operation [7.1, 7.2, 7.3]", async () => {
  const inA = await api.call(undefined, "GET", "/v1/admin/connector/auth-configs");
  const inB = await api.call(undefined, "DELETE", "/v1/threads/thread_welcome");
  const inC = await api.call(undefined, "POST", "/v1/auth/token");
  expect([inA.status, inB.status, inC.status]).toEqual([401, 401, 401]);
  expect(inA.body.error).toMatchObject({ code: "AUTHENTICATION_REQUIRED", type: "authentication_error" });
  expect(inB.body).toEqual({
    error: { message: expect.any(String), type: "authentication_error", code: "missing_authentication" },
  });
  expect(inC.body).toEqual({
    detail: expect.any(String),
    status_code: 401,
    error_type: "AuthenticationError",
  });
});
