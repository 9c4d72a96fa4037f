import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Fixture } from "../../src/engine/fixtures/fixture.ts";
import { type Api, type ApiResponse, startReference } from "../support/harness.ts";

const DEFAULT = "/_control/sandboxes/default";
const REPARENT = "/v1/organizations/org_acme/departments/dept_ml/reparent";
const AUTHORIZATION = { authorization: "Bearer a-token-of-tests" };

let api: Api;
let atFirst: number;
beforeEach(async () => {
  const measured = await startReference();
  const { counts } = (await measured.call(undefined, "GET", DEFAULT)).body;
  atFirst = Object.values<number>(counts).reduce((sum, count) => sum + count, 0);
  await measured.close();
  api = await startReference({ shared: { token: "a-token-of-tests", limits: { records: atFirst + 2 } } });
});
afterEach(() => api.close());

const control = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, DEFAULT + path, body, AUTHORIZATION);
const reparent = (new_parent_id: string) => api.call("ada", "POST", REPARENT, { new_parent_id });
async function countRecords(): Promise<number> {
  const { counts } = (await control("GET", "")).body;
  return Object.values<number>(counts).reduce((sum, count) => sum + count, 0);
}
/** Counts how often a root is built from a fixture; that would take seconds for these. */
function countBuilds() {
  const root = vi.spyOn(Fixture.prototype, "buildRoot");
  return { builds: () => root.mock.calls.length, restore: () => root.mockRestore() };
}
/** Adds two audit entries, after which the limit is reached. */
async function fillToLimit(): Promise<void> {
  expect((await reparent("dept_ops")).status).toBe(200);
  expect((await reparent("dept_eng")).status).toBe(200);
  expect(await countRecords()).toBe(atFirst + 2);
}
function expectFull(answer: ApiResponse, wanted: number): void {
  expect(answer.status, answer.text).toBe(507);
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
  expect(answer.headers.get("x-sandbox-decision")).toBe("limit");
  expect(answer.body).toMatchObject({
    type: "urn:understudy:problem:limit-reached",
    status: 507,
    limit: "records",
    allowed: atFirst + 2,
    wanted,
    detail: expect.stringContaining(`${atFirst + 2} are allowed`),
  });
}

