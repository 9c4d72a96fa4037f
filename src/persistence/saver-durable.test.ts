import { describe, expect, it } from "vitest";
import { createFakeSandbox, createFullError } from "../../test/support/persistence-fakes.ts";
import { isSettled, setUpSaver } from "../../test/support/saver-setup.ts";

describe("the durable saver [interfaces 2]", () => {
  it("saves the sandbox that a request waits for, and returns at once if nothing has changed [interfaces 2]", async () => {
    const { saver, saved, of } = setUpSaver("a", "b");
    await saver.saveAll();
    for (const name of ["a", "b"]) of(name).write("n2", "new");
    await saver.waitUntilStored(of("a").sandbox, saver.countRefusals());
    expect(saved().slice(1)).toEqual([["a"]]);
    await saver.waitUntilStored(of("a").sandbox, saver.countRefusals());
    expect(saved()).toHaveLength(2);
    await saver.waitUntilStored(undefined, saver.countRefusals());
    expect(saved().slice(2)).toEqual([["b"]]);
  });

  it("--durable: a sandbox that was deleted before its first save is not saved", async () => {
    const { saver, of, fakes, saved } = setUpSaver("a");
    const { sandbox } = of("a");
    fakes.delete("a");
    await saver.waitUntilStored(sandbox, saver.countRefusals());
    expect(saved()).toEqual([]);
  });

  it("--durable: requests during a commit share the next one, and wait for it", async () => {
    const { saver, store, of, saved } = setUpSaver("a", "b");
    await saver.saveAll();
    let release = () => {};
    store.pause = new Promise((resolve) => {
      release = resolve;
    });
    of("a").write("n2", "1");
    const first = saver.waitUntilStored(of("a").sandbox, saver.countRefusals());
    expect(await isSettled(first)).toBe(false);
    of("a").write("n2", "2");
    of("b").write("n2", "1");
    const later = ["a", "b"].map((name) => saver.waitUntilStored(of(name).sandbox, saver.countRefusals()));
    release();
    await first;
    await Promise.all(later);
    expect(saved().slice(1)).toEqual([["a"], ["a", "b"]]);
  });

  it("--durable: a refused change is undone only in its sandbox, and its request gets an error", async () => {
    const { saver, of, refuse, logged } = setUpSaver("a", "b");
    await saver.saveAll();
    of("b").write("n2", "no request waits");
    of("a").write("n2", "too large");
    refuse((changes) => (changes.some(({ sandbox }) => sandbox === "a") ? createFullError() : undefined));
    const refusalsBefore = saver.countRefusals();
    await expect(saver.waitUntilStored(of("a").sandbox, refusalsBefore)).rejects.toMatchObject({
      kind: "full",
    });
    expect(of("a").rollbacks).toHaveLength(1);
    expect(of("b").rollbacks).toEqual([]);
    expect(logged).toEqual([
      "error: Changes cannot be saved: there is no room left. Saving is repeated until it succeeds.",
    ]);
    expect(saver.failure).toMatchObject({ refusal: { kind: "full" }, since: expect.any(Number) });
    // The earlier state is already saved, and so is the other change.
    expect(await saver.saveAll()).toBe(true);
    expect(logged.slice(1)).toEqual(["warn: Everything is saved again."]);
    expect(saver.failure).toBeUndefined();
    await saver.waitUntilStored(of("b").sandbox, refusalsBefore);
    await expect(saver.waitUntilStored(undefined, refusalsBefore)).rejects.toMatchObject({ kind: "full" });
    await saver.waitUntilStored(of("a").sandbox, saver.countRefusals());
  });

  it("--durable: a sandbox that was never stored is discarded, and a deleted one is restored", async () => {
    const { saver, of, fakes, refuse, undoneCreations, undoneDeletions } = setUpSaver("a");
    await saver.saveAll();
    refuse(createFullError);
    fakes.set("new", createFakeSandbox("new"));
    await expect(saver.waitUntilStored(of("new").sandbox, saver.countRefusals())).rejects.toThrow("no room");
    expect([undoneCreations, undoneDeletions]).toEqual([["new"], []]);
    fakes.delete("a");
    await expect(saver.waitUntilStored(undefined, saver.countRefusals())).rejects.toThrow("no room");
    expect([undoneCreations, undoneDeletions]).toEqual([["new"], ["a"]]);
  });

  it("refuses no request because it was counted, and retries changes that no request waits for [interfaces 2]", async () => {
    const { saver, of, refuse, saved } = setUpSaver("a", "b");
    await saver.saveAll();
    refuse(createFullError);
    of("a").count();
    const refusalsBefore = saver.countRefusals();
    await saver.waitUntilStored(of("a").sandbox, refusalsBefore);
    expect(saver.countRefusals()).toBe(refusalsBefore);
    of("b").write("n2", "new");
    expect(await saver.saveAll()).toBe(false);
    expect([of("a").rollbacks, of("b").rollbacks]).toEqual([[], []]);
    refuse(undefined);
    expect(await saver.saveAll()).toBe(true);
    expect(saved().slice(1)).toEqual([["a", "b"]]);
  });
});
