import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { waitUntil } from "../support/eventually.ts";
import { type Api, startReference } from "../support/harness.ts";
import { announce, chunk, expectInvalid, probe, put } from "../support/upload-setup.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let folder: string;
const open: Api[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "understudy-persist-"));
});
afterEach(async () => {
  for (const api of open.splice(0)) await api.close();
  rmSync(folder, { recursive: true, force: true });
});

async function start(durable = false): Promise<Api> {
  const api = await startReference({ persist: { folder, durable } });
  open.push(api);
  return api;
}

async function stop(api: Api): Promise<void> {
  open.splice(open.indexOf(api), 1);
  await api.close();
}

const move = (api: Api, parent: string | null) =>
  api.call("ben", "POST", "/v1/organizations/org_acme/departments/dept_infra/reparent", {
    new_parent_id: parent,
  });

async function getInfraPath(api: Api): Promise<string> {
  const { body } = await api.call(
    undefined,
    "GET",
    "/_control/sandboxes/default/state/departments/dept_infra",
  );
  return body.path;
}

const getDatabasePath = () => join(folder, "understudy.db");

describe("a world saved with --persist", () => {
  it("restarts a complete upload whose bytes are lost, and registers no file without them [G13]", async () => {
    const first = await start();
    const { announced, upload_url, gcs_path } = await announce(first, { file_size: 4 });
    expect((await put(upload_url, "text")).status).toBe(200);
    await stop(first);
    for (const file of readdirSync(join(folder, "uploads"))) rmSync(join(folder, "uploads", file));
    const second = await start();
    const register = () =>
      second.call("dan", "POST", "/v1/organizations/org_acme/files", { ...announced, gcs_path });
    expectInvalid(await register(), "gcs_path");
    const url = upload_url.replace(first.url, second.url);
    expect(await probe(url)).toMatchObject({ status: 308, range: null });
    expect((await chunk(url, "te", 0, 4)).range).toBe("bytes=0-1");
    expect((await chunk(url, "xt", 2, 4)).status).toBe(200);
    expect((await register()).status).toBe(201);
  });

  it("continues after a restart with an imported upload that has no bytes yet [interfaces 2]", async () => {
    const api = await start();
    const { upload_url } = await announce(api);
    expect((await fetch(upload_url, { method: "PUT", body: "" })).status).toBe(308);
    const snapshots = "/_control/sandboxes/default/snapshots";
    await api.call(undefined, "POST", snapshots, { name: "empty" });
    const document = (await api.call(undefined, "GET", `${snapshots}/empty`)).body;
    expect(await api.call(undefined, "PUT", `${snapshots}/back`, document)).toMatchObject({ status: 201 });
    await api.call(undefined, "POST", `${snapshots}/back/restore`);
    const { total } = (await api.call(undefined, "GET", snapshots)).body;
    await stop(api);
    const again = await start();
    expect((await again.call(undefined, "GET", snapshots)).body).toMatchObject({ total });
    expect(await probe(upload_url.replace(api.url, again.url))).toMatchObject({ status: 308, range: null });
  });

  it("continues after a restart: data, clock, timers, tokens, snapshots, sandboxes [interfaces 2]", async () => {
    const first = await start();
    await move(first, "dept_ops");
    const { body: token } = await first.call("dan", "POST", "/v1/auth/token");
    await first.call(undefined, "POST", "/_control/sandboxes/default/snapshots", { name: "moved" });
    await first.call(undefined, "POST", "/_control/sandboxes", {
      name: "other",
      seed: 9,
      clock: { mode: "frozen", now: "2030-01-01T00:00:00Z" },
    });
    await first.call(undefined, "POST", "/_control/sandboxes/default/clock/advance", { by: "5s" });
    await move(first, null);
    const { body: pending } = await first.call(undefined, "GET", "/_control/sandboxes/default/clock/pending");
    await stop(first);

    const second = await start();
    expect(await getInfraPath(second)).toBe("dept_infra");
    const clock = await second.call(undefined, "GET", "/_control/sandboxes/default/clock");
    expect(clock.body).toMatchObject({ mode: "frozen", now: "2026-03-15T12:00:05.000Z" });
    expect((await second.call(undefined, "GET", "/_control/sandboxes/default/clock/pending")).body).toEqual(
      pending,
    );
    expect(pending.length).toBeGreaterThan(0);
    const authorized = await second.call(undefined, "GET", "/v1/models", undefined, {
      authorization: `Bearer ${token.access_token}`,
    });
    expect(authorized.status).toBe(200);
    const other = await second.call(undefined, "GET", "/_control/sandboxes/other");
    expect(other.body).toMatchObject({ seed: 9, clock: { mode: "frozen", now: "2030-01-01T00:00:00.000Z" } });
    await second.call(undefined, "POST", "/_control/sandboxes/default/snapshots/moved/restore");
    expect(await getInfraPath(second)).toBe("dept_acme/dept_ops/dept_infra");
  });

  it("lists sandboxes in the order of their creation after a restart [interfaces 4]", async () => {
    const list = async (api: Api) => {
      const { items } = (await api.call(undefined, "GET", "/_control/sandboxes")).body;
      return (items as { name: string }[]).map(({ name }) => name);
    };
    const first = await start();
    const created = ["zeta", "alpha", "middle", "beta", "aleph", "gamma"];
    // All are created at the same time.
    for (const name of created) first.understudy.sandboxes.create({ name });
    const names = ["default", ...created];
    expect(await list(first)).toEqual(names);
    await stop(first);
    const second = await start();
    expect(await list(second)).toEqual(names);
    await second.call(undefined, "POST", "/_control/sandboxes", { name: "another" });
    expect(await list(second)).toEqual([...names, "another"]);
  });

  it("continues after a restart with leases that reach beyond the year 9999 [interfaces 6]", async () => {
    const first = await start();
    const sandbox = "/_control/sandboxes/default";
    const arm = { id: "long", effect: { status: 503 }, lease: { ttl: "9000000d" } };
    const armed = await first.call(undefined, "POST", `${sandbox}/faults`, arm);
    expect(armed.body.lease.ends_at).toBe("9999-12-31T23:59:59.999Z");
    await first.call(undefined, "POST", `${sandbox}/snapshots`, { name: "now" });
    await first.call(undefined, "POST", `${sandbox}/clock/advance`, { to: "9000-01-01T00:00:00Z" });
    await first.call(undefined, "POST", `${sandbox}/snapshots`, { name: "late" });
    await first.call(undefined, "POST", `${sandbox}/snapshots/now/restore`);
    await first.call(undefined, "POST", `${sandbox}/faults`, { ...arm, id: "later" });
    await first.call(undefined, "POST", `${sandbox}/snapshots/late/restore`);
    const { body: rules } = await first.call(undefined, "GET", `${sandbox}/faults`);
    await stop(first);

    const second = await start();
    expect((await second.call(undefined, "GET", `${sandbox}/faults`)).body).toEqual(rules);
    const { body: clock } = await second.call(undefined, "GET", `${sandbox}/clock`);
    expect(clock.now).toBe("9000-01-01T00:00:00.000Z");
  });

  it("continues after a restart with an upload that would expire after the year 9999 [interfaces 2]", async () => {
    const first = await start();
    const late = "9999-12-30T00:00:00.000Z";
    await first.call(undefined, "POST", "/_control/sandboxes/default/clock/advance", { to: late });
    const upload = { filename: "a.txt", file_size: 5, mime_type: "text/plain" };
    const { body } = await first.call("ada", "POST", "/v1/organizations/org_acme/files/upload-url", upload);
    expect(body.expires_at).toBe("9999-12-31T23:59:59.999Z");
    expect((await first.call("ada", "POST", "/v1/auth/token")).status).toBe(200);
    await stop(first);

    const { body: clock } = await (await start()).call(undefined, "GET", "/_control/sandboxes/default/clock");
    expect(clock.now).toBe(late);
  });

  it.each(["0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"])(
    "continues after a restart or upload with a clock at %s, beyond which lie records [interfaces 4]",
    async (now) => {
      const first = await start();
      const clock = { mode: "frozen", now };
      await first.call(undefined, "POST", "/_control/sandboxes", { name: "edge", clock });
      const sandbox = "/_control/sandboxes/edge";
      const user = `${sandbox}/state/users/usr_dan`;
      const { body: changed } = await first.call(undefined, "PATCH", user, { name: "Daniel" });
      expect(changed.created_at.slice(0, 4)).toBe(now.slice(0, 4));
      await first.call(undefined, "POST", `${sandbox}/snapshots`, { name: "first" });
      const { body: snapshot } = await first.call(undefined, "GET", `${sandbox}/snapshots/first`);
      expect((await first.call(undefined, "PUT", `${sandbox}/snapshots/second`, snapshot)).status).toBe(201);
      const exported = await fetch(`${first.url}${sandbox}/export`, { method: "POST" });
      const file = Buffer.from(await exported.arrayBuffer()).toString("base64");
      const opened = await first.call(undefined, "POST", "/_control/open", { file, name: "opened" });
      expect([opened.status, opened.body.clock?.now]).toEqual([201, now]);
      await stop(first);

      const second = await start();
      expect((await second.call(undefined, "GET", user)).body).toEqual(changed);
      const { body: list } = await second.call(undefined, "GET", `${sandbox}/snapshots`);
      expect(list.total).toBe(2);
    },
  );

  it("still names a fork's origin after a restart [interfaces 2]", async () => {
    const list = async (api: Api) =>
      Object.fromEntries(
        (await api.call(undefined, "GET", "/_control/sandboxes?forks=true")).body.items.map(
          ({ name, forked_from }: { name: string; forked_from: string | null }) => [name, forked_from],
        ),
      );
    const first = await start();
    await first.call(undefined, "POST", "/_control/sandboxes/default/fork", { name: "branch" });
    expect(await list(first)).toEqual({ default: null, branch: "default" });
    const { body } = await first.call(undefined, "GET", "/_control/sandboxes");
    expect(body.items[1]).not.toHaveProperty("forked_from");
    await stop(first);
    expect(await list(await start())).toEqual({ default: null, branch: "default" });
  });

  it("does not contain a deleted sandbox [interfaces 2]", async () => {
    const first = await start();
    await first.call(undefined, "POST", "/_control/sandboxes", { name: "gone" });
    await first.call(undefined, "DELETE", "/_control/sandboxes/gone");
    await stop(first);
    const second = await start();
    expect((await second.call(undefined, "GET", "/_control/sandboxes/gone")).status).toBe(404);
  });

  it("cannot be used by a second server, whose message names the first [interfaces 2]", async () => {
    await start();
    await expect(startReference({ persist: { folder, durable: false } })).rejects.toThrow(
      `in use by process ${process.pid};`,
    );
    // The file as another machine writes it that shares the folder.
    writeFileSync(join(folder, "in-use-by.json"), JSON.stringify({ pid: 7, host: "elsewhere" }));
    await expect(startReference({ persist: { folder, durable: false } })).rejects.toThrow(
      "in use by process 7 on elsewhere;",
    );
  });

  it("is refused with one sentence if a file is unreadable, and the file stays [interfaces 2]", async () => {
    mkdirSync(getDatabasePath(), { recursive: true });
    await expect(startReference({ persist: { folder, durable: false } })).rejects.toThrow(
      /^--persist: .*\.$/,
    );
    expect(statSync(getDatabasePath()).isDirectory()).toBe(true);
  });

  it.each([
    ["empty", () => truncateSync(getDatabasePath(), 0)],
    ["cut short", () => truncateSync(getDatabasePath(), Math.floor(statSync(getDatabasePath()).size / 2))],
    ["cut by its last byte", () => truncateSync(getDatabasePath(), statSync(getDatabasePath()).size - 1)],
    [
      "filled with NUL",
      () => writeFileSync(getDatabasePath(), Buffer.alloc(statSync(getDatabasePath()).size)),
    ],
  ])(
    "is restored from the previous copy if a file is %s, and the bad one is kept [interfaces 2]",
    async (_, damage) => {
      const first = await start(true);
      await move(first, "dept_ops");
      await first.call(undefined, "POST", "/_control/sandboxes/default/snapshots", { name: "a" });
      await move(first, "dept_ml");
      await stop(first);
      damage();
      const second = await start();
      expect(await getInfraPath(second)).toBe("dept_acme/dept_eng/dept_ml/dept_infra");
      expect(readdirSync(folder).some((name) => name.startsWith("understudy.db.damaged"))).toBe(true);
    },
  );

  it("is refused and unchanged if its file is of a newer version [interfaces 2]", async () => {
    const first = await start();
    await stop(first);
    const bytes = readFileSync(getDatabasePath());
    bytes.writeUInt32BE(99, 60);
    writeFileSync(getDatabasePath(), bytes);
    const before = readFiles(folder);
    await expect(startReference({ persist: { folder, durable: false } })).rejects.toThrow(
      "newer Understudy (format 99",
    );
    expect(readFiles(folder)).toEqual(before);
  });

  it("has every acknowledged change after kill -9 with --durable [interfaces 2]", async () => {
    for (let round = 0; round < 3; round++) {
      const acknowledged = await writeUntilKilled(folder);
      expect(acknowledged.length).toBeGreaterThan(0);
      const api = await start(true);
      const { body } = await api.call(
        undefined,
        "GET",
        "/_control/sandboxes/default/state/departments?limit=1000",
      );
      const ids = new Set(body.items.map(({ id }: { id: string }) => id));
      for (const id of acknowledged) expect(ids, `round ${round} lost ${id}`).toContain(id);
      await stop(api);
    }
  });
});

