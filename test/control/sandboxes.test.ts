import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, EPOCH, KEYS, startReference } from "../support/harness.ts";

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

const control = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, `/_control${path}`, body, { "content-type": "application/json" });
const callSandboxes = (method: string, path: string, body?: unknown) =>
  control(method, `/sandboxes${path}`, body);
let made = 0;
async function createSandbox(body: object = {}): Promise<string> {
  const name = `test-${++made}`;
  expect((await callSandboxes("POST", "", { name, ...body })).status).toBe(201);
  return name;
}
const reparent = (prefix: string, to: string | null, headers = {}) =>
  api.call(
    "ada",
    "POST",
    `${prefix}/v1/organizations/org_acme/departments/dept_ops/reparent`,
    { new_parent_id: to },
    headers,
  );
const getParent = async (name: string) =>
  (await callSandboxes("GET", `/${name}/state/departments/dept_ops`)).body.parent_id;

describe("a body with very many values", () => {
  it("is refused by their number before it is checked, unless it is a snapshot [interfaces 4]", async () => {
    const makeLongList = (name: string) => `{"${name}":[${"0,".repeat(250_000)}0]}`;
    for (const [path, field] of [
      ["/default/receivers", "answers"],
      ["/default/reset", "fixture"],
      ["/default/faults", "match"],
    ] as const) {
      const { status, body } = await callSandboxes("POST", path, makeLongList(field));
      expect([status, body.type.split(":").at(-1)]).toEqual([422, "invalid-json"]);
      expect(body.detail).toBe("The document has more than 250000 keys and list entries.");
    }
    const snapshot = await callSandboxes("PUT", "/default/snapshots/large", makeLongList("world"));
    expect([snapshot.status, snapshot.body.field]).toEqual([422, "format"]);
  });
});

describe("the address of a sandbox", () => {
  it("stays in a handed-out URL, which leads to it without the header [interfaces 3]", async () => {
    const name = await createSandbox();
    const announced = { filename: "a.txt", file_size: 5, mime_type: "text/plain" };
    const path = "/v1/organizations/org_acme/files/upload-url";
    const { body } = await api.call("dan", "POST", path, announced, { "X-Sandbox": name });
    expect(new URL(body.upload_url).pathname).toMatch(new RegExp(`^/_s/${name}/upload/`));
    expect((await fetch(body.upload_url, { method: "PUT", body: "hello" })).status).toBe(200);
  });

  it("prefers the path prefix to the header, and the header to default [interfaces 3]", async () => {
    const [a, b] = [await createSandbox(), await createSandbox()];
    expect((await reparent(`/_s/${a}`, "dept_ml", { "X-Sandbox": b })).status).toBe(200);
    expect((await reparent("", "dept_infra", { "X-Sandbox": b })).status).toBe(200);
    expect((await reparent("", null)).status).toBe(200);
    expect([await getParent(a), await getParent(b), await getParent("default")]).toEqual([
      "dept_ml",
      "dept_infra",
      null,
    ]);
  });

  it("is refused for an unknown sandbox in a way that no emulated answer has [interfaces 3]", async () => {
    for (const [path, headers] of [
      ["/_s/nobody/v1/models", {}],
      ["/v1/models", { "X-Sandbox": "nobody" }],
    ] as const) {
      const answer = await api.call("ada", "GET", path, undefined, headers);
      expect(answer.status).toBe(404);
      expect(answer.headers.get("x-sandbox-decision")).toBe("unknown-sandbox");
      expect(answer.body.error).toBe("unknown sandbox");
    }
    const answer = await callSandboxes("GET", "/defaul");
    expect(answer.status).toBe(404);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(answer.body).toMatchObject({
      status: 404,
      hint: "default",
      detail: expect.stringContaining("Did you mean"),
    });
  });
});