describe("the limit of records per sandbox", () => {
  it("undoes an emulated request that would exceed it as a whole, in the control API's words [interfaces 7]", async () => {
    await fillToLimit();
    expectFull(await reparent("dept_ops"), atFirst + 3);
    expect((await control("GET", "/state/departments/dept_ml")).body.parent_id).toBe("dept_eng");
    expect(await countRecords()).toBe(atFirst + 2);
    const { entries } = (await control("GET", "/journal?limit=1")).body;
    expect(entries[0]).toMatchObject({ status: 507, code: null, decision: "limit" });
  });

  it("also counts records of control calls, audit entries included [interfaces 7]", async () => {
    expect((await reparent("dept_ops")).status).toBe(200);
    const department = await control("POST", "/state/departments", { name: "One and its audit entry" });
    expect([department.status, department.body.limit, department.body.wanted]).toEqual([
      409,
      "records",
      atFirst + 3,
    ]);
    expect((await control("POST", "/state/departments?silent=true", { name: "One" })).status).toBe(201);
    expectFull(await reparent("dept_eng"), atFirst + 3);
    const patched = await control("PATCH", "/state/departments/dept_ml", { name: "Another audit entry" });
    expect([patched.status, patched.body.limit]).toEqual([409, "records"]);
    expect(await countRecords()).toBe(atFirst + 2);
  });

  it("allows reading, the API's own refusals and deleting, which makes room [interfaces 7]", async () => {
    await fillToLimit();
    expect((await api.call("dan", "GET", "/v1/models")).status).toBe(200);
    expect((await reparent("dept_ml")).body.error.code).toBe("DEPARTMENT_CYCLE_DETECTED");
    expect((await api.call("dan", "DELETE", "/v1/threads/thread_welcome")).status).toBe(200);
    expect((await reparent("dept_ops")).status).toBe(200);
    expect((await control("POST", "/reset")).status).toBe(200);
    expect(await countRecords()).toBe(atFirst);
  });

  it("counts access tokens, upload URLs, test deliveries and receivers too [interfaces 7]", async () => {
    const hook = { url: "https://example.test/hook", events: ["user.created"] };
    const { webhook_id } = (await api.call("ada", "POST", "/webhooks", hook)).body.data;
    expect((await control("POST", "/receivers", {})).status).toBe(201);
    const wanted = atFirst + 3;
    expectFull(await api.call("dan", "POST", "/v1/auth/token"), wanted);
    const upload = { filename: "a.txt", file_size: 1, mime_type: "text/plain" };
    expectFull(await api.call("dan", "POST", "/v1/organizations/org_acme/files/upload-url", upload), wanted);
    expectFull(await api.call("ada", "POST", `/webhooks/${webhook_id}/test`), wanted);
    const receiver = await control("POST", "/receivers", {});
    expect([receiver.status, receiver.body.limit]).toEqual([409, "records"]);
  });

  it("refuses changes that emit events while it is exceeded, and allows small ones that do not [interfaces 7]", async () => {
    const hook = { url: "https://192.0.2.1/", events: ["thread.updated"] };
    for (const who of ["ada", "ben"] as const)
      expect((await api.call(who, "POST", "/webhooks", hook)).status).toBe(201);
    // Deliveries of an event are created after the records are counted and cannot be refused.
    const triggered = await control("POST", "/events", { event: "thread.updated", for: "thread_welcome" });
    expect(triggered.status, triggered.text).toBe(200);
    expect(await countRecords()).toBe(atFirst + 4);
    const patch = (title: string, query = "") =>
      control("PATCH", `/state/threads/thread_welcome${query}`, { title });
    expect([(await patch("Hello")).status, (await patch("Hello", "?silent=true")).status]).toEqual([
      409, 200,
    ]);
    expect((await control("GET", "/state/threads/thread_welcome")).body.title).toBe("Hello");
  });

  it("refuses a reset to a fixture that is too large, and changes nothing [interfaces 7]", async () => {
    await reparent("dept_ops");
    const fixture = { extends: "reference", generate: { departments: 100 } };
    const answer = await control("POST", "/reset", { fixture });
    expect([answer.status, answer.body.limit]).toEqual([409, "records"]);
    expect((await control("GET", "")).body.fixture).toBe("reference");
    expect(await countRecords()).toBe(atFirst + 1);
  });

  it.each([
    ["a total", { generate: { departments: 2_000_000 } }, 2_000_000],
    [
      "totals by organization",
      { generate: { audit_log: { org_acme: 1_500_000, org_globex: 7 } } },
      1_500_007,
    ],
    ["a number in place of a list", { users: 100_000 }, 100_000],
    ["a number of its own within a record", { threads: [{ id: "thread_big", messages: 90_000 }] }, 90_001],
  ])("refuses a fixture by %s before a world is built of it [interfaces 7]", async (_name, asked, least) => {
    const { builds, restore } = countBuilds();
    const people = {
      organizations: [{ id: "org_acme" }, { id: "org_globex" }],
      users: [{ id: "usr_a", memberships: { org_acme: "owner" } }],
    };
    const fixture = { ...people, ...asked };
    for (const path of ["/_control/sandboxes", `${DEFAULT}/reset`]) {
      const answer = await api.call(undefined, "POST", path, { fixture }, AUTHORIZATION);
      expect([answer.status, answer.body.limit]).toEqual([409, "records"]);
      expect(answer.body.wanted - least).toBeGreaterThanOrEqual(2);
      expect(answer.body.wanted - least).toBeLessThanOrEqual(3);
    }
    expect(builds()).toBe(0);
    restore();
    expect((await control("GET", "")).body.fixture).toBe("reference");
  });

  it("does not apply to a local server [interfaces 7]", async () => {
    await api.close();
    api = await startReference();
    for (let i = 0; i < 4; i++) expect((await reparent(i % 2 ? "dept_eng" : "dept_ops")).status).toBe(200);
    expect(await countRecords()).toBe(atFirst + 4);
  });
});

