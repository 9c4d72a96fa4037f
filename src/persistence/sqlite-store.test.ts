import { existsSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "libsql";
import { describe, expect, it } from "vitest";
import { setUpFolderPerTest } from "../../test/support/folder-per-test.ts";
import { put, toPieces } from "../../test/support/stores.ts";
import { DatabaseThread, SqliteStore } from "./sqlite-store.ts";
import type { RowChange } from "./store.ts";

let folder: string;
let database: string;
let said: string[];
const open: SqliteStore[] = [];
setUpFolderPerTest(
  (place) => {
    folder = place;
    database = join(folder, "understudy.db");
    said = [];
  },
  async () => {
    for (const store of open.splice(0)) await store.close().catch(() => {});
  },
);

async function start(): Promise<SqliteStore> {
  const store = await SqliteStore.open(folder, (warning) => said.push(warning));
  open.push(store);
  return store;
}

async function stop(store: SqliteStore): Promise<void> {
  open.splice(open.indexOf(store), 1);
  await store.close();
}

describe("the database of --persist DIR", () => {
  it("creates its folder, which its owner alone can read, copy included [interfaces 2]", async () => {
    const store = await start();
    expect([store.uploadsFolder, store.setAsideFolder]).toEqual([
      join(folder, "uploads"),
      join(folder, "set-aside"),
    ]);
    await store.commit(toPieces([put("a", "world", "x", 1)]));
    expect(existsSync(join(folder, "in-use-by.json"))).toBe(true);
    await stop(store);
    for (const file of [database, `${database}.previous`]) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(join(folder, "in-use-by.json"))).toBe(false);
  });

  it("checks rows that an earlier version wrote from their next save on [interfaces 2]", async () => {
    mkdirSync(folder);
    const db = new Database(database);
    db.exec(`CREATE TABLE rows (sandbox TEXT NOT NULL, section TEXT NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL,
      PRIMARY KEY (sandbox, section, id)) WITHOUT ROWID; INSERT INTO rows VALUES ('a', 'world', 'x', '1'), ('a', 'world', 'y', '1')`);
    db.pragma(`application_id = ${0x556e6479}`);
    db.pragma("user_version = 2");
    db.close();
    const store = await start();
    await store.commit(toPieces([put("a", "world", "x", 1)]));
    await stop(store);
    const edit = new Database(database);
    edit.exec("UPDATE rows SET text = '2'");
    edit.close();
    expect(await (await start()).load("a")).toHaveLength(2);
    expect(said).toEqual([
      expect.stringContaining("differ from their saved state: world/x of sandbox a. They are used"),
    ]);
    await stop(open[0]!);
    said = [];
    await start();
    expect(said).toEqual([]);
  });

  it("has a copy after its start, and renews one that is older than the database [interfaces 2]", async () => {
    const copy = `${database}.previous`;
    const store = await start();
    await store.commit(toPieces([put("a", "world", "x", 1)]));
    expect(existsSync(copy)).toBe(true);
    await stop(store);
    const made = statSync(copy).ino;
    utimesSync(copy, 2_000_000_000, 2_000_000_000);
    await stop(await start());
    expect(statSync(copy).ino).toBe(made);
    utimesSync(copy, 1, 1);
    await stop(await start());
    expect(statSync(copy).ino).not.toBe(made);
    rmSync(copy);
    await stop(await start());
    expect(existsSync(copy)).toBe(true);
  });

  it("reports a failed copy at the start and at the end [interfaces 2]", async () => {
    mkdirSync(`${database}.previous.draft`, { recursive: true });
    writeFileSync(join(`${database}.previous.draft`, "x"), "");
    const store = await start();
    await store.commit(toPieces([put("a", "world", "x", 1)]));
    const words = new RegExp(
      `^Everything is saved, but the copy ${database}.previous could not be renewed: .+\\.$`,
    );
    expect(said).toEqual([expect.stringMatching(words)]);
    open.splice(0);
    await expect(store.close()).rejects.toThrow(words);
    rmSync(`${database}.previous.draft`, { recursive: true });
    expect(await (await start()).load("a")).toEqual([{ section: "world", id: "x", text: "1" }]);
  });

  it("stores a large commit as a whole or not at all, and the next one succeeds [interfaces 2]", async () => {
    const store = await start();
    await store.commit(toPieces([put("a", "world", "x", 1)], [put("a", "world", "y", 2)], []));
    await store.commit(toPieces());
    const failing = async function* (): AsyncGenerator<readonly RowChange[]> {
      yield [put("a", "world", "x", 2)];
      yield [put("a", "world", "y", 3)];
      yield [put("a", "world", "z", 4)];
      throw new Error("out of ideas");
    };
    await expect(store.commit(failing())).rejects.toMatchObject({ kind: "failed" });
    expect((await store.load("a")).map(({ text }) => text)).toEqual(["1", "2"]);
    await store.commit(toPieces([put("a", "world", "z", 5)]));
    expect(await store.list()).toEqual(["a"]);
  });

  it("does not create a missing folder, and names the owner once it is back [interfaces 2]", async () => {
    const store = await start();
    await store.commit(toPieces([put("a", "world", "x", 1)]));
    rmSync(folder, { recursive: true });
    for (let i = 0; i < 2; i++) {
      await expect(store.commit(toPieces([put("a", "world", "x", 2)]))).rejects.toMatchObject({
        kind: "gone",
      });
      expect(existsSync(folder)).toBe(false);
    }
    await expect(store.commit(toPieces([put("a", "world", "x", 2)]))).rejects.toThrow(`${folder} is gone`);
    mkdirSync(folder);
    await store.commit(toPieces([put("a", "world", "x", 3)]));
    expect(JSON.parse(readFileSync(join(folder, "in-use-by.json"), "utf8"))).toMatchObject({
      pid: process.pid,
    });
    expect(await store.load("a")).toEqual([{ section: "world", id: "x", text: "3" }]);
    mkdirSync(`${database}.previous.draft`);
    await expect(store.close()).rejects.toThrow("could not be renewed");
    open.splice(0);
    rmSync(`${database}.previous.draft`, { recursive: true });
  });

  it("a failed copy is not reported at the end if the files were removed [interfaces 2]", async () => {
    const store = await start();
    await store.commit(toPieces([put("a", "world", "x", 1)]));
    rmSync(folder, { recursive: true });
    await store.commit(toPieces([put("a", "world", "x", 4)])).catch(() => {});
    open.splice(0);
    await expect(store.close()).resolves.toBeUndefined();
  });

  it("is refused with a one-sentence error if it cannot be opened [interfaces 2]", async () => {
    mkdirSync(database, { recursive: true });
    await expect(start()).rejects.toThrow(/^--persist: .+\.$/);
    rmSync(folder, { recursive: true });
    await stop(await start());
    const bytes = readFileSync(database);
    bytes.writeUInt32BE(5, 68);
    writeFileSync(database, bytes);
    await expect(start()).rejects.toThrow(
      `${database} is not a database of Understudy; nothing was touched.`,
    );
  });
});

