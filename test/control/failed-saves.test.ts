import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Api, startReference } from "../support/harness.ts";
import { startCommand } from "../support/run-understudy.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const S = "/_control/sandboxes/default";
const NOT_SAVED = "urn:understudy:problem:not-saved";

let place: string;
let isMounted: boolean;
let warnings: string[];
const open: Api[] = [];

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "understudy-unsaved-"));
  const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", place]);
  isMounted = status === 0;
  if (!isMounted) process.stderr.write(`NO SMALL DISK can be mounted here: ${String(stderr).trim()}\n`);
  warnings = [];
});
afterEach(async () => {
  for (const api of open.splice(0)) await api.close().catch(() => {});
  if (isMounted) spawnSync("umount", [place]);
  rmSync(place, { recursive: true, force: true });
});

async function start(durable: boolean): Promise<Api> {
  const say = (message: string) => void warnings.push(message);
  const log = { warn: say, error: say, info() {} } as never;
  const api = await startReference({ persist: { folder: join(place, "data"), durable }, log });
  open.push(api);
  return api;
}

async function stop(api: Api): Promise<void> {
  open.splice(open.indexOf(api), 1);
  await api.close();
}

const getFillerPath = () => join(place, "filler");

/** Fills the disk except for a few kilobytes. */
function fill(): void {
  const { bavail, bsize } = statfsSync(place);
  writeFileSync(getFillerPath(), Buffer.alloc(Math.max(0, bavail * bsize - 8192)));
}

const create = (api: Api, id: string, size = 20_000) =>
  api.call(undefined, "POST", `${S}/state/departments`, {
    organization_id: "org_acme",
    ...{ id, name: id, parent_id: null, description: "x".repeat(Math.min(size, 9000)) },
  });
const hasDepartment = async (api: Api, id: string) =>
  (await api.call(undefined, "GET", `${S}/state/departments/${id}`)).status === 200;
const readSavingState = async (api: Api) =>
  (await api.call(undefined, "GET", "/_control/health")).body.saving;
const reparent = (api: Api, parent: string | null) =>
  api.call("ben", "POST", "/v1/organizations/org_acme/departments/dept_infra/reparent", {
    new_parent_id: parent,
  });
const getPath = async (api: Api) =>
  (await api.call(undefined, "GET", `${S}/state/departments/dept_infra`)).body.path;

/** Makes changes until one is refused. */
async function createUntilRefused(
  api: Api,
): Promise<{ id: string; answer: Awaited<ReturnType<typeof create>> }> {
  for (let i = 0; i < 50; i++) {
    const answer = await create(api, `dept_fill${i}`);
    if (answer.status !== 201) return { id: `dept_fill${i}`, answer };
  }
  throw new Error("nothing was refused");
}