/** Reads all files of a folder, by name. */
const readFiles = (place: string) =>
  Object.fromEntries(
    readdirSync(place, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [name, readFileSync(join(parentPath, name)).toString("base64")]),
  );

/** Runs a server in its own process, creates departments as fast as it responds, and kills it. */
async function writeUntilKilled(persist: string): Promise<string[]> {
  const ready = join(persist, "..", `ready-${process.pid}-${Math.floor(performance.now())}.json`);
  const child = spawn(
    process.execPath,
    [
      "bin/understudy.js",
      "start",
      "--port",
      "0",
      "--persist",
      persist,
      "--durable",
      "--quiet",
      "--no-watch",
      "--ready-file",
      ready,
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  let failure = "";
  child.stderr.on("data", (chunk) => (failure += chunk));
  await waitUntil(() => existsSync(ready) || child.exitCode !== null);
  if (child.exitCode !== null) throw new Error(`the server ended: ${failure}`);
  const { url } = JSON.parse(readFileSync(ready, "utf8"));
  rmSync(ready);
  const acknowledged: string[] = [];
  const writer = (async () => {
    for (;;) {
      const response = await fetch(`${url}/_control/sandboxes/default/state/departments`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ organization_id: "org_acme", name: "Kept", parent_id: null }),
      });
      acknowledged.push(((await response.json()) as { id: string }).id);
    }
  })().catch(() => {});
  // Kill it while it is writing, however fast the machine is.
  await waitUntil(() => acknowledged.length >= 50);
  const died = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await Promise.all([died, writer]);
  return acknowledged;
}
