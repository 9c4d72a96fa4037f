import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { indexedDB } from "fake-indexeddb";
import "fake-indexeddb/auto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { hasRedis, NO_REDIS, TestRedis } from "../../test/support/redis.ts";
import {
  createStoreOpener,
  FILE_STORES,
  put,
  recordWarning,
  setUpStoreContext,
  storeContext,
  toPieces,
} from "../../test/support/stores.ts";
import { Mutex } from "../engine/state/concurrency.ts";
import { findFreeName } from "../hosts/node/storage/folders.ts";
import { IndexedDbStore } from "./indexeddb-store.ts";
import { RedisStore } from "./redis-store.ts";
import type { Row, RowChange, Store } from "./store.ts";
import { StoreRefusal, toOpeningError, toStoreRefusal } from "./store.ts";

setUpStoreContext();

let redis: TestRedis;
beforeAll(async () => {
  if (hasRedis) redis = await TestRedis.start("--requirepass", "s3cret");
});
afterEach(async () => {
  if (hasRedis) await redis.command("FLUSHALL");
});
afterAll(() => redis?.remove());

/** A node that owns all stored sandboxes, as a server with files does, and commits each of them separately. */
async function openRedis(): Promise<Store> {
  const owner = { session: randomUUID(), url: "http://127.0.0.1:1" };
  const store = await RedisStore.open(redis.url, owner, recordWarning);
  for (const name of await store.list()) await store.claim(name, (await store.findLease(name))!);
  const mutex = new Mutex();
  return {
    list: async () => (await store.list()).sort(),
    load: (name) => store.load(name),
    commit: (all) =>
      mutex.run(async () => {
        const changes: RowChange[] = [];
        for await (const piece of all) changes.push(...piece);
        for (const name of new Set(changes.map(({ sandbox }) => sandbox)))
          await store.commit(name, toPieces(changes.filter(({ sandbox }) => sandbox === name)));
      }),
    close: async () => store.connection.close(),
  };
}

/** Every kind of store. */
const ADAPTERS = [
  ...FILE_STORES,
  {
    name: "Redis, --store",
    open: openRedis,
    version: (_: string, version: number) => redis.command("SET", "understudy:format", String(version)),
    file: () => "",
  },
  {
    name: "IndexedDB, persist: NAME",
    open: () => IndexedDbStore.open(storeContext.folder),
    version: (folder: string, version: number) =>
      new Promise<void>((resolve) => {
        const asked = indexedDB.open(`understudy:${folder}`, version);
        asked.onsuccess = () => {
          asked.result.close();
          resolve();
        };
      }),
    file: () => storeContext.folder,
  },
];

/** Skips tests that need Redis with a message if the machine has none. */
function requireRedis(adapter: { name: string }, skip: (reason: string) => void): boolean {
  if (adapter.name.startsWith("Redis") && !hasRedis) skip(NO_REDIS);
  return true;
}

const sortRows = (rows: readonly Row[]) =>
  [...rows].sort((a, b) => (`${a.section}\0${a.id}` < `${b.section}\0${b.id}` ? -1 : 1));