describe("a change that cannot be saved", () => {
  it("is undone and answered 507 with --durable, and accepted once there is room [interfaces 2]", async (test) => {
    if (!isMounted) return test.skip("no separate file system could be mounted");
    const api = await start(true);
    expect((await create(api, "dept_before")).status).toBe(201);
    fill();
    const { id, answer } = await createUntilRefused(api);
    expect(answer.status).toBe(507);
    expect(answer.headers.get("content-type")).toContain("application/problem+json");
    expect(answer.body).toMatchObject({ type: NOT_SAVED, status: 507 });
    expect(await hasDepartment(api, id)).toBe(false);
    expect(await hasDepartment(api, "dept_before")).toBe(true);
    // The history contains the change and that it was undone (interfaces 10).
    const [undoing, undone] = (await api.call(undefined, "GET", `${S}/history`)).body.entries;
    expect(undoing).toMatchObject({ kind: "restore", title: "Changes that could not be saved were undone." });
    expect(undone).toMatchObject({ kind: "control", subject: id, undone: true });
    // A sandbox that could not be saved does not exist.
    const made = await api.call(undefined, "POST", "/_control/sandboxes", { name: "made" });
    expect(made.status).toBe(507);
    expect((await api.call(undefined, "GET", "/_control/sandboxes/made")).status).toBe(404);
    rmSync(getFillerPath());
    expect((await create(api, "dept_after")).status).toBe(201);
    await expect.poll(() => readSavingState(api)).toEqual({ state: "ok" });
    await stop(api);
    const again = await start(true);
    expect([
      await hasDepartment(again, "dept_before"),
      await hasDepartment(again, "dept_after"),
      await hasDepartment(again, id),
    ]).toEqual([true, true, false]);
  });

  it("stops neither the sandbox default nor the end of a server with --durable and a full disk [interfaces 2]", async (test) => {
    if (!isMounted) return test.skip("no separate file system could be mounted");
    const api = await start(true);
    fill();
    const { id, answer } = await createUntilRefused(api);
    expect(answer.status).toBe(507);
    expect([await hasDepartment(api, id), await hasDepartment(api, "dept_infra")]).toEqual([false, true]);
    rmSync(getFillerPath());
    expect((await create(api, "dept_after")).status).toBe(201);
    fill();
    expect((await api.call(undefined, "POST", "/_control/sandboxes", { name: "made" })).status).toBe(507);
    // The refused changes were undone, so nothing is lost at the end; only the engine's copy does not fit.
    await expect(stop(api)).rejects.toThrow("Everything is saved, but the copy");
    rmSync(getFillerPath());
    expect(await hasDepartment(await start(true), "dept_after")).toBe(true);
  });

  it("keeps what has arrived of an upload on a full disk, says so, and names the folder [G13]", async (test) => {
    if (!isMounted) return test.skip("no separate file system could be mounted");
    const api = await start(false);
    const announced = { filename: "a.bin", file_size: 6_000_000, mime_type: "application/octet-stream" };
    const upload = await api.call("dan", "POST", "/v1/organizations/org_acme/files/upload-url", announced);
    const { pathname, search } = new URL(upload.body.upload_url);
    const put = (body: Buffer | undefined, range: string) =>
      api.call("dan", "PUT", pathname + search, body, { "content-range": range });
    const bytes = Buffer.alloc(6_000_000, "y");
    const refused = await put(bytes, "bytes 0-5999999/6000000");
    expect(refused.status).toBe(507);
    expect(refused.body.detail).toBe(
      `There is no room left for ${join(place, "data", "uploads")} (ENOSPC). Free some space and repeat the request; an upload URL continues after the bytes that have arrived.`,
    );
    const asked = await put(undefined, "bytes */6000000");
    expect(asked.status).toBe(308);
    expect(asked.headers.get("range")).toMatch(/^bytes=0-[1-9]\d{5,}$/);
    // An uploaded snapshot with bytes needs disk space too.
    await api.call(undefined, "POST", `${S}/snapshots`, { name: "half" });
    const snapshot = await api.call(undefined, "GET", `${S}/snapshots/half`);
    const again = await api.call(undefined, "PUT", `${S}/snapshots/other`, snapshot.body);
    expect([again.status, again.body.type]).toEqual([507, NOT_SAVED]);
  });

  it("is announced at the start with --durable [interfaces 2]", async (test) => {
    if (!isMounted) return test.skip("no separate file system could be mounted");
    writeFileSync(getFillerPath(), Buffer.alloc(statfsSync(place).bavail * statfsSync(place).bsize));
    const { code, stdout, stderr } = await startCommand([
      ...["start", "--port", "0", "--persist", join(place, "data"), "--durable"],
    ]).finished;
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^understudy: .*(no room left|disk is full).*\n$/);
  });

  it("is undone with --durable for an emulated request too, and not blamed on the service [interfaces 2]", async () => {
    const api = await start(true);
    expect((await reparent(api, "dept_ops")).status).toBe(200);
    const path = await getPath(api);
    renameSync(join(place, "data"), join(place, "elsewhere"));
    const refused = await reparent(api, null);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("x-sandbox-decision")).toBe("store");
    expect(refused.body).toMatchObject({ type: NOT_SAVED });
    expect(await getPath(api)).toBe(path);
    // Reading still works: it is not refused, although its count is not saved.
    expect((await api.call("dan", "GET", "/v1/models")).status).toBe(200);
    renameSync(join(place, "elsewhere"), join(place, "data"));
    expect((await reparent(api, null)).status).toBe(200);
    await stop(api);
    expect(await getPath(await start(true))).toBe("dept_infra");
  });

  it("is undone if it is a deletion, which restores the sandbox [interfaces 2]", async () => {
    const api = await start(true);
    await api.call(undefined, "POST", "/_control/sandboxes", { name: "other", seed: 5, origin: true });
    const { origin } = (await api.call(undefined, "GET", "/_control/sandboxes/other")).body;
    const health = `${origin}/_control/health`;
    renameSync(join(place, "data"), join(place, "elsewhere"));
    const deleted = api.call(undefined, "DELETE", "/_control/sandboxes/other");
    expect((await deleted).status).toBe(503);
    expect((await api.call(undefined, "GET", "/_control/sandboxes/other")).body.seed).toBe(5);
    expect((await fetch(health)).status).toBe(200);
    renameSync(join(place, "elsewhere"), join(place, "data"));
    expect((await api.call(undefined, "DELETE", "/_control/sandboxes/other")).status).toBe(204);
    await expect(fetch(health)).rejects.toThrow("fetch failed");
  });

  it("is reported once without --durable, shown in health, and saved once there is room [interfaces 2]", async (test) => {
    if (!isMounted) return test.skip("no separate file system could be mounted");
    const api = await start(false);
    await expect.poll(() => existsSync(join(place, "data/understudy.db"))).toBe(true);
    fill();
    for (let i = 0; i < 12; i++) expect((await create(api, `dept_n${i}`)).status).toBe(201);
    await expect.poll(() => readSavingState(api)).toMatchObject({ state: "failing" });
    expect((await readSavingState(api)).reason).toContain("no room left");
    expect(warnings.filter((one) => one.startsWith("Changes cannot be saved"))).toHaveLength(1);
    rmSync(getFillerPath());
    await expect.poll(() => readSavingState(api)).toEqual({ state: "ok" });
    expect(warnings.filter((one) => one === "Everything is saved again.")).toHaveLength(1);
    await stop(api);
    const again = await start(false);
    for (let i = 0; i < 12; i++) expect(await hasDepartment(again, `dept_n${i}`)).toBe(true);
  });

  it("makes the server report an error at its end if the last save fails [interfaces 2]", async (test) => {
    if (!isMounted) return test.skip("no separate file system could be mounted");
    const api = await start(false);
    await expect.poll(() => existsSync(join(place, "data/understudy.db"))).toBe(true);
    fill();
    for (let i = 0; i < 12; i++) await create(api, `dept_n${i}`);
    await expect(stop(api)).rejects.toThrow("The last changes could not be saved: there is no room left");
  });
});

