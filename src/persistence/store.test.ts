import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { hasRedis, NO_REDIS, TestRedis } from "../../test/support/redis.ts";
import { DocumentStore } from "./document-store.ts";
import { RedisStore } from "./redis-store.ts";
import { SqliteStore } from "./sqlite-store.ts";
import type { Change, Row, Store } from "./store.ts";

let folder: string;
let warnings: string[];
const open: Store[] = [];
const say = (warning: string) => void warnings.push(warning);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "understudy-store-"));
  warnings = [];
});
afterEach(async () => {
  for (const store of open.splice(0)) await store.close().catch(() => {});
  rmSync(folder, { recursive: true, force: true });
  if (hasRedis) await redis.ask("FLUSHALL");
});

/** Every way to keep sandboxes in files, with the file in which it keeps them. */
const FILES = [
  {
    name: "SQLite, --persist DIR",
    open: (place = folder) => SqliteStore.open(place, say),
    file: (place = folder) => join(place, "understudy.db"),
    version: (file: string, version: number) => {
      const bytes = readFileSync(file);
      bytes.writeUInt32BE(version, 60);
      writeFileSync(file, bytes);
    },
  },
  {
    name: "lowdb, --persist FILE.json",
    open: (place = folder) => DocumentStore.open(join(place, "worlds.json"), say),
    file: (place = folder) => join(place, "worlds.json"),
    version: (file: string, version: number) =>
      writeFileSync(file, readFileSync(file, "utf8").replace('"version": 2', `"version": ${version}`)),
  },
] as const;

let redis: TestRedis;
beforeAll(async () => {
  if (hasRedis) redis = await TestRedis.start("--requirepass", "s3cret");
});
afterAll(() => redis?.remove());

/** A node that owns whatever is there, as a server that keeps files does. */
async function openRedis(): Promise<RedisStore> {
  const owner = { session: randomUUID(), url: "http://127.0.0.1:1" };
  const store = await RedisStore.open(redis.url, owner, say);
  for (const name of await store.list()) await store.claim(name, (await store.leaseOf(name))!);
  return store;
}

/** Every way to keep sandboxes. */
const ADAPTERS = [
  ...FILES,
  {
    name: "Redis, --store",
    open: openRedis,
    version: (_: string, version: number) => redis.ask("SET", "understudy:format", String(version)),
    file: () => "",
  },
];

/** Tests of what needs a machine's Redis say so where there is none. */
function needs(adapter: { name: string }, skip: (reason: string) => void): boolean {
  if (adapter.name.startsWith("Redis") && !hasRedis) skip(NO_REDIS);
  return true;
}

async function* pieces(...all: (readonly Change[])[]): AsyncGenerator<readonly Change[]> {
  yield* all;
}

const put = (sandbox: string, section: string, id: string, value: unknown): Change => ({
  sandbox,
  section,
  id,
  text: JSON.stringify(value),
});

const sorted = (rows: readonly Row[]) =>
  [...rows].sort((a, b) => (`${a.section}\0${a.id}` < `${b.section}\0${b.id}` ? -1 : 1));

