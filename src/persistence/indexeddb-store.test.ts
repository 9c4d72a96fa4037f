import { IDBObjectStore, indexedDB } from "fake-indexeddb";
import "fake-indexeddb/auto";
import { expect, it, onTestFinished, vi } from "vitest";
import { put, toPieces } from "../../test/support/stores.ts";
import { IndexedDbStore } from "./indexeddb-store.ts";

const countRecords = (name: string) =>
  new Promise<number>((resolve) => {
    const opened = indexedDB.open(`understudy:${name}`);
    opened.onsuccess = () => {
      const asked = opened.result.transaction("changes").objectStore("changes").getAll();
      asked.onsuccess = () => {
        opened.result.close();
        resolve((asked.result as unknown[][]).flat().length);
      };
    };
  });

it("a row that is written again and again does not fill the browser's storage [interfaces 17]", async () => {
  const store = await IndexedDbStore.open("again");
  const write = (from: number) => Array.from({ length: 5000 }, (_, i) => put("a", "world", "x", from + i));
  for (let from = 0; from < 30_000; from += 5000) await store.commit(toPieces(write(from)));
  await store.close();
  expect(await countRecords("again")).toBeLessThan(10_000);
  const again = await IndexedDbStore.open("again");
  expect(await again.load("a")).toEqual([{ section: "world", id: "x", text: "29999" }]);
  await again.close();
  expect(await countRecords("again")).toBe(1);
});

it("a log that the browser has no room to rewrite refuses no save, and is read unchanged [interfaces 17]", async () => {
  const rewrite = vi.spyOn(IDBObjectStore.prototype, "clear").mockImplementation(() => {
    throw new DOMException("no room", "QuotaExceededError");
  });
  onTestFinished(() => rewrite.mockRestore());
  const store = await IndexedDbStore.open("crowded");
  const changes = Array.from({ length: 25_000 }, (_, i) => put("a", "world", "x", i));
  await store.commit(toPieces(changes));
  await store.close();
  const again = await IndexedDbStore.open("crowded");
  expect(await again.load("a")).toEqual([{ section: "world", id: "x", text: "24999" }]);
  await again.close();
  expect(rewrite).toHaveBeenCalledTimes(2);
});

it("pieces of uploads are stored with the rows that name them, or not at all [interfaces 17]", async () => {
  const store = await IndexedDbStore.open("pieces");
  store.pieces.put("blob-1", new Uint8Array([1, 2]));
  const failing = (async function* () {
    yield [put("a", "world", "x", 1)];
    throw new Error("out of ideas");
  })();
  await expect(store.commit(failing)).rejects.toThrow();
  expect(await store.pieces.get("blob-1")).toBeUndefined();
  await store.commit(toPieces([put("a", "world", "x", 1)]));
  expect(await store.pieces.get("blob-1")).toEqual(new Uint8Array([1, 2]));
  await store.pieces.removeAllBut(new Set());
  await store.commit(toPieces([put("a", "world", "x", 2)]));
  expect(await store.pieces.get("blob-1")).toBeUndefined();
});

it("a deleted database refuses the next save as gone [interfaces 17]", async () => {
  const store = await IndexedDbStore.open("gone");
  await new Promise<void>((resolve) => {
    indexedDB.deleteDatabase("understudy:gone").onsuccess = () => resolve();
  });
  const commit = store.commit(toPieces([put("a", "world", "x", 1)]));
  await expect(commit).rejects.toMatchObject({
    kind: "gone",
    message: expect.stringMatching(/^the world "gone" is gone/),
  });
});