describe("sandboxes", () => {
  it("are counted in health, with version and uptime [interfaces 4]", async () => {
    const { status, body } = await control("GET", "/health");
    expect(status).toBe(200);
    expect(body).toEqual({
      status: "ok",
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      uptime_seconds: expect.any(Number),
      sandboxes: expect.any(Number),
    });
  });

  it("are shown in full when created, and have a base URL for any client [interfaces 4]", async () => {
    const answer = await callSandboxes("POST", "", {
      name: "whole",
      seed: 7,
      clock: { mode: "frozen", now: "2026-05-01T08:00:00+02:00" },
      settings: { preview: true, v2_models: false, processing_seconds: 5 },
    });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      name: "whole",
      base_url: `${api.url}/_s/whole`,
      fixture: expect.any(String),
      seed: 7,
      clock: { mode: "frozen", now: "2026-05-01T06:00:00.000Z", rate: 0 },
      scenarios: [],
      settings: {
        preview: "on",
        v2_models: "off",
        processing_seconds: 5,
        token_lifetime_seconds: 3600,
        journal_limit: 1000,
      },
      counts: { organizations: 4, users: 9, api_keys: 12, departments: 8 },
    });
    expect(Date.parse(answer.body.created_at)).toBeGreaterThan(Date.parse("2020-01-01"));
    expect((await callSandboxes("GET", "/whole")).body).toEqual(answer.body);
    const v2 = await fetch(`${answer.body.base_url}/v2/models`, { headers: { "api-key": KEYS.ada } });
    expect(v2.status, "v2_models is off").toBe(404);
  });

  it("get a name if none is given, and are listed in order [interfaces 4]", async () => {
    const { body } = await callSandboxes("POST", "");
    expect(body.name).toMatch(/^[a-z0-9][a-z0-9-]{0,62}$/);
    const list = await callSandboxes("GET", "");
    expect(list.body.total).toBe(list.body.items.length);
    expect(list.body.items[0].name).toBe("default");
    expect(list.body.items.at(-1).name).toBe(body.name);
  });

  it("are refused with 409 for a name in use [interfaces 4]", async () => {
    const name = await createSandbox();
    for (const path of ["", `/${name}/fork`]) {
      const answer = await callSandboxes("POST", path, { name });
      expect(answer.status).toBe(409);
      expect(answer.headers.get("content-type")).toBe("application/problem+json");
    }
  });

  it.each([
    ["name", { name: "Upper" }],
    ["name", { name: "-x" }],
    ["name", { name: "a".repeat(64) }],
    ["name", { name: "" }],
    ["name", { name: 7 }],
    ["nmae", { nmae: "x" }],
    ["seed", { seed: -1 }],
    ["seed", { seed: "7" }],
    ["clock.mode", { clock: { mode: "frozn" } }],
    ["clock.mode", { clock: {} }],
    ["clock.now", { clock: { mode: "frozen", now: "yesterday" } }],
    ["clock.now", { clock: { mode: "frozen", now: "2026-02-30T00:00:00Z" } }],
    ["clock.now", { clock: { mode: "real", now: "2026-03-15T12:00:00Z" } }],
    ["clock.rate", { clock: { mode: "scaled", rate: 0 } }],
    ["clock.rate", { clock: { mode: "scaled", rate: -2 } }],
    ["clock.rate", { clock: { mode: "frozen", rate: 2 } }],
    ["settings.preview", { settings: { preview: "maybe" } }],
    ["settings.previw", { settings: { previw: "on" } }],
    ["settings.json_limit_mb", { settings: { json_limit_mb: 0 } }],
    ["settings.retry_schedule[1]", { settings: { retry_schedule: ["1m", "soon"] } }],
    ["settings.cors_origins[0]", { settings: { cors_origins: ["app.example.test"] } }],
    ["settings.cors_origins[0]", { settings: { cors_origins: ["https://*.example.test"] } }],
    ["settings.cors_origins[0]", { settings: { cors_origins: ["https://App.example.test"] } }],
    ["settings.cors_origins[0]", { settings: { cors_origins: ["https://app.example.test:443"] } }],
    ["settings.journal_limit", { settings: { journal_limit: 0 } }],
    ["settings", { settings: [] }],
    ["scenarios", { scenarios: "flaky" }],
    ["fixture", { fixture: 4 }],
    ["fixture", { fixture: "referense" }],
    ["body", []],
    ["body", "text"],
  ])("are refused for a wrong %s with 422 and not created: %j [interfaces 4]", async (field, body) => {
    const before = (await control("GET", "/health")).body.sandboxes;
    const answer = await api.call(undefined, "POST", "/_control/sandboxes", JSON.stringify(body), {
      "content-type": "application/json",
    });
    expect(answer.status).toBe(422);
    expect(answer.headers.get("content-type")).toBe("application/problem+json");
    expect(answer.body).toMatchObject({
      type: expect.any(String),
      title: expect.any(String),
      status: 422,
      field,
    });
    expect((await control("GET", "/health")).body.sandboxes).toBe(before);
  });

  it.each(["{", "nonsense", '{"a":1}}', "\u0000"])(
    "are refused for unreadable JSON with 422: %j [interfaces 4]",
    async (text) => {
      const answer = await api.call(undefined, "POST", "/_control/sandboxes", text, {
        "content-type": "application/json",
      });
      expect([answer.status, answer.headers.get("content-type")]).toEqual([422, "application/problem+json"]);
    },
  );

  it("are refused with the nearest known word [interfaces 4]", async () => {
    const wrong = await callSandboxes("POST", "", { settings: { proccessing_seconds: 3 } });
    expect(wrong.body).toMatchObject({ field: "settings.proccessing_seconds", hint: "processing_seconds" });
    expect(wrong.body.detail).toContain('Did you mean "processing_seconds"?');
  });

  it("take an inline fixture, which resets and forks use again [interfaces 4]", async () => {
    const fixture = {
      organizations: [{ id: "org_solo", name: "Solo" }],
      users: [{ id: "usr_solo", memberships: { org_solo: "owner" } }],
    };
    const name = await createSandbox({ fixture });
    const fork = await callSandboxes("POST", `/${name}/fork`, { name: `${name}-fork` });
    expect(fork.status).toBe(201);
    for (const sandbox of [name, `${name}-fork`]) {
      await callSandboxes("POST", `/${sandbox}/state/users`, {});
      const reset = await callSandboxes("POST", `/${sandbox}/reset`);
      expect([reset.status, reset.body.counts.users, reset.body.counts.organizations]).toEqual([200, 1, 1]);
    }
  });

  it("change their settings by PATCH, and none if one is wrong [interfaces 4]", async () => {
    const name = await createSandbox();
    const changed = await callSandboxes("PATCH", `/${name}`, {
      settings: { rate_headers: "plain", preview: false },
    });
    expect([changed.status, changed.body.settings.rate_headers, changed.body.settings.preview]).toEqual([
      200,
      "plain",
      "off",
    ]);
    const refused = await callSandboxes("PATCH", `/${name}`, {
      settings: { rate_headers: "both", csv_formulas: "run" },
    });
    expect([refused.status, refused.body.field]).toEqual([422, "settings.csv_formulas"]);
    expect((await callSandboxes("GET", `/${name}`)).body.settings.rate_headers).toBe("plain");
    expect((await callSandboxes("PATCH", `/${name}`, {})).body.field).toBe("settings");
  });

  it("end by DELETE, except default, which is reset [interfaces 4]", async () => {
    const name = await createSandbox();
    expect((await callSandboxes("DELETE", `/${name}`)).status).toBe(204);
    expect((await callSandboxes("GET", `/${name}`)).status).toBe(404);
    expect((await api.call("ada", "GET", `/_s/${name}/v1/models`)).headers.get("x-sandbox-decision")).toBe(
      "unknown-sandbox",
    );
    await reparent("", "dept_ml");
    expect((await callSandboxes("DELETE", "/default")).status).toBe(204);
    expect(await getParent("default")).toBe("dept_acme");
  });

  it("answer 405 with the methods of a known path [interfaces 4]", async () => {
    const answer = await callSandboxes("PUT", "/default");
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, PATCH, DELETE"]);
    expect((await control("GET", "/sandboxs")).status).toBe(404);
    expect((await api.call(undefined, "GET", "/_elsewhere")).body.detail).toContain("/_control");
  });

  it("refuse unknown query keys [interfaces 4]", async () => {
    expect((await callSandboxes("GET", "/default?verbose=1")).body).toMatchObject({
      status: 422,
      field: "verbose",
    });
  });
});

