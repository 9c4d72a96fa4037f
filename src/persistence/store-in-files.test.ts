import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  closeStores,
  createStoreOpener,
  FILE_STORES,
  put,
  setUpStoreContext,
  storeContext,
  toPieces,
} from "../../test/support/stores.ts";
import { PersistenceError } from "./store.ts";

setUpStoreContext();

describe.each(FILE_STORES)("a store in files ($name) [interfaces 2]", (adapter) => {
  const { start, restart } = createStoreOpener(adapter);

  it("a second server is refused in one sentence, and the first continues [interfaces 2]", async () => {
    const store = await start();
    await store.commit(toPieces([put("a", "world", "x", 1)]));
    await expect(adapter.open()).rejects.toThrow(/^\S+ is in use by .*; stop that server, or choose another/);
    await store.commit(toPieces([put("a", "world", "x", 2)]));
    const again = await restart(store);
    expect((await again.load("a"))[0]?.text).toBe("2");
  });

  it("the lock of a killed process is released at once, even if its process id is used again [interfaces 2]", async () => {
    const killed = spawnSync(process.execPath, [
      "-e",
      `const D = require("libsql"); const db = new D(process.argv[1]); db.pragma("locking_mode = EXCLUSIVE");
       db.exec("BEGIN EXCLUSIVE"); process.kill(process.pid, "SIGKILL");`,
      adapter.file().endsWith(".json") ? `${adapter.file()}.lock` : adapter.file(),
    ]);
    expect(killed.signal).toBe("SIGKILL");
    // Another container with the same process ids would have left it.
    writeFileSync(
      join(storeContext.folder, "in-use-by.json"),
      JSON.stringify({ pid: process.pid, host: "elsewhere" }),
    );
    const store = await start();
    await store.commit(toPieces([put("a", "world", "x", 1)]));
    expect(await store.list()).toEqual(["a"]);
  });

  it("a newer format is refused, and no byte of it is changed [interfaces 2]", async () => {
    const store = await start();
    await store.commit(toPieces([put("a", "world", "x", 1)]));
    storeContext.open.splice(0);
    await store.close();
    adapter.version(adapter.file(), 99);
    const before = readFileSync(adapter.file());
    const { mtimeMs } = statSync(adapter.file());
    await expect(adapter.open()).rejects.toThrow("written by a newer Understudy (format 99, this one knows ");
    expect(readFileSync(adapter.file()).equals(before)).toBe(true);
    expect(statSync(adapter.file()).mtimeMs).toBe(mtimeMs);
  });

  it.each([
    ["emptied", (file: string) => truncateSync(file, 0)],
    ["filled with NUL", (file: string) => writeFileSync(file, Buffer.alloc(statSync(file).size))],
    ["cut by half", (file: string) => truncateSync(file, Math.floor(statSync(file).size / 2))],
    ["cut by a page", (file: string) => truncateSync(file, Math.max(10, statSync(file).size - 4096))],
  ])(
    "after a file was %s the previous good copy is used, and the bad one kept [quality 2.7]",
    async (_, damage) => {
      let store = await start();
      await store.commit(toPieces([put("a", "world", "x", "good".repeat(5000))]));
      store = await restart(store);
      await store.commit(toPieces([put("a", "records/n", "n1", "more".repeat(5000))]));
      storeContext.open.splice(0);
      await store.close();
      damage(adapter.file());
      const again = await start();
      expect(await again.list()).toEqual(["a"]);
      expect((await again.load("a")).some(({ id }) => id === "x")).toBe(true);
      expect(existsSync(`${adapter.file()}.damaged`)).toBe(true);
      expect(storeContext.warnings.join("\n")).toContain(`kept as ${adapter.file()}.damaged`);
      await again.commit(toPieces([put("a", "world", "y", 1)]));
    },
  );

  it("one flipped bit at any place is reported, or changes nothing [quality 2.7]", async () => {
    const rows = Array.from({ length: 60 }, (_, i) =>
      put("a", "records/n", `n${i}`, `${i} value `.repeat(9)),
    );
    const store = await start();
    await store.commit(toPieces(rows.slice(1)));
    await store.commit(toPieces(rows));
    const good = await (await restart(store)).load("a");
    await closeStores();
    const bytes = readFileSync(adapter.file());
    const previous = readFileSync(`${adapter.file()}.previous`);
    const places = 40;
    for (let i = 0; i < places; i++) {
      const at = Math.floor((i * bytes.length) / places) + ((i * 7) % 13);
      const flipped = Buffer.from(bytes);
      flipped[at]! ^= 1 << (i % 8);
      for (const name of readdirSync(storeContext.folder))
        rmSync(join(storeContext.folder, name), { recursive: true });
      writeFileSync(adapter.file(), flipped);
      writeFileSync(`${adapter.file()}.previous`, previous);
      storeContext.warnings = [];
      const damaged = await start().catch(({ message }: Error) => void storeContext.warnings.push(message));
      const found = (await damaged?.load("a")) ?? [];
      expect([at, storeContext.warnings.length > 0 ? good : found]).toEqual([at, good]);
      await closeStores();
    }
  }, 60_000);

  it("a removed folder is reported as gone, and used again when it is back [interfaces 2]", async () => {
    const place = join(storeContext.folder, "place");
    mkdirSync(place);
    const store = await adapter.open(place);
    storeContext.open.push(store);
    await store.commit(toPieces([put("a", "world", "x", 1)]));
    renameSync(place, join(storeContext.folder, "elsewhere"));
    await expect(store.commit(toPieces([put("a", "world", "x", 2)]))).rejects.toMatchObject({ kind: "gone" });
    mkdirSync(place);
    await store.commit(toPieces([put("a", "world", "x", 3)]));
    storeContext.open.splice(0);
    await store.close();
    const again = await adapter.open(place);
    storeContext.open.push(again);
    expect(await again.load("a")).toEqual([{ section: "world", id: "x", text: "3" }]);
  });

  it("a full disk refuses the whole commit, keeps earlier data, and accepts it when there is room [interfaces 2]", async ({
    skip,
  }) => {
    const disk = mountSmallDisk();
    if (disk === undefined) return skip("no separate file system could be mounted");
    const store = await adapter.open(disk);
    storeContext.open.push(store);
    await store.commit(toPieces([put("a", "world", "x", 1)]));
    const filler = join(disk, "filler");
    writeFileSync(filler, Buffer.alloc(900 * 1024));
    const big = [put("a", "world", "x", 2), put("a", "records/n", "big", "x".repeat(700 * 1024))];
    await expect(store.commit(toPieces(big))).rejects.toMatchObject({ kind: "full" });
    await expect(store.commit(toPieces(big))).rejects.toMatchObject({ kind: "full" });
    expect(await store.load("a")).toEqual([{ section: "world", id: "x", text: "1" }]);
    rmSync(filler);
    await store.commit(toPieces([put("a", "world", "x", 3)]));
    storeContext.open.splice(0);
    await store.close().catch(() => {});
    const again = await adapter.open(disk);
    storeContext.open.push(again);
    expect(await again.load("a")).toEqual([{ section: "world", id: "x", text: "3" }]);
  });

  it.for<[string, string, (disk: string) => void, (disk: string) => void]>([
    [
      "full",
      "free some space, or",
      (disk) => spawnSync("dd", ["if=/dev/zero", `of=${join(disk, "filler")}`, "bs=4k"]),
      (disk) => rmSync(join(disk, "filler")),
    ],
    [
      "read-only",
      "make it writable, or",
      (disk) => spawnSync("mount", ["-o", "remount,ro", disk]),
      (disk) => spawnSync("mount", ["-o", "remount,rw", disk]),
    ],
  ])(
    "a start on a %s disk says what to do, and loses nothing [interfaces 2]",
    async ([, advice, spoil, repair], { skip }) => {
      const disk = mountSmallDisk();
      if (disk === undefined) return skip("no separate file system could be mounted");
      const store = await adapter.open(disk);
      await store.commit(toPieces([put("a", "world", "x", 1)]));
      await store.close();
      spoil(disk);
      const opening = adapter.open(disk);
      await expect(opening).rejects.toBeInstanceOf(PersistenceError);
      await expect(opening).rejects.toThrow(
        new RegExp(`^--persist: .*${disk}.*; ${advice} choose another (folder|file) with --persist\\.$`),
      );
      repair(disk);
      const again = await adapter.open(disk);
      storeContext.open.push(again);
      expect(await again.load("a")).toEqual([{ section: "world", id: "x", text: "1" }]);
    },
  );
});

/** A file system of 1.5 MB; undefined if the test may not mount one. */
function mountSmallDisk(): string | undefined {
  const place = mkdtempSync(join(tmpdir(), "understudy-disk-"));
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1536k", "tmpfs", place]);
  onTestFinished(async () => {
    await closeStores();
    if (status === 0) spawnSync("umount", [place]);
    rmSync(place, { recursive: true, force: true });
  });
  return status === 0 ? place : undefined;
}
