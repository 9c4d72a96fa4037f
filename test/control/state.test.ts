import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeInternalFields } from "../../src/engine/contract/public-view.ts";
import type { Resource } from "../../src/engine/contract/resource.ts";
import { toValidator } from "../../src/engine/contract/validator.ts";
import { RESOURCES } from "../../src/engine/resources/index.ts";
import { type Api, EPOCH, startReference } from "../support/harness.ts";

let api: Api;
let made = 0;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

const control = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, `/_control/sandboxes${path}`, body);
async function createSandbox(body: object = {}): Promise<string> {
  const name = `state-${++made}`;
  expect((await control("POST", "", { name, ...body })).status).toBe(201);
  return name;
}

const COLLECTIONS = (RESOURCES as readonly Resource[])
  .flatMap(({ collections }) => collections)
  .filter(({ internal }) => !internal);
/** Collections whose ids derive from other fields: the reference world already has all of them. */
const DERIVED_IDS = new Set(["usage"]);

/** Collections whose records consist of other records' ids and defaults, without invented values. */
const COMPOSED = new Set(["store_files", "connector_notifications"]);

describe("state calls", () => {
  it("list every collection with its size [interfaces 4]", async () => {
    const { body } = await control("GET", "/default/state");
    expect([body.total, body.items.length]).toEqual([COLLECTIONS.length, COLLECTIONS.length]);
    const counts = (await control("GET", "/default")).body.counts;
    for (const { name, records } of body.items) expect(counts[name], name).toBe(records);
  });

  describe.each(COLLECTIONS)("$name", ({ name, idField, schema }) => {
    it("show every record of the reference world as its schema says", async () => {
      const { body } = await control("GET", `/default/state/${name}?limit=10000`);
      const valid = toValidator(removeInternalFields(schema));
      for (const record of body.items) {
        expect(valid(record), `${record[idField]}: ${JSON.stringify(valid.errors)}`).toBe(true);
      }
      // The reference world has no record of some collections.
      expect(body.items).toHaveLength(Math.min(body.total, 10_000));
      const [first] = body.items;
      const path = `/default/state/${name}/${encodeURIComponent(first?.[idField] ?? "none")}`;
      const one = await control("GET", path);
      expect([one.status, first && one.body]).toEqual(first ? [200, first] : [404, undefined]);
    });
  });

  it.each(["audit_logs", "assistant_history", "auth_configs", "change_logs"])(
    "give new %s ids that sort newest first, since lists order records of one instant by id [G28]",
    async (name) => {
      const sandbox = await createSandbox();
      const ids: string[] = [];
      for (let n = 0; n < 6; n++)
        ids.unshift((await control("POST", `/${sandbox}/state/${name}`, {})).body.id);
      expect(ids).toEqual(ids.toSorted());
    },
  );

  describe.each(COLLECTIONS.filter(({ name }) => !DERIVED_IDS.has(name)))(
    "$name [interfaces 4]",
    ({ name, idField, prefix, schema }) => {
      it("invent all fields of an empty POST, show the record, and delete it", async () => {
        const sandbox = await createSandbox();
        const before = (await control("GET", `/${sandbox}`)).body.counts[name];
        const created = await control("POST", `/${sandbox}/state/${name}`, {});
        expect(created.status, created.text).toBe(201);
        const valid = toValidator(removeInternalFields(schema));
        expect(valid(created.body), JSON.stringify(valid.errors)).toBe(true);
        const id = created.body[idField];
        expect(id.startsWith(prefix)).toBe(true);
        const path = `/${sandbox}/state/${name}/${encodeURIComponent(id)}`;
        expect((await control("GET", path)).body).toEqual(created.body);
        expect((await control("GET", `/${sandbox}`)).body.counts[name]).toBeGreaterThan(before);
        const twice = await control("POST", `/${sandbox}/state/${name}`, { [idField]: id });
        expect([twice.status, twice.headers.get("content-type")]).toEqual([409, "application/problem+json"]);
        expect((await control("DELETE", path)).status).toBe(204);
        expect((await control("GET", path)).status).toBe(404);
        expect((await control("DELETE", path)).status).toBe(404);
      });

      it("invent the same values for the same seed, and others for another seed", async () => {
        const ids = await Promise.all(
          [{ seed: 5 }, { seed: 5 }, { seed: 6 }].map(async (options) => {
            const sandbox = await createSandbox(options);
            return (await control("POST", `/${sandbox}/state/${name}`, {})).text;
          }),
        );
        const secretless = ids.map((text) => text.replace(/whsec_[\w-]+/g, ""));
        expect(secretless[0]).toBe(secretless[1]);
        if (!COMPOSED.has(name)) expect(secretless[0]).not.toBe(secretless[2]);
      });
    },
  );

  describe.each(COLLECTIONS)("$name", ({ name, idField }) => {
    it("refuse invalid fields by name, and change nothing", async () => {
      const sandbox = await createSandbox();
      const before = (await control("GET", `/${sandbox}`)).body.counts;
      for (const [field, body] of [
        ["no_such_field", { no_such_field: 1 }],
        [idField, { [idField]: 7 }],
        [idField, { [idField]: {} }],
        ["body", []],
      ] as const) {
        const answer = await control("POST", `/${sandbox}/state/${name}`, body);
        expect([answer.status, answer.body.field], JSON.stringify(body)).toEqual([422, field]);
        expect(answer.headers.get("content-type")).toBe("application/problem+json");
      }
      expect((await control("GET", `/${sandbox}`)).body.counts).toEqual(before);
    });
  });

  it("refuse a record that needs an organization in a world without one, and name the field [interfaces 4]", async () => {
    const sandbox = await createSandbox({ fixture: { models: [{ key: "alone" }] } });
    const refused: string[] = [];
    for (const { name, schema } of COLLECTIONS) {
      const { properties } = schema as unknown as { properties: Record<string, object> };
      if (!Object.hasOwn(properties, "organization_id")) continue;
      const answer = await control("POST", `/${sandbox}/state/${name}`, {});
      refused.push(name);
      expect([name, answer.status, answer.body.field]).toEqual([name, 422, expect.any(String)]);
      expect(answer.body.detail).toMatch(/is required: there are no |has its notification rules already/);
    }
    expect(refused.length).toBeGreaterThan(12);
  });

  it("refuse references to missing records, and for a PATCH only those in it [interfaces 4]", async () => {
    const sandbox = await createSandbox();
    const callState = (method: string, path: string, body?: object) =>
      control(method, `/${sandbox}/state/${path}`, body);
    const wrong = await callState("POST", "threads", { owner_id: "usr_nobody" });
    expect([wrong.status, wrong.body.field, wrong.body.value]).toEqual([422, "owner_id", "usr_nobody"]);
    expect(wrong.body.detail).toContain("owner_id must name one of the users; there is no usr_nobody");
    const { id } = (await callState("POST", "threads", { owner_id: "usr_gus" })).body;
    expect((await callState("DELETE", "users/usr_gus")).status).toBe(204);
    expect((await callState("PATCH", `threads/${id}`, { title: "Left behind" })).status).toBe(200);
    expect((await callState("PATCH", `threads/${id}`, { owner_id: "usr_gus" })).status).toBe(422);
  });

  it("keep given ids and fields, with timestamps in any zone [interfaces 4]", async () => {
    const sandbox = await createSandbox();
    const given = {
      id: "thread_mine",
      title: "Mine",
      owner_id: "usr_dan",
      created_at: "2026-03-10T12:00:00+02:00",
    };
    const { status, body } = await control("POST", `/${sandbox}/state/threads`, given);
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({ ...given, created_at: "2026-03-10T10:00:00.000Z" }),
    ]);
  });

  it("list all matches without a limit [interfaces 4]", async () => {
    for (const [query, total] of [
      ["tracks?collection_id=mcoll_focus", 450],
      ["sentences?transcription_id=trans_interview", 1200],
      ["audit_logs", 12_400],
    ] as const) {
      const { body } = await control("GET", `/default/state/${query}`);
      expect([query, body.items.length, body.total]).toEqual([query, total, total]);
    }
  });

  it("page and filter by equality on any field [interfaces 4]", async () => {
    const page = (await control("GET", "/default/state/departments?limit=3&offset=2")).body;
    const all = (await control("GET", "/default/state/departments")).body;
    expect(page).toEqual({ items: all.items.slice(2, 5), total: 8 });
    const under = (await control("GET", "/default/state/departments?parent_id=dept_eng")).body;
    expect(under.items.map(({ id }: { id: string }) => id)).toEqual(["dept_ml", "dept_platform"]);
    const top = (await control("GET", "/default/state/departments?parent_id=null&is_active=true&limit=1"))
      .body;
    expect([top.items.length, top.total]).toEqual([1, 2]);
    expect((await control("GET", "/default/state/departments?parent_id=dept_eng&depth=7")).body.total).toBe(
      0,
    );
    const at: string = all.items[0].created_at;
    for (const form of [at, at.replace(".000Z", "Z"), at.replace(".000Z", "%2B00:00")])
      expect((await control("GET", `/default/state/departments?created_at=${form}`)).body.total).not.toBe(0);
  });

  it.each([
    ["limit", "limit=0"],
    ["limit", "limit=1000001"],
    ["limit", "limit=x"],
    ["offset", "offset=-1"],
    ["limit", "limit=1&limit=2"],
    ["parnt_id", "parnt_id=dept_eng"],
    ["__proto__", "__proto__=1"],
    ["constructor", "constructor=1"],
  ])("refuse a list with a wrong %s (%s) [interfaces 4]", async (field, query) => {
    const answer = await control("GET", `/default/state/departments?${query}`);
    expect([answer.status, answer.body.field]).toEqual([422, field]);
  });

  it("answer 404 with a hint for an unknown collection or record [interfaces 4]", async () => {
    const wrong = await control("GET", "/default/state/departmets");
    expect([wrong.status, wrong.body.hint]).toEqual([404, "departments"]);
    for (const [method, body] of [
      ["GET", undefined],
      ["PATCH", {}],
      ["DELETE", undefined],
    ] as const) {
      const answer = await control(method, "/default/state/threads/thread_nope", body);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "application/problem+json"]);
    }
    for (const internal of ["_timers", "_refresh_tokens", "__proto__", "constructor"]) {
      expect((await control("GET", `/default/state/${internal}`)).status).toBe(404);
    }
  });

  it("keep the API's invariants for PATCH: a department cycle is 422 [interfaces 4]", async () => {
    const sandbox = await createSandbox();
    const answer = await control("PATCH", `/${sandbox}/state/departments/dept_eng`, {
      parent_id: "dept_infra",
    });
    expect([answer.status, answer.body.field]).toEqual([422, "parent_id"]);
    const moved = await control("PATCH", `/${sandbox}/state/departments/dept_platform`, {
      parent_id: "dept_ops",
    });
    expect(moved.body).toMatchObject({ path: "dept_acme/dept_ops/dept_platform", depth: 2 });
    const below = await control("GET", `/${sandbox}/state/departments/dept_infra`);
    expect(below.body.path).toBe("dept_acme/dept_ops/dept_platform/dept_infra");
    const renamed = await control("PATCH", `/${sandbox}/state/departments/dept_ops`, { id: "dept_other" });
    expect([renamed.status, renamed.body.field]).toEqual([422, "id"]);
  });

  it.each<[string, string, object]>([
    ["revoked_at", "share_links", { status: "active", revoked_at: "2026-03-01T00:00:00Z" }],
    ["revoked_at", "share_links", { status: "revoked", revoked_at: null }],
    ["completed_at", "store_files", { status: "processing", completed_at: "2026-03-01T00:00:00Z" }],
    ["error_message", "store_files", { status: "completed", error_message: "unreadable" }],
    ["current_step", "store_files", { status: "completed", current_step: "parsing" }],
    ["last_attempt", "deliveries", { status: "success", last_attempt: "2026-03-01T00:00:00Z" }],
    ["next_retry", "deliveries", { status: "success", next_retry: "2027-03-01T00:00:00Z" }],
    ["delivered_at", "deliveries", { status: "failed", delivered_at: "2026-03-01T00:00:00Z" }],
  ])(
    "refuse %s of %s that contradicts the status, and change nothing [interfaces 4]",
    async (field, collection, fields) => {
      const name = await createSandbox();
      const before = (await control("GET", `/${name}/state/${collection}`)).body;
      const id = Object.values(before.items[0] as object)[0] as string;
      for (const [method, path] of [
        ["POST", ""],
        ["PATCH", `/${encodeURIComponent(id)}`],
      ]) {
        const { status, body } = await control(method!, `/${name}/state/${collection}${path}`, fields);
        // A PATCH may also change the status, which removes the value.
        if (method === "PATCH" && status === 200) continue;
        expect({ status, field: body.field }, method).toEqual({ status: 422, field });
        expect(body.detail).toContain("contradicts the record's other fields, with which it is ");
      }
      expect((await control("GET", `/${name}/state/${collection}`)).body.total).toBe(before.total);
    },
  );

  it("refuse an unknown event of a delivery [6.1]", async () => {
    const path = `/${await createSandbox()}/state/deliveries`;
    for (const [method, target] of [
      ["POST", path],
      ["PATCH", `${path}/del_ok`],
    ] as const) {
      const { status, body } = await control(method, target, { event: "user.creatd" });
      expect([status, body.field]).toEqual([422, "event"]);
    }
    const created = await control("POST", path, { event: "webhook.test" });
    expect(created.status).toBe(201);
  });

  it("accept a model whose key gives the id of another one [interfaces 4]", async () => {
    const path = `/${await createSandbox()}/state/models`;
    for (const key of ["atlas.large", "atlas:large"]) {
      const { status, body } = await control("POST", path, { key });
      expect(status, JSON.stringify(body)).toBe(201);
      expect(body).toMatchObject({ key, id: expect.stringMatching(/^model_/) });
    }
  });

  it("accept a whole record with a new status, as the console's form sends it [interfaces 4]", async () => {
    const name = await createSandbox();
    for (const [collection, status] of [
      ["store_files", "processing"],
      ["deliveries", "failed"],
      ["share_links", "revoked"],
    ]) {
      const { items } = (await control("GET", `/${name}/state/${collection}`)).body;
      for (const one of items) {
        const path = `/${name}/state/${collection}/${encodeURIComponent(Object.values(one)[0] as string)}`;
        expect((await control("PATCH", path, { ...one, status })).body, collection).toMatchObject({ status });
      }
    }
  });

  it("round amounts, and keep the months of `spent` that are not given [interfaces 4]", async () => {
    const path = `/${await createSandbox()}/state/usage/org_acme:apikey_ci`;
    await control("PATCH", path, { spent: { "2026-02": 7 } });
    const { body } = await control("PATCH", path, { spent: { "2026-03": 1.23456789 } });
    expect(body.spent).toMatchObject({ "2026-02": 7, "2026-03": 1.234568 });
  });

  it("delete the same dependents as the API [interfaces 4]", async () => {
    const sandbox = await createSandbox();
    const messages = `/${sandbox}/state/messages?thread_id=thread_long`;
    expect((await control("GET", messages)).body.total).toBe(250);
    expect((await control("DELETE", `/${sandbox}/state/threads/thread_long`)).status).toBe(204);
    expect((await control("GET", messages)).body.total).toBe(0);
  });

  it("write the audit entry of a real change as the actor or the owner, and none if silent [G31]", async () => {
    const sandbox = await createSandbox();
    const entries = `/${sandbox}/state/audit_logs?entity_type=department&action=created&entity_name=Audited`;
    const post = (query: string) =>
      control("POST", `/${sandbox}/state/departments${query}`, { name: "Audited" });
    await post("?silent=true");
    expect((await control("GET", entries)).body.total).toBe(0);
    await post("");
    await post("?actor=usr_ben");
    const actors = (await control("GET", entries)).body.items.map(
      (entry: { actor_id: string }) => entry.actor_id,
    );
    expect(actors.sort()).toEqual(["usr_ada", "usr_ben"]);
    expect((await post("?actor=usr_nobody")).body.field).toBe("actor");
    expect((await post("?silent=perhaps")).body.field).toBe("silent");
  });

  it.each([
    ...["departments", "files", "assistants", "dashboards", "share_links"].map((name) => [
      name,
      "created_by",
    ]),
    ["api_keys", "user_id"],
    ["assistant_history", "user_id"],
    ["audit_logs", "actor_id"],
    ["change_logs", "user_id"],
  ] as [string, string][])(
    "name the actor in a new record of %s, as %s, unless the call names another user [G31]",
    async (collection, field) => {
      const path = `/${await createSandbox()}/state/${collection}`;
      const fetchAuthor = async (query: string, fields = {}) =>
        (await control("POST", `${path}${query}`, fields)).body[field];
      expect(await fetchAuthor("?actor=usr_ben")).toBe("usr_ben");
      expect(await fetchAuthor("?actor=usr_ben", { [field]: "usr_cleo" })).toBe("usr_cleo");
    },
  );

  it.each([
    ["del_failed", "success", { response_code: 200, delivered_at: "2026-03-12T15:21:00.000Z" }],
    ["del_ok", "failed", { response_code: 500, last_attempt: "2026-03-10T08:00:00.000Z", next_retry: null }],
  ])("keep the time of the attempt if %s becomes a %s [G23]", async (id, status, times) => {
    const sandbox = await createSandbox();
    const path = `/${sandbox}/state/deliveries/${id}`;
    expect((await control("PATCH", path, { status })).body).toMatchObject({ status, ...times });
  });

  it.each([
    ["connections", "conn_drive"],
    ["vector_stores", "vs_handbook"],
    ["files", "file_handbook"],
    ["webhooks", "wh_ops"],
  ])(
    "leave a record in %s in the organization of the records that refer to it [interfaces 4]",
    async (collection, id) => {
      const sandbox = await createSandbox();
      const path = `/${sandbox}/state/${collection}/${id}`;
      const { status, body } = await control("PATCH", path, { organization_id: "org_globex" });
      expect([status, body.field]).toEqual([422, "organization_id"]);
      expect((await control("GET", path)).body.organization_id).toBe("org_acme");
    },
  );

  it.each([
    ["deliveries", { webhook_id: "wh_ops", response_code: 500 }, { status: "failed" }],
    ["deliveries", { webhook_id: "wh_ops", response_code: 204 }, { status: "success" }],
    ["deliveries", { webhook_id: "wh_ops", last_attempt: "2026-03-15T11:00:00.000Z" }, { status: "failed" }],
    ["share_links", { revoked_at: "2026-03-15T11:00:00.000Z" }, { status: "revoked" }],
    [
      "store_files",
      { store_id: "vs_empty", file_id: "file_loose", completed_at: "2026-03-15T12:00:00.000Z" },
      { status: "completed" },
    ],
    ["connector_jobs", { connection_id: "conn_wiki", duration: 12 }, { status: "succeeded" }],
    ["connector_jobs", { connection_id: "conn_wiki", rows_synced: 7 }, { status: "succeeded" }],
    ["webhooks", { inactive_because: "its receiver moved" }, { active: false }],
  ])(
    "derive the status of a new record in %s from %j [interfaces 4]",
    async (collection, fields, expected) => {
      const { status, body } = await control("POST", `/${await createSandbox()}/state/${collection}`, fields);
      expect([status, body]).toEqual([201, expect.objectContaining({ ...fields, ...expected })]);
    },
  );

  it.each([
    ["deliveries", "delivered_at"],
    ["deliveries", "last_attempt"],
    ["share_links", "revoked_at"],
    ["transcriptions", "completed_at"],
  ])("create a record in %s before its %s [interfaces 4]", async (collection, field) => {
    const end = "2026-03-15T11:00:00.000Z";
    const { body } = await control("POST", `/${await createSandbox()}/state/${collection}`, { [field]: end });
    expect(body[field]).toBe(end);
    expect(Date.parse(body.created_at)).toBeLessThanOrEqual(Date.parse(end));
  });

  it("refuse an active webhook with a reason why it is not [interfaces 14]", async () => {
    const fields = { active: true, inactive_because: "its receiver moved" };
    const { status, body } = await control("POST", `/${await createSandbox()}/state/webhooks`, fields);
    expect([status, body.field]).toEqual([422, "inactive_because"]);
  });

  it.each([
    ["POST", "deliveries", { webhook_id: "wh_ops", status: "success", response_code: 500 }],
    ["POST", "deliveries", { webhook_id: "wh_ops", status: "failed", response_code: 200 }],
    ["PATCH", "deliveries/del_ok", { response_code: 404 }],
    ["PATCH", "deliveries/del_failed", { status: "success", response_code: 301 }],
    ["PATCH", "deliveries/del_ok", { organization_id: "org_globex" }],
  ] as const)(
    "refuse a delivery that contradicts its status or its webhook: %s %s %j [6.4]",
    async (method, path, fields) => {
      const { status, body } = await control(method, `/${await createSandbox()}/state/${path}`, fields);
      expect([status, body.field]).toEqual([422, Object.keys(fields).at(-1)]);
    },
  );

  it("move a record that no other refers to to another organization [interfaces 4]", async () => {
    const sandbox = await createSandbox();
    for (const [path, fields] of [
      ["connections", { organization_id: "org_acme" }],
      ["vector_stores/vs_empty", undefined],
      ["files/file_loose", undefined],
    ] as const) {
      const created = fields && (await control("POST", `/${sandbox}/state/${path}`, fields)).body.id;
      const record = `/${sandbox}/state/${path}${created ? `/${created}` : ""}`;
      expect((await control("PATCH", record, { organization_id: "org_globex" })).status).toBe(200);
    }
  });

  it.each(["#4f46e5", "#4F46E5", "#Abcdef"])("accept the color %s of a department [G10]", async (color) => {
    const path = `/${await createSandbox()}/state/departments/dept_ml`;
    expect((await control("PATCH", path, { color })).body.color).toBe(color);
    expect((await control("PATCH", path, { color: `${color}0` })).status).toBe(422);
  });

  it("find a text in any case and Unicode form [interfaces 4]", async () => {
    const departments = `/${await createSandbox()}/state/departments`;
    await control("POST", departments, { name: "Caf\u00e9 Σίσυφος" });
    for (const text of ["CAFE\u0301", "ΣΊΣ"])
      expect((await control("GET", `${departments}?contains=${encodeURIComponent(text)}`)).body.total).toBe(
        1,
      );
  });

  it("invent times near the sandbox's time, not the machine's [interfaces 4]", async () => {
    const sandbox = await createSandbox();
    const { body } = await control("POST", `/${sandbox}/state/threads`, {});
    expect(Math.abs(Date.parse(body.created_at) - Date.parse(EPOCH))).toBeLessThan(40 * 86_400_000);
  });

  it("invent names in the language of the setting locale, like fixtures [G44]", async () => {
    const fixture = {
      organizations: [{ id: "org_x" }],
      users: [{ id: "usr_x", memberships: { org_x: "owner" } }],
    };
    const sandbox = await createSandbox({ fixture, settings: { locale: "ru" } });
    const { items } = (await control("GET", `/${sandbox}/state/users`)).body;
    const { body } = await control("POST", `/${sandbox}/state/users`, {});
    for (const { name, email } of [...items, body]) {
      expect(name).toMatch(/\p{Script=Cyrillic}/u);
      expect(email).toMatch(/^[a-z0-9.]+@example\.test$/);
    }
    const refused = await control("PATCH", `/${sandbox}`, { settings: { locale: "xx" } });
    expect([refused.status, refused.body.field]).toEqual([422, "settings.locale"]);
  });

  it.each([
    ["threads", "title"],
    ["dashboards", "title"],
    ["meeting_sessions", "title"],
    ["assistants", "name"],
    ["vector_stores", "name"],
    ["music_collections", "name"],
    ["files", "filename"],
    ["transcriptions", "filename"],
  ])("give %s made without a %s different ones [G44]", async (collection, field) => {
    const sandbox = await createSandbox();
    const made = await Promise.all(
      Array.from({ length: 40 }, () => control("POST", `/${sandbox}/state/${collection}`, {})),
    );
    expect(made.map(({ status }) => status)).not.toContain(422);
    expect(new Set(made.map(({ body }) => body[field])).size).toBeGreaterThan(30);
  });

  it("name the organization's members as speakers of a meeting [G44]", async () => {
    const fixture = {
      organizations: [{ id: "org_x" }],
      users: [{ id: "usr_x", memberships: { org_x: "owner" } }],
      meeting_sessions: [{ id: "mbsess_x" }],
    };
    const sandbox = await createSandbox({ fixture, settings: { locale: "ru" } });
    const { items: people } = (await control("GET", `/${sandbox}/state/users`)).body;
    const { items } = (await control("GET", `/${sandbox}/state/meeting_transcripts`)).body;
    expect([...new Set(items.map(({ speaker }: { speaker: string }) => speaker))]).toEqual([
      people[0].name.split(" ")[0],
    ]);
  });

  it("give two users with the same invented name different addresses [G44]", async () => {
    const sandbox = await createSandbox();
    const made = await Promise.all(
      Array.from({ length: 20 }, () => control("POST", `/${sandbox}/state/users`, { name: "Ada Lovelace" })),
    );
    expect(new Set(made.map(({ body }) => body.email)).size).toBe(20);
  });
});
