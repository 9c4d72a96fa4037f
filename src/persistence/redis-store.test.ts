import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startFakeRedis } from "../../test/support/fake-redis.ts";
import { hasRedis, NO_REDIS, TestRedis } from "../../test/support/redis.ts";
import { put, toPieces } from "../../test/support/stores.ts";
import { RedisStore } from "./redis-store.ts";
import type { RowChange } from "./store.ts";

let redis: TestRedis;
const open: { close(): void | Promise<void> }[] = [];
beforeAll(async () => {
  if (hasRedis) redis = await TestRedis.start();
});
beforeEach(({ skip }) => {
  if (!hasRedis) skip(NO_REDIS);
});
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
  if (hasRedis) await redis.command("FLUSHALL");
});
afterAll(() => redis?.remove());

async function openNode(session: string, url = redis.url): Promise<RedisStore> {
  const store = await RedisStore.open(url, { session, url: `http://${session}` }, () => {});
  open.push(store.connection);
  return store;
}

const clearSandbox = (sandbox: string): RowChange => ({ sandbox, clearPrefix: "" });
const readTexts = async (store: RedisStore, sandbox: string) =>
  (await store.load(sandbox)).map(({ section, id, text }) => `${section} ${id} ${text}`).toSorted();

describe("the store of a fleet", () => {
  it("gives a new sandbox to the node that created it, and refuses another of the name [interfaces 15]", async () => {
    const [a, b] = [await openNode("a"), await openNode("b")];
    await a.commit("one", toPieces([clearSandbox("one"), put("one", "world", "x", 1)]));
    await a.commit("two", toPieces([put("two", "world", "x", 1)]));
    expect(a.owned).toEqual(
      new Map([
        ["one", { epoch: 1, number: "1" }],
        ["two", { epoch: 1, number: "1" }],
      ]),
    );
    expect(await b.findLease("one")).toEqual({ session: "a", url: "http://a", epoch: "1" });
    expect(await b.findLease("none")).toBeUndefined();
    await expect(b.commit("one", toPieces([put("one", "world", "x", 2)]))).rejects.toMatchObject({
      ...{ kind: "taken", message: "one" },
    });
    expect(await readTexts(b, "one")).toEqual(["world x 1"]);
    expect([await b.list(), await b.count()]).toEqual([["one", "two"], 2]);
    await redis.command("ZADD", "understudy:sandboxes", "0", "zero");
    expect(await b.list()).toEqual(["zero", "one", "two"]);
  });

  it("fences the former owner at a takeover, and lets one of several claimants succeed [interfaces 15]", async () => {
    const [a, b, c] = [await openNode("a"), await openNode("b"), await openNode("c")];
    await a.commit("one", toPieces([put("one", "world", "x", 1)]));
    const seen = (await b.findLease("one"))!;
    expect(await b.claim("one", seen)).toBe(true);
    expect(await c.claim("one", seen)).toBe(false);
    expect(await c.claim("one", { session: "a", epoch: "2" })).toBe(false);
    expect(await c.claim("none", seen)).toBe(false);
    expect([b.owned.get("one"), c.owned.size]).toEqual([{ epoch: 2, number: "1" }, 0]);
    expect(await c.findLease("one")).toEqual({ session: "b", url: "http://b", epoch: "2" });
    for (const changes of [
      [put("one", "world", "x", 2)],
      [clearSandbox("one")],
      [clearSandbox("one"), put("one", "s", "i", 1)],
    ]) {
      await expect(a.commit("one", toPieces(changes))).rejects.toMatchObject({
        ...{ kind: "moved", message: "another node of the fleet owns sandbox one now", retry_after: 1 },
      });
    }
    await b.commit("one", toPieces([put("one", "world", "x", 3)]));
    expect(b.owned.get("one")).toEqual({ epoch: 2, number: "2" });
    expect(await readTexts(c, "one")).toEqual(["world x 3"]);
  });

  it("lets any node take a sandbox whose lease Redis has lost [interfaces 15]", async () => {
    const [a, b] = [await openNode("a"), await openNode("b")];
    await a.commit("one", toPieces([put("one", "world", "x", 1)]));
    await redis.command("DEL", "understudy:{one}:lease");
    const seen = (await b.findLease("one"))!;
    expect(seen).toEqual({ session: "", url: "", epoch: "0" });
    expect(await b.claim("one", seen)).toBe(true);
    expect(b.owned.get("one")).toEqual({ epoch: 1, number: "" });
    await b.commit("one", toPieces([clearSandbox("one"), put("one", "world", "x", 2)]));
    expect(b.owned.get("one")).toEqual({ epoch: 1, number: "1" });
  });

  it("writes a sandbox in full if its state in Redis is too old [interfaces 15]", async () => {
    const a = await openNode("a");
    await a.commit("one", toPieces([put("one", "world", "x", 1)]));
    await redis.command("HSET", "understudy:{one}:lease", "number", "0");
    await expect(a.commit("one", toPieces([put("one", "world", "y", 2)]))).rejects.toMatchObject({
      ...{ kind: "behind", message: "the store has lost a part of sandbox one", retry_after: 1 },
    });
    await a.commit("one", toPieces([clearSandbox("one"), put("one", "world", "z", 3)]));
    expect(await readTexts(a, "one")).toEqual(["world z 3"]);
    expect(a.owned.get("one")).toEqual({ epoch: 1, number: "2" });
    await redis.command("HSET", "understudy:{one}:lease", "epoch", "0");
    await expect(a.commit("one", toPieces([put("one", "world", "y", 2)]))).rejects.toMatchObject({
      ...{ kind: "unreachable", message: "the store has lost the owner of sandbox one", retry_after: 1 },
    });
  });

  it("lets an owner take back a sandbox that no node has taken over [interfaces 15]", async () => {
    const [a, b] = [await openNode("a"), await openNode("b")];
    for (const name of ["kept", "behind", "taken", "gone"])
      await a.commit(name, toPieces([put(name, "world", "x", 1)]));
    await redis.command("HSET", "understudy:{behind}:lease", "number", "0");
    await b.claim("taken", (await b.findLease("taken"))!);
    await redis.command("DEL", "understudy:{gone}:rows", "understudy:{gone}:lease");
    a.owner = { session: "a2", url: "http://a2" };
    const reclaimAgain = (name: string, restarted = false) =>
      a.reclaim(name, { lostSession: "a", restarted });
    expect(await reclaimAgain("kept")).toBe("same");
    expect(await reclaimAgain("behind")).toBe("behind");
    expect(await reclaimAgain("taken")).toBe("fenced");
    expect(await reclaimAgain("taken", true)).toBe("fenced");
    expect(await reclaimAgain("never")).toBe("fenced");
    expect(await reclaimAgain("gone")).toBe("fenced");
    // A Redis that has restarted has older data than the owner.
    expect(await reclaimAgain("gone", true)).toBe("behind");
    expect([a.owned.get("kept"), a.owned.get("gone")]).toEqual([
      { epoch: 2, number: "1" },
      { epoch: 2, number: "1" },
    ]);
    expect(await b.findLease("kept")).toEqual({ session: "a2", url: "http://a2", epoch: "2" });
    // The recovery failed for another sandbox, and is repeated.
    expect(await reclaimAgain("kept")).toBe("same");
    expect(await reclaimAgain("gone", true)).toBe("behind");
    // The answer to the first call was lost, so that the node does not know the new epoch.
    for (const name of ["kept", "gone"]) a.owned.set(name, { epoch: 1, number: "1" });
    expect(await reclaimAgain("kept")).toBe("same");
    expect(await reclaimAgain("gone", true)).toBe("behind");
    await a.commit("kept", toPieces([put("kept", "world", "x", 2)]));
  });

  it("frees the name of a deleted sandbox, and lets its remaining keys expire [interfaces 15]", async () => {
    const [a, b] = [await openNode("a"), await openNode("b")];
    await a.commit("one", toPieces([put("one", "world", "x", 1)]));
    await a.commit("one", toPieces([put("one", "world", "x", 2), clearSandbox("one")]));
    expect([await b.list(), await b.load("one"), await b.findLease("one"), a.owned.size]).toEqual([
      ...[[], [], undefined, 0],
    ]);
    expect(await redis.command("TTL", "understudy:{one}:lease")).toBeGreaterThan(0);
    // A sandbox that was never stored needs no removal.
    await a.commit("never", toPieces([clearSandbox("never")]));
    expect(await b.list()).toEqual([]);
    await b.commit("one", toPieces([put("one", "world", "y", 3)]));
    expect(b.owned.get("one")).toEqual({ epoch: 3, number: "1" });
    expect(await redis.command("TTL", "understudy:{one}:lease")).toBe(-1);
    expect(await readTexts(b, "one")).toEqual(["world y 3"]);
  });

  it("applies changes in order, those of a sandbox to its rows alone [interfaces 15]", async () => {
    const a = await openNode("a");
    await a.commit("two", toPieces([put("two", "world", "x", 1)]));
    await a.commit(
      "one",
      toPieces(
        [put("one", "snapshots/a/world", "x", 1), put("one", "snapshots/ab/world", "x", 1)],
        [{ sandbox: "one", clearPrefix: "snapshots/a/" }],
        [put("one", "world", "x", 1), { sandbox: "one", section: "world", id: "x", text: null }],
      ),
    );
    await a.commit("one", toPieces([put("one", "world", "with\0zero", "y")]));
    expect(await readTexts(a, "one")).toEqual(["snapshots/ab/world x 1", 'world with\0zero "y"']);
    expect(await readTexts(a, "two")).toEqual(["world x 1"]);
    expect(a.owned.get("one")).toEqual({ epoch: 1, number: "2" });
  });

  it("refuses sandboxes beyond its limit [interfaces 15]", async () => {
    const a = await openNode("a");
    a.limit = 2;
    await a.commit("one", toPieces([put("one", "world", "x", 1)]));
    await a.commit("two", toPieces([put("two", "world", "x", 1)]));
    await expect(a.commit("three", toPieces([put("three", "world", "x", 1)]))).rejects.toMatchObject({
      ...{ kind: "limit", message: "2 sandboxes" },
    });
    expect(await a.list()).toEqual(["one", "two"]);
    await a.commit("two", toPieces([put("two", "world", "x", 2)]));
    // A listed name does not count again.
    await redis.command("DEL", "understudy:{two}:rows");
    a.owned.delete("two");
    await redis.command("ZADD", "understudy:sandboxes", "0", "three");
    await a.commit("two", toPieces([put("two", "world", "x", 3)]));
  });

  it("adds a missing sandbox to the list again, and keeps the time of a listed one [interfaces 15]", async () => {
    const a = await openNode("a");
    await a.restoreToFleetList("one", 5);
    await a.restoreToFleetList("one", 9);
    expect(await redis.command("ZSCORE", "understudy:sandboxes", "one")).toBe("5");
  });

  it("knows since when Redis has been running [interfaces 15]", async () => {
    const a = await openNode("a");
    // The first node that sees a Redis assumes that it has always been running.
    expect(await a.readRunAge()).toBeGreaterThan(1_000_000);
    a.connection.run_id = "another";
    expect(await a.readRunAge()).toBe(0);
    expect(await redis.command("HGET", "understudy:run", "id")).toBe("another");
  });

  it("returns each of many rows once [interfaces 15]", async () => {
    const a = await openNode("a");
    const rows = Array.from({ length: 2500 }, (_, i) => put("one", "records/n", `n${i}`, i));
    await a.commit("one", toPieces(rows));
    const loaded = await a.load("one");
    expect(new Set(loaded.map(({ id }) => id)).size).toBe(2500);
    expect(loaded).toHaveLength(2500);
  });

  it("refuses a database of a newer version, and names another one [interfaces 15]", async () => {
    await redis.command("SET", "understudy:format", "99");
    await expect(openNode("a")).rejects.toThrow(
      `--store ${redis.url} was written by a newer Understudy (format 99, this one knows 2); update this node, or use another database of that Redis, as in ${redis.url}/1.`,
    );
    await redis.command("SET", "understudy:format", "2");
    (await openNode("a")).connection.close();
    await redis.command("DEL", "understudy:format");
    await openNode("a");
    expect(await redis.command("GET", "understudy:format")).toBe("2");
  });
});