describe("reset", () => {
  it("restores data, ids, tokens, windows, journal and a frozen clock, and keeps settings and snapshots [interfaces 4]", async () => {
    const name = await createSandbox();
    const prefix = `/_s/${name}`;
    const draw = async () => (await callSandboxes("POST", `/${name}/state/threads`, {})).body;
    const first = await draw();
    const token = (await api.call("ada", "POST", `${prefix}/v1/auth/token`)).body.access_token;
    const bearer = { authorization: `Bearer ${token}` };
    await callSandboxes("PATCH", `/${name}`, { settings: { preview: "on" } });
    await callSandboxes("POST", `/${name}/snapshots`, { name: "kept" });
    await callSandboxes("POST", `/${name}/clock/advance`, { by: "2d" });
    expect((await reparent(prefix, "dept_ml")).headers.get("x-ratelimit-remaining")).toBe("999");
    const last = (await api.call(undefined, "GET", `${prefix}/v1/models`, undefined, bearer)).status;
    expect(last, "the token expired with the advance").toBe(401);

    const reset = await callSandboxes("POST", `/${name}/reset`);
    expect(reset.status).toBe(200);
    expect(reset.body.clock.now).toBe(EPOCH);
    expect(reset.body.settings.preview).toBe("on");
    expect(
      (await callSandboxes("GET", `/${name}/snapshots`)).body.items.map(
        (item: { name: string }) => item.name,
      ),
    ).toEqual(["kept"]);
    expect((await callSandboxes("GET", `/${name}/journal`)).body).toMatchObject({
      entries: [],
      total: 0,
      dropped: 0,
    });
    expect(await getParent(name)).toBe("dept_acme");
    expect(await draw()).toEqual(first);
    expect((await api.call(undefined, "GET", `${prefix}/v1/models`, undefined, bearer)).status).toBe(401);
    const again = await reparent(prefix, "dept_ml");
    expect(again.headers.get("x-ratelimit-remaining")).toBe("999");
  });

  it("applies another seed or fixture, and changes nothing for a wrong one [interfaces 4]", async () => {
    const name = await createSandbox();
    const createThread = async () => (await callSandboxes("POST", `/${name}/state/threads`, {})).body.id;
    const before = await createThread();
    await callSandboxes("POST", `/${name}/reset`, { seed: 99 });
    expect(await createThread()).not.toBe(before);
    const refused = await callSandboxes("POST", `/${name}/reset`, { fixture: { organizatons: [] } });
    expect([refused.status, refused.body.hint]).toEqual([422, "organizations"]);
    expect((await callSandboxes("GET", `/${name}`)).body).toMatchObject({ seed: 99, counts: { threads: 4 } });
    expect((await callSandboxes("POST", `/${name}/reset`, { sed: 1 })).body.hint).toBe("seed");
  });
});

