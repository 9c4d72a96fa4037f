import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createFullError } from "../../test/support/persistence-fakes.ts";
import { isSettled, setUpSaver } from "../../test/support/saver-setup.ts";
import { PersistenceError, StoreRefusal } from "./store.ts";

describe("the saver, when nothing can be saved [interfaces 2]", () => {
  it("a sandbox that is too large does not stop the others from being saved", async () => {
    const { saver, of, refuse, saved } = setUpSaver("a", "b", "c");
    await saver.saveAll();
    for (const name of ["a", "b", "c"]) of(name).write("n2", "new");
    refuse((changes) => (changes.some(({ sandbox }) => sandbox === "b") ? createFullError() : undefined));
    expect(await saver.saveAll()).toBe(false);
    expect(saved().slice(1)).toEqual([["a"], ["c"]]);
  });

  it("reports once that saving fails, and once that all is saved again", async () => {
    const { saver, of, refuse, logged } = setUpSaver("a", "b");
    await saver.saveAll();
    refuse(createFullError);
    of("a").write("n2", "new");
    await saver.saveAll();
    const { since } = saver.failure!;
    refuse(() => new StoreRefusal("read-only", "it is read-only"));
    await saver.saveAll();
    expect(saver.failure).toMatchObject({ refusal: { kind: "read-only" }, since });
    expect(logged).toHaveLength(1);
    // Saving b does not end the failure while a is still unsaved.
    refuse((changes) => (changes.some(({ sandbox }) => sandbox === "a") ? createFullError() : undefined));
    of("b").write("n2", "new");
    await saver.waitUntilStored(of("b").sandbox, saver.countRefusals());
    expect([saver.failure === undefined, logged.length]).toEqual([false, 1]);
    refuse(undefined);
    await saver.saveAll();
    await saver.saveAll();
    expect(logged.slice(1)).toEqual(["warn: Everything is saved again."]);
  });

  it("writes everything again after the store was gone, since it may be another one [interfaces 2]", async () => {
    const { saver, of, refuse, store } = setUpSaver("a", "b");
    await saver.saveAll();
    refuse(() => new StoreRefusal("gone", "the folder is gone"));
    of("a").write("n2", "new");
    expect(await saver.saveAll()).toBe(false);
    refuse(undefined);
    expect(await saver.saveAll()).toBe(true);
    const cleared = store.commits[1]!.filter((change) => "clearPrefix" in change);
    expect(cleared).toEqual([
      { sandbox: "a", clearPrefix: "" },
      { sandbox: "b", clearPrefix: "" },
    ]);
    of("a").write("n3", "new");
    await saver.saveAll();
    expect(store.commits[2]!.some((change) => "clearPrefix" in change)).toBe(false);
  });

  it("saves again after an attempt that ended with an unexpected error", async () => {
    const { saver, of } = setUpSaver("a");
    const { plain } = of("a");
    const { toValue } = plain;
    plain.toValue = () => {
      throw new Error("unexpected");
    };
    await expect(saver.saveAll()).rejects.toThrow("unexpected");
    plain.toValue = toValue;
    expect(await saver.saveAll()).toBe(true);
  });

  it("does not start if nothing can be saved", async () => {
    const { saver, refuse } = setUpSaver("a");
    refuse(createFullError);
    await expect(saver.requireSaved()).rejects.toThrow(
      new PersistenceError("Nothing can be saved: there is no room left."),
    );
    refuse(undefined);
    await saver.requireSaved();
  });

  it("delays answers until their changes are saved, or until the next attempt if saving fails", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { saver, of, refuse, saved } = setUpSaver("a", "b");
    await saver.saveAll();
    of("a").write("n2", "new");
    await saver.waitUntilReadyToSend(of("a").sandbox);
    expect(saved()).toHaveLength(2);
    refuse(createFullError);
    of("b").write("n2", "new");
    await saver.saveAll();
    saver.start();
    of("a").write("n3", "new");
    const ready = saver.waitUntilReadyToSend(of("a").sandbox);
    expect(await isSettled(ready)).toBe(false);
    refuse(undefined);
    vi.advanceTimersByTime(300);
    await ready;
    expect(
      saved()
        .flat()
        .filter((name) => name === "a"),
    ).toHaveLength(3);
    await saver.close();
  });

  it("reports unsaved changes at the end, but not undone ones", async () => {
    const lost = setUpSaver("a");
    await lost.saver.saveAll();
    lost.refuse(createFullError);
    lost.of("a").write("n2", "new");
    await expect(lost.saver.close()).rejects.toThrow(
      new PersistenceError("The last changes could not be saved: there is no room left."),
    );
    expect(lost.store.isClosed).toBe(true);

    const undone = setUpSaver("a");
    await undone.saver.saveAll();
    undone.refuse(createFullError);
    undone.of("a").write("n2", "new");
    await undone.saver.waitUntilStored(undone.of("a").sandbox, undone.saver.countRefusals()).catch(() => {});
    await undone.saver.close();

    const deleted = setUpSaver("a");
    await deleted.saver.saveAll();
    deleted.refuse(createFullError);
    deleted.fakes.delete("a");
    await expect(deleted.saver.close()).rejects.toThrow("could not be saved");

    const copy = setUpSaver("a");
    copy.store.closeError = new PersistenceError("no copy");
    await expect(copy.saver.close()).rejects.toThrow("no copy");
  });
});