it("the limit of sandboxes counts those that other calls open from files at once [interfaces 7]", async () => {
  const exported = await fetch(`${api.url}${DEFAULT}/export`, { method: "POST", headers: AUTHORIZATION });
  const file = Buffer.from(await exported.arrayBuffer()).toString("base64");
  await api.close();
  api = await startReference({ shared: { token: "a-token-of-tests", limits: { sandboxes: 2 } } });
  const open = (name: string) => api.call(undefined, "POST", "/_control/open", { file, name }, AUTHORIZATION);
  await Promise.all(["one", "two", "three"].map(open));
  const { body } = await api.call(undefined, "GET", "/_control/sandboxes", undefined, AUTHORIZATION);
  expect(body.total).toBe(2);
});

describe("the limit of rules per sandbox", () => {
  it("counts the rules of a new sandbox [interfaces 7]", async () => {
    await api.close();
    api = await startReference({ shared: { token: "a-token-of-tests", limits: { rules: 1 } } });
    const make = (scenarios: string[]) =>
      api.call(undefined, "POST", "/_control/sandboxes", { name: "more", scenarios }, AUTHORIZATION);
    const { items } = (await control("GET", "/scenarios")).body;
    const two: string[] = items
      .filter(({ rules }: { rules: unknown[] }) => rules.length === 1)
      .slice(0, 2)
      .map(({ name }: { name: string }) => name);
    const refused = await make(two);
    expect([refused.status, refused.body.limit, refused.body.wanted]).toEqual([409, "rules", 2]);
    expect((await make(two.slice(0, 1))).status).toBe(201);
  });

  it("counts a rule once whose lease is renewed, and names the id of one that cannot be [interfaces 7]", async () => {
    await api.close();
    api = await startReference({ shared: { token: "a-token-of-tests", limits: { rules: 2 } } });
    const add = (rule: object) => control("POST", "/faults", { ...rule, effect: { status: 503 } });
    const leased = { id: "leased", lease: { ttl: "1h" } };
    expect((await add(leased)).status).toBe(201);
    expect((await add({ id: "plain" })).status).toBe(201);
    expect((await add(leased)).status).toBe(201);
    expect((await add({ id: "plain" })).body.type).toContain("id-in-use");
    expect((await add({ id: "third" })).body).toMatchObject({ limit: "rules", wanted: 3 });
  });

  it("counts the rules of a sandbox that is opened from a file [interfaces 7]", async () => {
    for (const id of ["one", "two"]) await control("POST", "/faults", { id, effect: { status: 503 } });
    const exported = await fetch(`${api.url}${DEFAULT}/export`, { method: "POST", headers: AUTHORIZATION });
    const file = Buffer.from(await exported.arrayBuffer()).toString("base64");
    await api.close();
    api = await startReference({ shared: { token: "a-token-of-tests", limits: { rules: 1 } } });
    const opened = await api.call(undefined, "POST", "/_control/open", { file }, AUTHORIZATION);
    expect([opened.status, opened.body.limit, opened.body.wanted]).toEqual([409, "rules", 2]);
    const { body } = await api.call(undefined, "GET", "/_control/sandboxes", undefined, AUTHORIZATION);
    expect(body.total).toBe(1);
  });
});

describe("the limit of bytes of uploads", () => {
  it("counts a sent OpenAPI document in bytes, and is refused as such [interfaces 7]", async () => {
    const body = {
      openapi: { openapi: "3.1.0", info: { title: "ü".repeat(100), version: "1" }, paths: {} },
    };
    const text = JSON.stringify(body);
    const limits = { upload_bytes: text.length };
    const limited = await startReference({ shared: { token: "a-token-of-tests", limits } });
    const answer = await limited.call(undefined, "PUT", `${DEFAULT}/operations`, body, AUTHORIZATION);
    await limited.close();
    expect(answer.body).toMatchObject({
      ...{ status: 409, limit: "upload_bytes", allowed: text.length, wanted: text.length + 100 },
      detail: expect.stringMatching(/^This would make \d+ bytes of own operations; \d+ are allowed\./),
    });
  });
});
