import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, EPOCH, startReference } from "../support/harness.ts";

let api: Api;
let other: Api;
let made = 0;
beforeAll(async () => {
  [api, other] = await Promise.all([startReference(), startReference({ seed: 42 })]);
});
afterAll(() => Promise.all([api.close(), other.close()]));

const createControl = (server: Api) => (method: string, path: string, body?: unknown) =>
  server.call(undefined, method, `/_control/sandboxes${path}`, body);
const control = (method: string, path: string, body?: unknown) => createControl(api)(method, path, body);
async function createSandbox(body: object = {}): Promise<string> {
  const name = `snap-${++made}`;
  expect((await control("POST", "", { name, ...body })).status).toBe(201);
  return name;
}
const NOTHING = { added: {}, removed: {}, changed: {} };

describe("snapshots", () => {
  it("are saved, listed, restored and deleted [interfaces 4]", async () => {
    const name = await createSandbox();
    const saved = await control("POST", `/${name}/snapshots`, { name: "before" });
    expect([saved.status, saved.body]).toEqual([
      201,
      { name: "before", taken_at: EPOCH, records: expect.any(Number) },
    ]);
    expect((await control("GET", `/${name}/snapshots`)).body).toEqual({ items: [saved.body], total: 1 });
    await control("PATCH", `/${name}/state/departments/dept_ops`, { name: "Opsy" });
    await control("PATCH", `/${name}`, { settings: { preview: "on" } });
    await control("POST", `/${name}/clock/advance`, { by: "1h" });
    await api.call("ada", "GET", `/_s/${name}/v1/models`);
    const restored = await control("POST", `/${name}/snapshots/before/restore`);
    expect(restored.status).toBe(200);
    expect(restored.body).toMatchObject({
      name,
      clock: { mode: "frozen", now: EPOCH },
      settings: { preview: "on" },
    });
    expect((await control("GET", `/${name}/state/departments/dept_ops`)).body.name).toBe("Operations");
    expect((await control("GET", `/${name}/journal`)).body.total, "the journal stays").toBe(1);
    expect((await control("DELETE", `/${name}/snapshots/before`)).status).toBe(204);
    for (const [method, path] of [
      ["DELETE", ""],
      ["GET", ""],
      ["POST", "/restore"],
      ["GET", "/diff/now"],
    ] as const) {
      const answer = await control(method, `/${name}/snapshots/before${path}`);
      expect([answer.status, answer.headers.get("content-type")]).toEqual([404, "application/problem+json"]);
    }
  });

  it("restore timers, tokens, rate windows and the next draws [interfaces 4]", async () => {
    const name = await createSandbox();
    const prefix = `/_s/${name}`;
    const token = (await api.call("ada", "POST", `${prefix}/v1/auth/token`)).body.access_token;
    const ask = () =>
      api.call(undefined, "GET", `${prefix}/v1/models`, undefined, { authorization: `Bearer ${token}` });
    const remaining = Number((await ask()).headers.get("x-ratelimit-remaining"));
    const pending = (await control("GET", `/${name}/clock/pending`)).body;
    await control("POST", `/${name}/snapshots`, { name: "s" });
    const draw = async () => (await control("POST", `/${name}/state/threads`, {})).body;
    const drawn = await draw();
    await control("POST", `/${name}/reset`, { seed: 3 });
    expect((await ask()).status, "a reset ends tokens").toBe(401);
    await control("POST", `/${name}/snapshots/s/restore`);
    expect((await control("GET", `/${name}/clock/pending`)).body).toEqual(pending);
    expect(Number((await ask()).headers.get("x-ratelimit-remaining"))).toBe(remaining - 1);
    expect(await draw()).toEqual(drawn);
  });

  it("are compared by added, removed and changed records of each collection [interfaces 4]", async () => {
    const name = await createSandbox();
    await control("POST", `/${name}/snapshots`, { name: "a" });
    expect((await control("GET", `/${name}/snapshots/a/diff/now`)).body).toEqual(NOTHING);
    await control("POST", `/${name}/state/departments?silent=true`, { id: "dept_new", name: "New" });
    await control("PATCH", `/${name}/state/departments/dept_ops?silent=true`, { name: "Opsy" });
    await control("DELETE", `/${name}/state/threads/thread_ada?silent=true`);
    const { body } = await control("GET", `/${name}/snapshots/a/diff/now`);
    expect(Object.keys(body.added)).toEqual(["departments"]);
    expect(body.added.departments).toEqual([expect.objectContaining({ id: "dept_new", name: "New" })]);
    expect(body.removed.threads.map(({ id }: { id: string }) => id)).toEqual(["thread_ada"]);
    expect(body.removed.messages).toHaveLength(2);
    expect(body.changed).toEqual({
      departments: [{ id: "dept_ops", fields: { name: { before: "Operations", after: "Opsy" } } }],
    });
    await control("POST", `/${name}/snapshots`, { name: "b" });
    const back = (await control("GET", `/${name}/snapshots/b/diff/a`)).body;
    expect([Object.keys(back.removed), Object.keys(back.added)]).toEqual([
      ["departments"],
      expect.arrayContaining(["threads", "messages"]),
    ]);
    expect((await control("GET", `/${name}/snapshots/now/diff/now`)).body).toEqual(NOTHING);
  });

  it("are compared with a world of another sandbox, such as a branch [interfaces 4]", async () => {
    const name = await createSandbox();
    await control("POST", `/${name}/snapshots`, { name: "before" });
    const branch = `${name}-branch`;
    await control("POST", `/${name}/fork`, { name: branch });
    const diff = async (path: string) => (await control("GET", `/${name}/snapshots/${path}`)).body;
    expect(await diff(`now/diff/now?of=${branch}`)).toEqual(NOTHING);
    await control("PATCH", `/${branch}/state/departments/dept_ops?silent=true`, { name: "Opsy" });
    await control("DELETE", `/${name}/state/threads/thread_ada?silent=true`);
    const apart = await diff(`now/diff/now?of=${branch}`);
    expect(apart.changed.departments).toEqual([
      { id: "dept_ops", fields: { name: { before: "Operations", after: "Opsy" } } },
    ]);
    expect(apart.added.threads.map(({ id }: { id: string }) => id)).toEqual(["thread_ada"]);
    expect(Object.keys((await diff(`before/diff/now?of=${branch}`)).changed)).toEqual(["departments"]);
    // The snapshot belongs to this sandbox, so the other one does not find it.
    expect(await diff(`now/diff/nowhere?of=${branch}`)).toMatchObject({ status: 404 });
    expect(await diff("now/diff/now?of=snap-branhc")).toMatchObject({ status: 422, field: "of" });
  });

  it("are complete in a download: uploaded to another server they give the same world [interfaces 4]", async () => {
    const name = await createSandbox({ seed: 9 });
    await control("POST", `/${name}/clock/advance`, { by: "90s" });
    await control("POST", `/${name}/state/threads`, { title: "Ünïcode \u2028 and more" });
    const token = (await api.call("ada", "POST", `/_s/${name}/v1/auth/token`)).body.access_token;
    await control("POST", `/${name}/snapshots`, { name: "s" });
    const document = (await control("GET", `/${name}/snapshots/s`)).body;
    expect(document).toMatchObject({ name: "s", format: "understudy-snapshot", version: 1 });

    const there = createControl(other);
    await there("POST", "", { name: "guest" });
    const uploaded = await there("PUT", "/guest/snapshots/s", document);
    expect(uploaded.status, uploaded.text).toBe(201);
    expect((await there("PUT", "/guest/snapshots/s", document)).status, "again").toBe(200);
    expect((await there("POST", "/guest/snapshots/s/restore")).status).toBe(200);
    expect((await there("GET", "/guest/snapshots/s/diff/now")).body).toEqual(NOTHING);
    expect((await there("GET", "/guest/snapshots/s")).body).toEqual(document);
    const bearer = { authorization: `Bearer ${token}` };
    expect((await other.call(undefined, "GET", "/_s/guest/v1/models", undefined, bearer)).status).toBe(200);
    const [here, away] = [
      await control("POST", `/${name}/state/threads`, {}),
      await there("POST", "/guest/state/threads", {}),
    ];
    expect(away.body).toEqual(here.body);
    for (const path of [
      "/clock/pending",
      "/state/departments",
      "/state/audit_logs?limit=10000",
      "/state/deliveries",
    ]) {
      expect((await there("GET", `/guest${path}`)).text, path).toBe(
        (await control("GET", `/${name}${path}`)).text,
      );
    }
  });

  it.each(["", "now", "a/b", "-x", "x".repeat(64), "ä"])(
    "are refused with the name %j [interfaces 4]",
    async (snap) => {
      const answer = await control("POST", "/default/snapshots", { name: snap });
      expect([answer.status, answer.body.field]).toEqual([422, "name"]);
    },
  );

  it("change nothing in the history if the restored upload equals the world [interfaces 10]", async () => {
    const name = await createSandbox();
    const { body: file } = await control("GET", `/${name}/snapshots/now`);
    await control("PATCH", `/${name}/state/departments/dept_ops?silent=true`, { name: "Opsy" });
    await control("PUT", `/${name}/snapshots/uploaded`, file);
    const restore = async () => {
      await control("POST", `/${name}/snapshots/uploaded/restore`);
      const [entry] = (await control("GET", `/${name}/history?limit=1`)).body.entries;
      const changed = (await control("GET", `/${name}/history/${entry.id}/changes`)).body;
      return [entry.changes, Object.entries(changed).map(([key, records]) => [key, (records as []).length])];
    };
    expect(await restore()).toEqual([
      { departments: { added: 0, removed: 0, changed: 1 } },
      [["departments", 1]],
    ]);
    await control("PUT", `/${name}/snapshots/uploaded`, file);
    expect(await restore()).toEqual([{}, []]);
  });

  it("may lack the webhooks of their deliveries, which are listed nevertheless [interfaces 4]", async () => {
    const name = await createSandbox();
    const edited = (await control("GET", `/${name}/snapshots/now`)).body;
    edited.world.tables.webhooks.records = [];
    expect((await control("PUT", `/${name}/snapshots/edited`, edited)).status).toBe(201);
    expect((await control("POST", `/${name}/snapshots/edited/restore`)).status).toBe(200);
    const { status, body } = await control("GET", `/${name}/deliveries?status=failed`);
    expect(status).toBe(200);
    expect(body.items[0]).toMatchObject({ active: false, inactive_because: "there is no such webhook" });
    const ids = [body.items[0].delivery_id];
    expect((await control("POST", `/${name}/deliveries/redeliver`, { ids })).status).toBe(200);
    expect((await control("GET", `/${name}/deliveries/${ids[0]}`)).status).toBe(200);
  });

  it.each([
    ["webhooks", "deliveries", { status: "success" }],
    ["transcriptions", "sentences", { text: "Corrected." }],
    ["transcriptions", "sentences", { transcription_id: "trans_new" }],
  ])(
    "may lack the %s of their %s, which are changed by %j and deleted nevertheless [interfaces 4]",
    async (parents, children, change) => {
      const name = await createSandbox();
      const edited = (await control("GET", `/${name}/snapshots/now`)).body;
      edited.world.tables[parents].records = [];
      expect((await control("PUT", `/${name}/snapshots/edited`, edited)).status).toBe(201);
      expect((await control("POST", `/${name}/snapshots/edited/restore`)).status).toBe(200);
      await control("POST", `/${name}/state/transcriptions`, { transcription_id: "trans_new" });
      const [record] = (await control("GET", `/${name}/state/${children}?limit=1`)).body.items;
      const path = `/${name}/state/${children}/${record.delivery_id ?? record.id}`;
      expect(await control("PATCH", path, change)).toMatchObject({ status: 200, body: change });
      expect((await control("DELETE", path)).status).toBe(204);
    },
  );

  it("are refused with 409 for a name in use [interfaces 4]", async () => {
    const name = await createSandbox();
    await control("POST", `/${name}/snapshots`, { name: "s" });
    expect((await control("POST", `/${name}/snapshots`, { name: "s" })).status).toBe(409);
  });

  // biome-ignore lint/suspicious/noExplicitAny: documents are broken in every way
  const breakages: [string, string, (document: any) => void][] = [
    ["another format", "format", (d) => (d.format = "har")],
    ["a newer version", "version", (d) => (d.version = 2)],
    ["no version", "version", (d) => delete d.version],
    ["a key too many", "extra", (d) => (d.extra = 1)],
    ["no world", "world", (d) => delete d.world],
    ["an unreadable clock", "world.clock.mode", (d) => (d.world.clock.mode = "stopped")],
    ["an instant beyond the calendar", "world.clock.now", (d) => (d.world.clock.now = 1e18)],
    [
      "a collection that is none",
      "world.tables.depratments",
      (d) => (d.world.tables.depratments = { records: [] }),
    ],
    [
      "a record that is not a record",
      "world.tables.departments.records[0]",
      (d) => (d.world.tables.departments.records[0] = 7),
    ],
    [
      "a record without its id",
      "world.tables.departments.records[0].id",
      (d) => delete d.world.tables.departments.records[0].id,
    ],
    [
      "an id twice",
      "world.tables.departments",
      (d) => d.world.tables.departments.records.push(d.world.tables.departments.records[0]),
    ],
    [
      "a field of the wrong kind",
      "world.tables.departments",
      (d) => (d.world.tables.departments.records[0].member_count = "many"),
    ],
    [
      "an instant as text",
      "world.tables.departments",
      (d) => (d.world.tables.departments.records[0].created_at = EPOCH),
    ],
    ["a field missing", "world.tables.users", (d) => delete d.world.tables.users.records[0].memberships],
    [
      "a timer of no kind",
      "world.tables._timers",
      (d) => d.world.tables._timers.records.push({ id: "x/y", kind: "x", subject: "y", due: 1 }),
    ],
  ];

  it.each(breakages)("are refused as an upload with %s [interfaces 4]", async (_what, field, breakIt) => {
    const name = await createSandbox({
      fixture: {
        organizations: [{ id: "org_a" }],
        users: [{ id: "usr_a", memberships: { org_a: "owner" } }],
        departments: [{ id: "dept_a" }],
      },
    });
    await control("POST", `/${name}/snapshots`, { name: "s" });
    const document = (await control("GET", `/${name}/snapshots/s`)).body;
    breakIt(document);
    const answer = await control("PUT", `/${name}/snapshots/t`, document);
    expect([answer.status, answer.body.field], answer.text).toEqual([422, field]);
    expect((await control("GET", `/${name}/snapshots`)).body.total).toBe(1);
  });

  it("with a mistyped collection name the nearest one [interfaces 4]", async () => {
    const name = await createSandbox();
    await control("POST", `/${name}/snapshots`, { name: "s" });
    const document = (await control("GET", `/${name}/snapshots/s`)).body;
    document.world.tables.thread = { records: [] };
    const { status, body } = await control("PUT", `/${name}/snapshots/t`, document);
    expect([status, body.field, body.hint]).toEqual([422, "world.tables.thread", "threads"]);
  });

  it("keep their maximum number when several calls arrive at once [interfaces 4]", async () => {
    const name = await createSandbox();
    const sandbox = api.understudy.sandboxes.get(name)!;
    for (let i = 1; i < 1000; i += 1) sandbox.saveSnapshot(`s${i}`);
    const file = (await control("GET", `/${name}/snapshots/s1`)).body;
    const send = async (method: string, path: string, body: unknown) => {
      const url = `${api.url}/_control/sandboxes/${name}/snapshots${path}`;
      const headers = { "content-type": "application/json" };
      const request = new Request(url, { method, headers, body: JSON.stringify(body) });
      return (await api.understudy.fetch(request)).status;
    };
    const saved = await Promise.all(["a", "b"].map((one) => send("POST", "", { name: one })));
    expect(saved.sort()).toEqual([201, 409]);
    sandbox.snapshots.delete("s1");
    const uploaded = await Promise.all(["c", "d"].map((one) => send("PUT", `/${one}`, file)));
    expect(uploaded.sort()).toEqual([201, 409]);
    expect(sandbox.snapshots.size).toBe(1000);
    expect(await send("POST", "", { name: "s2" }), "a name in use").toBe(409);
    expect(await send("PUT", "/s2", file), "replaces one").toBe(200);
  });

  it("are refused with a clear message if too new [interfaces 4]", async () => {
    const answer = await control("PUT", "/default/snapshots/t", {
      format: "understudy-snapshot",
      version: 9,
      world: {},
    });
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toMatch(/version 9.*reads up to version 1.*newer/);
  });
});