describe.each(ADAPTERS)("a store ($name) [interfaces 2]", (adapter) => {
  beforeEach(({ skip }) => {
    requireRedis(adapter, skip);
  });
  const { start, restart } = createStoreOpener(adapter);

  it("begins empty, and returns committed rows, also after a restart [interfaces 2]", async () => {
    const store = await start();
    expect(await store.list()).toEqual([]);
    expect(await store.load("default")).toEqual([]);
    await store.commit(
      toPieces(
        [put("default", "world", "facts", { draws: 1 }), put("ci-42", "sandbox", "about", { seed: 7 })],
        [put("default", "records/departments", "dept_a", { id: "dept_a", name: 'ä "q" \n\u2028 / 𝄞' })],
        [put("default", "records/_timers", "webhook.retry/dl_1", { due: 5 })],
        [put("default", "snapshots/before/records/departments", "dept_b", null)],
        [put("default", "snapshots/before/world", "facts", [1, 2])],
      ),
    );
    const rows = sortRows(await store.load("default"));
    expect(rows).toHaveLength(5);
    const again = await restart(store);
    expect(await again.list()).toEqual(["ci-42", "default"]);
    const read = sortRows(await again.load("default"));
    expect(read.map(({ section, id, text }) => [section, id, JSON.parse(text)])).toEqual(
      rows.map(({ section, id, text }) => [section, id, JSON.parse(text)]),
    );
    expect(storeContext.warnings).toEqual([]);
  });

  it("applies changes in their order: put, put again, remove, clear, put [interfaces 2]", async () => {
    const store = await start();
    await store.commit(
      toPieces([
        put("a", "world", "x", 1),
        put("a", "world", "x", 2),
        put("a", "world", "gone", 3),
        { sandbox: "a", section: "world", id: "gone", text: null },
        put("b", "world", "x", 1),
        put("b", "snapshots/one/world", "facts", 1),
        put("b", "snapshots/one-more/world", "facts", 2),
        { sandbox: "b", clearPrefix: "snapshots/one/" },
        put("c", "world", "x", 1),
        { sandbox: "c", clearPrefix: "" },
        put("c", "world", "y", 2),
        put("d", "world", "x", 1),
      ]),
    );
    await store.commit(toPieces([{ sandbox: "d", clearPrefix: "" }]));
    const again = await restart(store);
    expect(await again.list()).toEqual(["a", "b", "c"]);
    expect(await again.load("a")).toEqual([{ section: "world", id: "x", text: "2" }]);
    expect(sortRows(await again.load("b")).map(({ section }) => section)).toEqual([
      "snapshots/one-more/world",
      "world",
    ]);
    expect(await again.load("c")).toEqual([{ section: "world", id: "y", text: "2" }]);
  });

  it("a failed commit leaves no rows, and the next one succeeds [interfaces 2]", async () => {
    const store = await start();
    await store.commit(toPieces([put("a", "world", "x", 1)]));
    const failing = async function* (): AsyncGenerator<readonly RowChange[]> {
      yield [put("a", "world", "x", 2)];
      yield [put("a", "world", "y", 2), { sandbox: "a", clearPrefix: "" }];
      throw new Error("out of ideas");
    };
    await expect(store.commit(failing())).rejects.toThrow();
    expect(await store.load("a")).toEqual([{ section: "world", id: "x", text: "1" }]);
    await store.commit(toPieces([put("a", "world", "z", 3)]));
    const again = await restart(store);
    expect((await again.load("a")).map(({ id }) => id).sort()).toEqual(["x", "z"]);
  });

  it("commits made at the same time are all stored, each whole [interfaces 2]", async () => {
    const store = await start();
    const commits = Array.from({ length: 20 }, (_, i) =>
      store.commit(toPieces([put("a", "world", "last", i)], [put("a", "records/n", `n${i}`, i)])),
    );
    await Promise.all(commits);
    const again = await restart(store);
    const rows = await again.load("a");
    expect(rows).toHaveLength(21);
    expect(rows.find(({ id }) => id === "last")?.text).toBe("19");
  });

  it("20,000 records are stored and read again [interfaces 2]", async () => {
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

  it("a newer format is refused in one sentence [interfaces 2]", async () => {
    const store = await start();
    await store.commit(toPieces([put("a", "world", "x", 1)]));
    storeContext.open.splice(0);
    await store.close();
    await adapter.version(adapter.file(), 99);
    await expect(adapter.open()).rejects.toThrow("written by a newer Understudy (format 99, this one knows ");
  });
});

describe("a store in a Redis that may lose data [interfaces 15]", () => {
  it("names each setting of Redis under which data may be lost, and what to set instead [interfaces 15]", async ({
    skip,
  }) => {
    if (!hasRedis) skip(NO_REDIS);
    storeContext.open.push(await openRedis());
    expect(storeContext.warnings).toEqual([]);
    await redis.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    await redis.command("CONFIG", "SET", "appendonly", "no");
    try {
      storeContext.open.push(await openRedis());
    } finally {
      await redis.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
      await redis.command("CONFIG", "SET", "appendonly", "yes");
    }
    expect(storeContext.warnings).toEqual([
      expect.stringContaining("set maxmemory-policy to noeviction (it is allkeys-lru)"),
      expect.stringContaining("set appendonly to yes"),
    ]);
    expect(storeContext.warnings.join()).not.toContain("s3cret");
  });
});

it.each([
  ["ENOSPC", "full", "there is no room left for /kept (ENOSPC)"],
  ["EDQUOT", "full", "there is no room left for /kept (EDQUOT)"],
  ["SQLITE_FULL", "full", "there is no room left for /kept (SQLITE_FULL)"],
  ["EROFS", "read-only", "/kept cannot be written to (EROFS)"],
  ["EACCES", "read-only", "/kept cannot be written to (EACCES)"],
  ["EPERM", "read-only", "/kept cannot be written to (EPERM)"],
  ["SQLITE_READONLY_DBMOVED", "read-only", "/kept cannot be written to (SQLITE_READONLY_DBMOVED)"],
  ["SQLITE_PERM", "read-only", "/kept cannot be written to (SQLITE_PERM)"],
  ["ENOENT", "gone", "/kept is gone (ENOENT)"],
  ["ENOTDIR", "gone", "/kept is gone (ENOTDIR)"],
  ["ENODEV", "gone", "/kept is gone (ENODEV)"],
  ["ESTALE", "gone", "/kept is gone (ESTALE)"],
  ["SQLITE_CANTOPEN", "gone", "/kept is gone (SQLITE_CANTOPEN)"],
  ["QuotaExceededError", "full", "there is no room left for /kept (QuotaExceededError)"],
  ["InvalidStateError", "gone", "/kept is gone (InvalidStateError)"],
  ["EIO", "failed", "/kept could not be written (EIO)"],
  ["NOT_ENOENT", "failed", "/kept could not be written (NOT_ENOENT)"],
  ["X_ENOSPC", "failed", "/kept could not be written (X_ENOSPC)"],
  ["X_EROFS", "failed", "/kept could not be written (X_EROFS)"],
])("%s is read as a store that is %s [interfaces 2]", (code, kind, message) => {
  const refusal = toStoreRefusal(Object.assign(new Error("words of the system"), { code }), "/kept");
  expect(refusal).toMatchObject({ name: "StoreRefusal", kind, message, retry_after: undefined, headers: {} });
});

it("an error without a code keeps its message, and a refusal stays unchanged [interfaces 2]", () => {
  expect(toStoreRefusal(new Error("it broke"), "/kept")).toMatchObject({
    ...{ kind: "failed", message: "/kept could not be written (it broke)" },
  });
  const refusal = new StoreRefusal("moved", "elsewhere", 1, { Location: "there" });
  expect(toStoreRefusal(refusal, "/kept")).toBe(refusal);
  expect(refusal).toMatchObject({ retry_after: 1, headers: { Location: "there" } });
});

it.each(["MODULE_NOT_FOUND", "ERR_DLOPEN_FAILED"])(
  "SQLite that cannot be loaded (%s) is not a fault of the folder [interfaces 2]",
  (code) => {
    const error = Object.assign(new Error("words of the system"), { code });
    const { message } = toOpeningError(error, "worlds", "folder");
    expect(message).toMatch(
      /^--persist: SQLite cannot be loaded \(\w+\).*Delete node_modules and install again/,
    );
    expect(message).not.toContain("choose another folder");
  },
);

it("files are never overwritten: a used name gets a number [interfaces 2]", () => {
  const folder = mkdtempSync(join(tmpdir(), "understudy-names-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const name = join(folder, "kept");
  for (const free of [name, `${name}-2`, `${name}-3`]) {
    expect(findFreeName(name)).toBe(free);
    writeFileSync(free, "");
  }
});

/**
 * The percents are split over four tests: opening a hundred files takes longer than the timeout of one while coverage
 * is measured.
 */
const QUARTERS = [1, 26, 51, 76];

describe.each(FILE_STORES)("a file that was cut ($name) [quality 2.7]", (adapter) => {
  const { start } = createStoreOpener(adapter);

  it.each(QUARTERS)(
    "starts at each percent from %i on, and a part of the data is never taken for all of it [quality 2.7]",
    async (from) => {
      const store = await start();
      const text = "x".repeat(200);
      const rows = Array.from({ length: 100 }, (_, i) =>
        put("a", "records/n", `n${String(i).padStart(3, "0")}`, text),
      );
      await store.commit(toPieces(rows));
      storeContext.open.splice(0);
      await store.close();
      const whole = readFileSync(adapter.file());
      for (let percent = from; percent < Math.min(from + 25, 100); percent++) {
        const place = join(storeContext.folder, `cut-${percent}`);
        mkdirSync(place);
        writeFileSync(adapter.file(place), whole.subarray(0, Math.floor((whole.length * percent) / 100)));
        const cut = await adapter.open(place);
        expect([0, 100], `cut at ${percent} percent`).toContain((await cut.load("a")).length);
        await cut.close();
      }
    },
  );
});
