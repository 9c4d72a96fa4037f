import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  createFakeSandbox,
  createFakeUploads,
  createFullError,
} from "../../test/support/persistence-fakes.ts";
import { isSettled, setUpSaver } from "../../test/support/saver-setup.ts";
import { SandboxImage } from "./sandbox-image.ts";

describe("the saver [interfaces 2]", () => {
  it("saves everything at first, then only changes", async () => {
    const { saver, saved, of, store } = setUpSaver("a", "b");
    expect(await saver.saveAll()).toBe(true);
    expect(saved()).toEqual([["a", "b"]]);
    expect(await saver.saveAll()).toBe(true);
    expect(store.commits).toHaveLength(1);
    of("b").write("n2", "new");
    await saver.saveAll();
    expect(saved().slice(1)).toEqual([["b"]]);
    expect(store.commits[1]).toContainEqual(expect.objectContaining({ section: "records/notes", id: "n2" }));
    expect(store.commits[1]!.some((change) => "clearPrefix" in change)).toBe(false);
  });

  it("removes a deleted sandbox from the store once, and saves a new one of the same name [interfaces 2]", async () => {
    const { saver, fakes, store } = setUpSaver("a", "b");
    await saver.saveAll();
    fakes.delete("a");
    await saver.saveAll();
    await saver.saveAll();
    expect(store.commits.slice(1)).toEqual([[{ sandbox: "a", clearPrefix: "" }]]);
    fakes.set("a", createFakeSandbox("a"));
    await saver.saveAll();
    expect(store.commits[2]![0]).toEqual({ sandbox: "a", clearPrefix: "" });
    expect(store.commits[2]!.length).toBeGreaterThan(3);
  });

  it("keeps the bytes of saved states, and releases replaced and refused ones", async () => {
    const { saver, of, held, synced, refuse, fakes } = setUpSaver("a");
    const { plain, sandbox, write } = of("a");
    plain.blobs = "first";
    await saver.saveAll();
    expect([held.get("first") ?? 0, synced]).toEqual([0, ["first"]]);
    plain.blobs = "second";
    write("n2", "new");
    await saver.saveAll();
    expect([held.get("first"), held.get("second") ?? 0]).toEqual([-1, 0]);
    plain.blobs = "refused";
    write("n2", "newer");
    refuse(createFullError);
    await saver.waitUntilStored(sandbox, saver.countRefusals()).catch(() => {});
    expect([held.get("second") ?? 0, held.get("refused")]).toEqual([0, -1]);
    refuse(undefined);
    fakes.delete("a");
    await saver.saveAll();
    expect(held.get("second")).toBe(-1);
    const { uploads, ...other } = createFakeUploads();
    const images = [1, 2].map(() => SandboxImage.capture(createFakeSandbox("a").sandbox, uploads));
    for (const image of images) saver.adopt(image);
    expect(other.held.get("a's bytes")).toBe(-1);
  });

  it("checks all sandboxes every second until it is closed", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { saver, of, saved, store } = setUpSaver("a");
    const sweep = async () => {
      vi.advanceTimersByTime(1000);
      await isSettled(Promise.resolve());
    };
    saver.start();
    await isSettled(Promise.resolve());
    expect(saved()).toHaveLength(0);
    await sweep();
    of("a").write("n2", "new");
    await sweep();
    expect(saved()).toHaveLength(2);
    of("a").write("n3", "new");
    await saver.close();
    expect([saved().length, store.isClosed]).toEqual([3, true]);
    of("a").write("n4", "new");
    await sweep();
    expect(saved()).toHaveLength(3);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("commits five hundred sandboxes at a time", async () => {
    const names = Array.from({ length: 501 }, (_, i) => `s${i}`);
    const { saver, saved } = setUpSaver(...names);
    await saver.saveAll();
    expect(saved().map(({ length }) => length)).toEqual([500, 1]);
  });
});