describe("fork", () => {
  it("creates a second sandbox with the same state, which is independent from then on [interfaces 4]", async () => {
    const name = await createSandbox();
    await reparent(`/_s/${name}`, "dept_ml");
    await callSandboxes("POST", `/${name}/clock/advance`, { by: "90s" });
    const token = (await api.call("ada", "POST", `/_s/${name}/v1/auth/token`)).body.access_token;
    const fork = await callSandboxes("POST", `/${name}/fork`, { name: `${name}-two` });
    expect(fork.status).toBe(201);
    const original = (await callSandboxes("GET", `/${name}`)).body;
    const { name: _name, base_url: _url, created_at: _at, ...same } = fork.body;
    expect(original).toMatchObject(same);
    const bearer = { authorization: `Bearer ${token}` };
    expect((await api.call(undefined, "GET", `/_s/${name}-two/v1/models`, undefined, bearer)).status).toBe(
      200,
    );
    const drawn = await Promise.all(
      [name, `${name}-two`].map((at) => callSandboxes("POST", `/${at}/state/threads`, {})),
    );
    expect(drawn[0]!.body).toEqual(drawn[1]!.body);
    await reparent(`/_s/${name}-two`, null);
    expect([await getParent(name), await getParent(`${name}-two`)]).toEqual(["dept_ml", null]);
  });
});