describe("the content of a store", () => {
  /** Runs in its own process, since the engine closes a file only when its process ends. */
  const update = (sql: string, ...values: string[]) => {
    const program = `const [file, sql, ...values] = process.argv.slice(1);
      new (require("libsql"))(file).prepare(sql).run(...values);`;
    const { status, stderr } = spawnSync(process.execPath, [
      ...["-e", program, join(place, "data/understudy.db"), sql],
      ...values,
    ]);
    if (status !== 0) throw new Error(String(stderr));
  };
  const put = "INSERT OR REPLACE INTO rows (sandbox, section, id, text) VALUES ('other', ?, ?, ?)";

  it.each([
    ["an unknown collection", ["records/planets", "p1", "{}"], "records/planets is unknown to this server"],
    [
      "an unknown kind of timer",
      ["records/_timers", "x/y", '{"id":"x/y","kind":"x","subject":"y","due":5}'],
      "x/y",
    ],
    [
      "a timer after the year 9999",
      [
        "records/_timers",
        "expiry/y",
        '{"id":"expiry/y","kind":"expiry","subject":"y","due":9000000000000000}',
      ],
      "expiry/y is due outside the years 1 to 9999",
    ],
    ["a record of a wrong shape", ["records/departments", "dept_x", '{"id":"dept_x","name":5}'], "dept_x"],
    ["a wrong internal record", ["records/_refresh_tokens", "rtok_x", '{"id":"rtok_x"}'], "rtok_x"],
    ["text that is not JSON", ["world", "facts", "{"], "world/facts is not JSON"],
    ["no clock", ["world", "facts", "{}"], "is required"],
    [
      "a rule that there is not",
      [
        "sandbox",
        "faults",
        '{"first":[],"active":[],"inline":[{"id":"a","rule":{}}],"progress":{},"numbered":0}',
      ],
      "the rule needs an",
    ],
  ])(
    "is set aside for one sandbox with %s, by name, and the server starts [interfaces 2]",
    async (_, row, why) => {
      const first = await start(false);
      await first.call(undefined, "POST", "/_control/sandboxes", {
        name: "other",
        clock: { mode: "frozen" },
      });
      await create(first, "dept_kept");
      await stop(first);
      update(put, ...(row as string[]));
      const second = await start(false);
      expect((await second.call(undefined, "GET", "/_control/sandboxes/other")).status).toBe(404);
      expect(await hasDepartment(second, "dept_kept")).toBe(true);
      const [warning] = warnings.filter((one) => one.startsWith("Sandbox other could not be loaded"));
      expect(warning).toContain(why);
      const [file] = readdirSync(join(place, "data/set-aside"));
      expect(warning).toContain(`set-aside/${file}`);
      expect(
        JSON.parse(readFileSync(join(place, "data/set-aside", file!), "utf8")).sandbox.about,
      ).toBeDefined();
      await stop(second);
      warnings = [];
      await start(false);
      expect(warnings).toEqual([]);
    },
  );

  it.each([
    ["_timers", { id: "x/y", kind: "x", subject: "y", due: 5 }],
    ["_timers", { id: "expiry/y", kind: "expiry", subject: "y", due: 9_000_000_000_000_000 }],
    ["_refresh_tokens", { id: "rtok_x" }],
    ["_outgoing", { id: "att_1", kind: "first", webhook_id: 5 }],
    ["_receivers", { id: "rcv_1", answers: "200" }],
    ["departments", { id: "dept_x", name: 5 }],
  ])(
    "is refused with 422 in an uploaded snapshot whose %s contain %o [interfaces 4]",
    async (collection, record) => {
      const api = await start(false);
      await api.call(undefined, "POST", `${S}/snapshots`, { name: "one" });
      const { body } = await api.call(undefined, "GET", `${S}/snapshots/one`);
      body.world.tables[collection] = { records: [record] };
      const answer = await api.call(undefined, "PUT", `${S}/snapshots/two`, body);
      expect(answer.status).toBe(422);
      expect(answer.body.field).toContain(collection);
      expect((await api.call(undefined, "GET", `${S}/snapshots/two`)).status).toBe(404);
    },
  );
});