describe("the store of a fleet while Redis restarts", () => {
  async function openStore() {
    const fake = await startFakeRedis();
    const answers: ((words: string[]) => ReturnType<NonNullable<typeof fake.answer>>)[] = [];
    const answerUsually = ([name, ...words]: string[]) =>
      name === "GET" ? "2" : name === "EVALSHA" ? ["OK", 1, "1"] : name === "ZADD" ? 1 : words && undefined;
    fake.answer = (words) => (words[0] === "EVALSHA" && answers.shift()?.(words)) || answerUsually(words);
    const store = await openNode("a", fake.url);
    open.unshift(fake);
    return { fake, store, answers };
  }

  it("repeats a commit with the same id while Redis cannot be reached [interfaces 15]", async () => {
    const { fake, store, answers } = await openStore();
    answers.push(
      () => new Error("LOADING it is"),
      () => new Error("BUSY it is"),
    );
    await store.commit("one", toPieces([put("one", "world", "x", 1)]));
    const runs = fake.listArguments("EVALSHA");
    expect(runs).toHaveLength(3);
    expect(new Set(runs.map((words) => words.join())).size).toBe(1);
    const [, , lease, rows, mode, epoch, before, number, id, ...rest] = runs[0]!;
    expect([lease, rows, mode, epoch, before, number]).toEqual([
      ...["understudy:{one}:lease", "understudy:{one}:rows", "new", "0", "", "1"],
    ]);
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(rest).toEqual(["a", "http://a", "p", "world\0x", "1"]);
    expect(fake.listArguments("ZADD")).toEqual([
      ["understudy:sandboxes", "NX", expect.stringMatching(/^\d+$/), "one"],
    ]);
  });

  it("removes a deleted sandbox from the fleet's list, also after a moment without Redis [interfaces 15]", async () => {
    const { fake, store } = await openStore();
    await store.commit("one", toPieces([put("one", "world", "x", 1)]));
    const { answer } = fake;
    fake.answer = (words) =>
      words[0] === "ZREM" && fake.listArguments("ZREM").length === 1
        ? new Error("LOADING it is")
        : answer!(words);
    await store.commit("one", toPieces([clearSandbox("one")]));
    expect(fake.listArguments("ZREM")).toHaveLength(2);
  });

  it("does not repeat a write that Redis refuses [interfaces 15]", async () => {
    const { fake, store, answers } = await openStore();
    answers.push(() => new Error("OOM command not allowed"));
    await expect(store.commit("one", toPieces([put("one", "world", "x", 1)]))).rejects.toMatchObject({
      kind: "full",
    });
    expect(fake.listArguments("EVALSHA")).toHaveLength(1);
    expect(store.owned.size).toBe(0);
  });

  it("lists no sandbox that Redis has no memory for [interfaces 15]", async () => {
    const { fake, store, answers } = await openStore();
    answers.push(() => new Error("OOM command not allowed"));
    const { answer } = fake;
    fake.answer = (words) => (words[0] === "EXISTS" ? 0 : answer!(words));
    await expect(store.commit("one", toPieces([put("one", "world", "x", 1)]))).rejects.toMatchObject({
      kind: "full",
    });
    expect(fake.listArguments("ZREM")).toEqual([["understudy:sandboxes", "one"]]);
  });

  it("is refused if its format cannot be read [interfaces 15]", async () => {
    const fake = await startFakeRedis();
    open.unshift(fake);
    fake.answer = ([name]) => (name === "SET" ? new Error("READONLY You can't write") : undefined);
    await expect(openNode("a", fake.url)).rejects.toThrow(
      `--store ${fake.url}: ${fake.url} refuses (READONLY You can't write).`,
    );
  });
});