describe.each(ADAPTERS)("interfaces 2 a store ($name)", (adapter) => {
  beforeEach(({ skip }) => {
    needs(adapter, skip);
  });
  const start = async () => {
    const store = await adapter.open();
    open.push(store);
    return store;
  };
  const restart = async (store: Store) => {
    open.splice(open.indexOf(store), 1);
    await store.close();
    return start();
  };

  it("interfaces 2 begins empty, and gives back what was committed, also after a restart", async () => {
    const store = await start();
    expect(await store.list()).toEqual([]);
    expect(await store.load("default")).toEqual([]);
    await store.commit(
      pieces(
        [put("default", "world", "facts", { draws: 1 }), put("ci-42", "sandbox", "about", { seed: 7 })],
        [put("default", "records/departments", "dept_a", { id: "dept_a", name: 'ä "q" \n\u2028 / 𝄞' })],
        [put("default", "records/_timers", "webhook.retry/dl_1", { due: 5 })],
        [put("default", "snapshots/before/records/departments", "dept_b", null)],
        [put("default", "snapshots/before/world", "facts", [1, 2])],
      ),
    );
    const rows = sorted(await store.load("default"));
    expect(rows).toHaveLength(5);
    const again = await restart(store);
    expect(await again.list()).toEqual(["ci-42", "default"]);
    const read = sorted(await again.load("default"));
    expect(read.map(({ section, id, text }) => [section, id, JSON.parse(text)])).toEqual(
      rows.map(({ section, id, text }) => [section, id, JSON.parse(text)]),
    );
    expect(warnings).toEqual([]);
  });

  it("interfaces 2 applies changes in their order: put, put again, remove, clear, put", async () => {
    const store = await start();
    await store.commit(
      pieces([
        put("a", "world", "x", 1),
        put("a", "world", "x", 2),
        put("a", "world", "gone", 3),
        { sandbox: "a", section: "world", id: "gone", text: null },
        put("b", "world", "x", 1),
        put("b", "snapshots/one/world", "facts", 1),
        put("b", "snapshots/one-more/world", "facts", 2),
        { sandbox: "b", clear: "snapshots/one/" },
        put("c", "world", "x", 1),
        { sandbox: "c", clear: "" },
        put("c", "world", "y", 2),
        put("d", "world", "x", 1),
      ]),
    );
    await store.commit(pieces([{ sandbox: "d", clear: "" }]));
    const again = await restart(store);
    expect(await again.list()).toEqual(["a", "b", "c"]);
    expect(await again.load("a")).toEqual([{ section: "world", id: "x", text: "2" }]);
    expect(sorted(await again.load("b")).map(({ section }) => section)).toEqual([
      "snapshots/one-more/world",
      "world",
    ]);
    expect(await again.load("c")).toEqual([{ section: "world", id: "y", text: "2" }]);
  });

  it("interfaces 2 a commit that fails on its way leaves nothing of itself, and the next one goes through", async () => {
    const store = await start();
    await store.commit(pieces([put("a", "world", "x", 1)]));
    const failing = async function* (): AsyncGenerator<readonly Change[]> {
      yield [put("a", "world", "x", 2)];
      yield [put("a", "world", "y", 2), { sandbox: "a", clear: "" }];
      throw new Error("out of ideas");
    };
    await expect(store.commit(failing())).rejects.toThrow();
    expect(await store.load("a")).toEqual([{ section: "world", id: "x", text: "1" }]);
    await store.commit(pieces([put("a", "world", "z", 3)]));
    const again = await restart(store);
    expect((await again.load("a")).map(({ id }) => id).sort()).toEqual(["x", "z"]);
  });

  it("interfaces 2 commits that are made at once are all kept, each whole", async () => {
    const store = await start();
    const commits = Array.from({ length: 20 }, (_, i) =>
      store.commit(pieces([put("a", "world", "last", i)], [put("a", "records/n", `n${i}`, i)])),
    );
    await Promise.all(commits);
    const again = await restart(store);
    const rows = await again.load("a");
    expect(rows).toHaveLength(21);
    expect(rows.find(({ id }) => id === "last")?.text).toBe("19");
  });

  it("interfaces 2 20,000 records go in and come out", async () => {
    const store = await start();
    const many = async function* () {
      for (let from = 0; from < 20_000; from += 500) {
        yield Array.from({ length: 500 }, (_, i) => put("a", "records/n", `n${from + i}`, { n: from + i }));
      }
    };
    await store.commit(many());
    const again = await restart(store);
    const rows = await again.load("a");
    expect(rows).toHaveLength(20_000);
    expect(rows.every(({ id, text }) => id === `n${JSON.parse(text).n}`)).toBe(true);
  });

  it("interfaces 2 a newer format is refused in one sentence", async () => {
    const store = await start();
    await store.commit(pieces([put("a", "world", "x", 1)]));
    open.splice(0);
    await store.close();
    await adapter.version(adapter.file(), 99);
    await expect(adapter.open()).rejects.toThrow(
      "written by a newer Understudy (format 99, this one knows 2)",
    );
  });
});