describe("clock", () => {
  const callClock = (name: string, method: string, path = "", body?: unknown) =>
    callSandboxes(method, `/${name}/clock${path}`, body);

  it.each([
    ["90s", 90_000],
    ["5m", 300_000],
    ["6h", 21_600_000],
    ["2d", 172_800_000],
    ["PT5M", 300_000],
    [1500, 1500],
    [0, 0],
  ])("advances by %j [interfaces 4]", async (by, milliseconds) => {
    const name = await createSandbox();
    const answer = await callClock(name, "POST", "/advance", { by });
    expect(answer.status).toBe(200);
    expect(answer.body.now).toBe(new Date(Date.parse(EPOCH) + milliseconds).toISOString());
    expect(Array.isArray(answer.body.ran)).toBe(true);
  });

  it.each([
    ["by", { by: "-5m" }],
    ["by", { by: -1 }],
    ["by", { by: "5 minutes" }],
    ["by", { by: "" }],
    ["by", { by: null }],
    ["by", { by: "9999999d" }],
    ["to", { to: "2026-03-15T11:59:59Z" }],
    ["to", { to: "soon" }],
    ["next", { next: false }],
    ["body", {}],
    ["body", { by: "1m", next: true }],
    ["until", { until: "1m" }],
  ])("refuses to advance with a wrong %s: %j [interfaces 4]", async (field, body) => {
    const name = await createSandbox();
    const answer = await callClock(name, "POST", "/advance", body);
    expect([answer.status, answer.body.field]).toEqual([422, field]);
    expect((await callClock(name, "GET")).body).toEqual({ mode: "frozen", now: EPOCH, rate: 0 });
  });

  it("advances to an instant and to the next pending one [interfaces 4]", async () => {
    const name = await createSandbox();
    const pending = (await callClock(name, "GET", "/pending")).body;
    expect(pending).toEqual([...pending].sort((a, b) => a.due_at.localeCompare(b.due_at)));
    for (const { due_at, kind, subject } of pending) {
      const { body } = await callClock(name, "POST", "/advance", { next: true });
      expect(body.now).toBe(due_at);
      expect(body.ran[0]).toEqual({ at: due_at, kind, subject });
      if (body.ran.length > 1) break;
    }
    const { now } = (await callClock(name, "GET")).body;
    const later = new Date(Date.parse(now) + 5000).toISOString();
    expect((await callClock(name, "POST", "/advance", { to: later })).body.now).toBe(later);
  });

  it("stays where it is for next if nothing is pending [interfaces 4]", async () => {
    const name = await createSandbox({ fixture: { organizations: [{ id: "org_solo" }] } });
    expect((await callClock(name, "POST", "/advance", { next: true })).body).toEqual({ now: EPOCH, ran: [] });
  });

  it("is frozen, scaled and restarted by PUT, and never turns back [interfaces 4]", async () => {
    const name = await createSandbox({ clock: { mode: "scaled", now: EPOCH, rate: 3600 } });
    const frozen = (await callClock(name, "PUT", "", { mode: "frozen" })).body;
    expect(frozen).toMatchObject({ mode: "frozen", rate: 0 });
    expect((await callClock(name, "GET")).body.now).toBe(frozen.now);
    const later = "2026-04-01T00:00:00.000Z";
    expect((await callClock(name, "PUT", "", { mode: "frozen", now: later })).body.now).toBe(later);
    const back = await callClock(name, "PUT", "", { mode: "frozen", now: EPOCH });
    expect([back.status, back.body.field]).toEqual([422, "now"]);
    expect(back.body.detail).toContain("restore a snapshot");
    const scaled = (await callClock(name, "PUT", "", { mode: "scaled", rate: 10 })).body;
    expect(scaled).toMatchObject({ mode: "scaled", rate: 10 });
    const real = (await callClock(name, "PUT", "", { mode: "real" })).body;
    expect(Math.abs(Date.parse(real.now) - Date.now())).toBeLessThan(60_000);
  });
});