describe("the database's thread", () => {
  it("answers in order, with SQLite's own message for a failure [interfaces 2]", async () => {
    mkdirSync(folder);
    const thread = new DatabaseThread({ database, acknowledgedFile: `${database}.saved` });
    await thread.runInWorker("open");
    const change = { sandbox: "a", section: "s", id: "i", text: "1" };
    const [, , list, rows] = await Promise.all([
      thread.runInWorker("apply", { changes: [change] }),
      thread.runInWorker("commit"),
      thread.runInWorker("list"),
      thread.runInWorker("load", { sandbox: "a" }),
    ]);
    expect([list, rows]).toEqual([["a"], [{ section: "s", id: "i", text: "1" }]]);
    const invalid = { ...change, text: undefined };
    const failure = await thread.runInWorker("apply", { changes: [invalid] }).catch((error: Error) => error);
    expect(failure).toMatchObject({
      message: "NOT NULL constraint failed: rows.text",
      code: "SQLITE_CONSTRAINT_NOTNULL",
    });
    await thread.end();
  });

  it("fails open requests when it ends, and later ones [interfaces 2]", async () => {
    mkdirSync(folder);
    const thread = new DatabaseThread({ database, acknowledgedFile: `${database}.saved` });
    const waiting = thread.runInWorker("open").catch((error: Error) => error);
    await thread.end();
    expect(await waiting).toMatchObject({ message: "the database's thread has ended" });
    await expect(thread.runInWorker("list")).rejects.toThrow("the database's thread has ended");
  });
});