describe.each(FILES)("interfaces 2 a store in files ($name)", (adapter) => {
  const start = async () => {
    const store = await adapter.open();
    open.push(store);
    return store;
  };
  const restart = async (store: Store) => {
    open.splice(open.indexOf(store), 1);
    await store.close();
    return start();
  };

  it("interfaces 2 a second server is refused in one sentence, and the first goes on", async () => {
    const store = await start();
    await store.commit(pieces([put("a", "world", "x", 1)]));
    await expect(adapter.open()).rejects.toThrow(/^\S+ is in use by .*; stop that server, or choose another/);
    await store.commit(pieces([put("a", "world", "x", 2)]));
    const again = await restart(store);
    expect((await again.load("a"))[0]?.text).toBe("2");
  });

  it("interfaces 2 what a process that was killed held is free at once, whoever has its number now", async () => {
    const killed = spawnSync(process.execPath, [
      "-e",
      `const D = require("libsql"); const db = new D(process.argv[1]); db.pragma("locking_mode = EXCLUSIVE");
       db.exec("BEGIN EXCLUSIVE"); process.kill(process.pid, "SIGKILL");`,
      adapter.file().endsWith(".json") ? `${adapter.file()}.lock` : adapter.file(),
    ]);
    expect(killed.signal).toBe("SIGKILL");
    // As another container with the same process ids would have left it.
    writeFileSync(join(folder, "in-use-by.json"), JSON.stringify({ pid: process.pid, host: "elsewhere" }));
    const store = await start();
    await store.commit(pieces([put("a", "world", "x", 1)]));
    expect(await store.list()).toEqual(["a"]);
  });

  it("interfaces 2 a newer format is refused, and not a byte is touched", async () => {
    const store = await start();
    await store.commit(pieces([put("a", "world", "x", 1)]));
    open.splice(0);
    await store.close();
    adapter.version(adapter.file(), 99);
    const before = readFileSync(adapter.file());
    const { mtimeMs } = statSync(adapter.file());
    await expect(adapter.open()).rejects.toThrow(
      "written by a newer Understudy (format 99, this one knows 2)",
    );
    expect(readFileSync(adapter.file()).equals(before)).toBe(true);
    expect(statSync(adapter.file()).mtimeMs).toBe(mtimeMs);
  });

  it.each([
    ["emptied", (file: string) => truncateSync(file, 0)],
    ["filled with NUL", (file: string) => writeFileSync(file, Buffer.alloc(statSync(file).size))],
    ["cut by half", (file: string) => truncateSync(file, Math.floor(statSync(file).size / 2))],
    ["cut by a page", (file: string) => truncateSync(file, Math.max(10, statSync(file).size - 4096))],
  ])(
    "quality 2.7 a file that was %s: the previous good copy is used, the bad one kept",
    async (_, damage) => {
      let store = await start();
      await store.commit(pieces([put("a", "world", "x", "good".repeat(5000))]));
      store = await restart(store);
      await store.commit(pieces([put("a", "records/n", "n1", "more".repeat(5000))]));
      open.splice(0);
      await store.close();
      damage(adapter.file());
      const again = await start();
      expect(await again.list()).toEqual(["a"]);
      expect((await again.load("a")).some(({ id }) => id === "x")).toBe(true);
      expect(existsSync(`${adapter.file()}.damaged`)).toBe(true);
      expect(warnings.join("\n")).toContain(`kept as ${adapter.file()}.damaged`);
      await again.commit(pieces([put("a", "world", "y", 1)]));
    },
  );

  it("quality 2.7 cut at a hundred places, no start fails and none takes a part for the whole", async () => {
    const store = await start();
    const text = "x".repeat(200);
    await store.commit(
      pieces(
        Array.from({ length: 100 }, (_, i) => put("a", "records/n", `n${String(i).padStart(3, "0")}`, text)),
      ),
    );
    open.splice(0);
    await store.close();
    const whole = readFileSync(adapter.file());
    for (let i = 1; i < 100; i++) {
      const place = join(folder, `cut-${i}`);
      mkdirSync(place);
      writeFileSync(adapter.file(place), whole.subarray(0, Math.floor((whole.length * i) / 100)));
      const cut = await adapter.open(place);
      expect([0, 100], `cut at ${i} percent`).toContain((await cut.load("a")).length);
      await cut.close();
    }
  });

  it("interfaces 2 a folder that is gone is refused as gone, and taken again when it is back", async () => {
    const place = join(folder, "place");
    mkdirSync(place);
    const store = await adapter.open(place);
    open.push(store);
    await store.commit(pieces([put("a", "world", "x", 1)]));
    renameSync(place, join(folder, "elsewhere"));
    await expect(store.commit(pieces([put("a", "world", "x", 2)]))).rejects.toMatchObject({ kind: "gone" });
    mkdirSync(place);
    await store.commit(pieces([put("a", "world", "x", 3)]));
    open.splice(0);
    await store.close();
    const again = await adapter.open(place);
    open.push(again);
    expect(await again.load("a")).toEqual([{ section: "world", id: "x", text: "3" }]);
  });

  it("interfaces 2 a full disk refuses the commit whole, keeps what it had, and takes it when there is room", async ({
    skip,
  }) => {
    const disk = smallDisk();
    if (disk === undefined) return skip("no file system of its own could be mounted");
    const store = await adapter.open(disk);
    open.push(store);
    await store.commit(pieces([put("a", "world", "x", 1)]));
    const filler = join(disk, "filler");
    writeFileSync(filler, Buffer.alloc(900 * 1024));
    const big = [put("a", "world", "x", 2), put("a", "records/n", "big", "x".repeat(700 * 1024))];
    await expect(store.commit(pieces(big))).rejects.toMatchObject({ kind: "full" });
    await expect(store.commit(pieces(big))).rejects.toMatchObject({ kind: "full" });
    expect(await store.load("a")).toEqual([{ section: "world", id: "x", text: "1" }]);
    rmSync(filler);
    await store.commit(pieces([put("a", "world", "x", 3)]));
    open.splice(0);
    await store.close().catch(() => {});
    const again = await adapter.open(disk);
    open.push(again);
    expect(await again.load("a")).toEqual([{ section: "world", id: "x", text: "3" }]);
  });
});

/** A file system of 1.5 MB; undefined where nothing can be mounted. */
function smallDisk(): string | undefined {
  const place = mkdtempSync(join(tmpdir(), "understudy-disk-"));
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1536k", "tmpfs", place]);
  onTestFinished(async () => {
    for (const store of open.splice(0)) await store.close().catch(() => {});
    if (status === 0) spawnSync("umount", [place]);
    rmSync(place, { recursive: true, force: true });
  });
  return status === 0 ? place : undefined;
}
