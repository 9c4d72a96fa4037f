import { describe, expect, it, onTestFinished, vi } from "vitest";
import { full, plainSandbox, plainStore, plainUploads } from "../../test/support/kept-stand.ts";
import { PersistenceError } from "./persistence-error.ts";
import { SandboxImage } from "./sandbox-image.ts";
import { Saver } from "./saver.ts";
import { type Change, StoreRefusal } from "./store.ts";

type Plain = ReturnType<typeof plainSandbox>;

function stand(...names: string[]) {
  const made = new Map(names.map((name) => [name, plainSandbox(name)]));
  const store = plainStore();
  const { uploads, held, synced } = plainUploads();
  const said: string[] = [];
  const discarded: string[] = [];
  const broughtBack: string[] = [];
  const saver = new Saver({
    ...{ store, uploads },
    log: {
      error: (words: string) => said.push(`error: ${words}`),
      warn: (words: string) => said.push(`warn: ${words}`),
    } as never,
    sandboxes: {
      all: () => [...made.values()].map(({ sandbox }) => sandbox),
      get: (name) => made.get(name)?.sandbox,
      discard: (name) => {
        discarded.push(name);
        made.delete(name);
      },
      async bringBack(name) {
        broughtBack.push(name);
        made.set(name, plainSandbox(name));
        const image = SandboxImage.of(made.get(name)!.sandbox, uploads);
        saver.adopt(image);
      },
    },
  });
  return {
    ...{ saver, store, held, synced, said, discarded, broughtBack, made },
    of: (name: string): Plain => made.get(name)!,
    /** Of each commit the sandboxes that it was about. */
    saved: () => store.commits.map((changes) => [...new Set(changes.map(({ sandbox }) => sandbox))]),
    refuse(refusal: ((changes: readonly Change[]) => Error | undefined) | undefined) {
      store.refusal = refusal;
    },
  };
}

/** Whether it has settled; asked when everything that waits for nothing has gone on. */
async function isSettled(work: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = () => {
    settled = true;
  };
  work.then(note, note);
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

describe("interfaces 2 the saver", () => {
  it("saves all at once at first, then only what has changed, and nothing where nothing has", async () => {
    const { saver, saved, of, store } = stand("a", "b");
    expect(await saver.saveAll()).toBe(true);
    expect(saved()).toEqual([["a", "b"]]);
    expect(await saver.saveAll()).toBe(true);
    expect(store.commits).toHaveLength(1);
    of("b").write("n2", "new");
    await saver.saveAll();
    expect(saved().slice(1)).toEqual([["b"]]);
    expect(store.commits[1]).toContainEqual(expect.objectContaining({ section: "records/notes", id: "n2" }));
    expect(store.commits[1]!.some((change) => "clear" in change)).toBe(false);
  });

  it("removes from the store what was deleted, once, and saves anew what has its name", async () => {
    const { saver, made, store } = stand("a", "b");
    await saver.saveAll();
    made.delete("a");
    await saver.saveAll();
    await saver.saveAll();
    expect(store.commits.slice(1)).toEqual([[{ sandbox: "a", clear: "" }]]);
    made.set("a", plainSandbox("a"));
    await saver.saveAll();
    expect(store.commits[2]![0]).toEqual({ sandbox: "a", clear: "" });
    expect(store.commits[2]!.length).toBeGreaterThan(3);
  });

  it("--durable: saves the one that somebody waits for, and waits for nothing where nothing has changed", async () => {
    const { saver, saved, of } = stand("a", "b");
    await saver.saveAll();
    for (const name of ["a", "b"]) of(name).write("n2", "new");
    await saver.settled(of("a").sandbox, saver.mark());
    expect(saved().slice(1)).toEqual([["a"]]);
    await saver.settled(of("a").sandbox, saver.mark());
    expect(saved()).toHaveLength(2);
    await saver.settled(undefined, saver.mark());
    expect(saved().slice(2)).toEqual([["b"]]);
  });

  it("--durable: of one that was deleted before it was saved nothing is left to save", async () => {
    const { saver, of, made, saved } = stand("a");
    const { sandbox } = of("a");
    made.delete("a");
    await saver.settled(sandbox, saver.mark());
    expect(saved()).toEqual([]);
  });

  it("--durable: who asks while a commit is under way shares the next one, and waits for it", async () => {
    const { saver, store, of, saved } = stand("a", "b");
    await saver.saveAll();
    let goOn = () => {};
    store.pause = new Promise((resolve) => {
      goOn = resolve;
    });
    of("a").write("n2", "1");
    const first = saver.settled(of("a").sandbox, saver.mark());
    expect(await isSettled(first)).toBe(false);
    of("a").write("n2", "2");
    of("b").write("n2", "1");
    const later = ["a", "b"].map((name) => saver.settled(of(name).sandbox, saver.mark()));
    goOn();
    await first;
    await Promise.all(later);
    expect(saved().slice(1)).toEqual([["a"], ["a", "b"]]);
  });

  it("--durable: what is refused is undone, in that sandbox alone, and said to who waits", async () => {
    const { saver, of, refuse, said } = stand("a", "b");
    await saver.saveAll();
    of("b").write("n2", "nobody waits");
    of("a").write("n2", "too large");
    refuse((changes) => (changes.some(({ sandbox }) => sandbox === "a") ? full() : undefined));
    const mark = saver.mark();
    await expect(saver.settled(of("a").sandbox, mark)).rejects.toMatchObject({ kind: "full" });
    expect(of("a").putBack).toHaveLength(1);
    expect(of("b").putBack).toEqual([]);
    expect(said).toEqual([
      "error: Changes cannot be saved: there is no room left. They are tried again until they can be.",
    ]);
    expect(saver.failure).toMatchObject({ refusal: { kind: "full" }, since: expect.any(Number) });
    // What is the present again is saved; the other goes through.
    expect(await saver.saveAll()).toBe(true);
    expect(said.slice(1)).toEqual(["warn: Everything is saved again."]);
    expect(saver.failure).toBeUndefined();
    await saver.settled(of("b").sandbox, mark);
    await expect(saver.settled(undefined, mark)).rejects.toMatchObject({
      ...{ kind: "failed", message: "the change was undone" },
    });
    await saver.settled(of("a").sandbox, saver.mark());
  });

  it("--durable: one that the store never had is discarded, one that was deleted comes back", async () => {
    const { saver, of, made, refuse, discarded, broughtBack } = stand("a");
    await saver.saveAll();
    refuse(full);
    made.set("new", plainSandbox("new"));
    await expect(saver.settled(of("new").sandbox, saver.mark())).rejects.toThrow("no room");
    expect([discarded, broughtBack]).toEqual([["new"], []]);
    made.delete("a");
    await expect(saver.settled(undefined, saver.mark())).rejects.toThrow("no room");
    expect([discarded, broughtBack]).toEqual([["new"], ["a"]]);
  });

  it("--durable: nobody is refused for a request that was counted; what nobody waits for is tried again", async () => {
    const { saver, of, refuse, saved } = stand("a", "b");
    await saver.saveAll();
    refuse(full);
    of("a").count();
    const mark = saver.mark();
    await saver.settled(of("a").sandbox, mark);
    expect(saver.mark()).toBe(mark);
    of("b").write("n2", "new");
    expect(await saver.saveAll()).toBe(false);
    expect([of("a").putBack, of("b").putBack]).toEqual([[], []]);
    refuse(undefined);
    expect(await saver.saveAll()).toBe(true);
    expect(saved().slice(1)).toEqual([["a", "b"]]);
  });

  it("one that is too large does not keep the others from being saved", async () => {
    const { saver, of, refuse, saved } = stand("a", "b", "c");
    await saver.saveAll();
    for (const name of ["a", "b", "c"]) of(name).write("n2", "new");
    refuse((changes) => (changes.some(({ sandbox }) => sandbox === "b") ? full() : undefined));
    expect(await saver.saveAll()).toBe(false);
    expect(saved().slice(1)).toEqual([["a"], ["c"]]);
  });

  it("says once that nothing can be saved, since when, and once that all is saved again", async () => {
    const { saver, of, refuse, said } = stand("a", "b");
    await saver.saveAll();
    refuse(full);
    of("a").write("n2", "new");
    await saver.saveAll();
    const { since } = saver.failure!;
    refuse(() => new StoreRefusal("read-only", "it is read-only"));
    await saver.saveAll();
    expect(saver.failure).toMatchObject({ refusal: { kind: "read-only" }, since });
    expect(said).toHaveLength(1);
    // Saved it is not where something else is still to be.
    refuse((changes) => (changes.some(({ sandbox }) => sandbox === "a") ? full() : undefined));
    of("b").write("n2", "new");
    await saver.settled(of("b").sandbox, saver.mark());
    expect([saver.failure === undefined, said.length]).toEqual([false, 1]);
    refuse(undefined);
    await saver.saveAll();
    await saver.saveAll();
    expect(said.slice(1)).toEqual(["warn: Everything is saved again."]);
  });

  it("writes everything anew once the store was gone, as it may be another", async () => {
    const { saver, of, refuse, store } = stand("a", "b");
    await saver.saveAll();
    refuse(() => new StoreRefusal("gone", "the folder is gone"));
    of("a").write("n2", "new");
    expect(await saver.saveAll()).toBe(false);
    refuse(undefined);
    expect(await saver.saveAll()).toBe(true);
    const cleared = store.commits[1]!.filter((change) => "clear" in change);
    expect(cleared).toEqual([
      { sandbox: "a", clear: "" },
      { sandbox: "b", clear: "" },
    ]);
    of("a").write("n3", "new");
    await saver.saveAll();
    expect(store.commits[2]!.some((change) => "clear" in change)).toBe(false);
  });

  it("does not begin where nothing can be saved", async () => {
    const { saver, refuse } = stand("a");
    refuse(full);
    await expect(saver.begin()).rejects.toThrow(
      new PersistenceError("Nothing can be saved: there is no room left."),
    );
    refuse(undefined);
    await saver.begin();
  });

  it("holds the bytes of what is saved, and lets those go that are replaced or refused", async () => {
    const { saver, of, held, synced, refuse, made } = stand("a");
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
    refuse(full);
    await saver.settled(sandbox, saver.mark()).catch(() => {});
    expect([held.get("second") ?? 0, held.get("refused")]).toEqual([0, -1]);
    refuse(undefined);
    made.delete("a");
    await saver.saveAll();
    expect(held.get("second")).toBe(-1);
    const { uploads, ...other } = plainUploads();
    const images = [1, 2].map(() => SandboxImage.of(plainSandbox("a").sandbox, uploads));
    for (const image of images) saver.adopt(image);
    expect(other.held.get("a's bytes")).toBe(-1);
  });

  it("looks at all sandboxes within a second, again and again, until it is closed", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { saver, of, saved, store } = stand("a");
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

  it("what leaves the server waits until it is saved, and while nothing can be, for the next attempt", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { saver, of, refuse, saved } = stand("a", "b");
    await saver.saveAll();
    of("a").write("n2", "new");
    await saver.readyToSend(of("a").sandbox);
    expect(saved()).toHaveLength(2);
    refuse(full);
    of("b").write("n2", "new");
    await saver.saveAll();
    saver.start();
    of("a").write("n3", "new");
    const ready = saver.readyToSend(of("a").sandbox);
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

  it("at the end says what could not be saved; what was undone is nothing that is lost", async () => {
    const lost = stand("a");
    await lost.saver.saveAll();
    lost.refuse(full);
    lost.of("a").write("n2", "new");
    await expect(lost.saver.close()).rejects.toThrow(
      new PersistenceError("The last changes could not be saved: there is no room left."),
    );
    expect(lost.store.isClosed).toBe(true);

    const undone = stand("a");
    await undone.saver.saveAll();
    undone.refuse(full);
    undone.of("a").write("n2", "new");
    await undone.saver.settled(undone.of("a").sandbox, undone.saver.mark()).catch(() => {});
    await undone.saver.close();

    const deleted = stand("a");
    await deleted.saver.saveAll();
    deleted.refuse(full);
    deleted.made.delete("a");
    await expect(deleted.saver.close()).rejects.toThrow("could not be saved");

    const copy = stand("a");
    copy.store.closing = new PersistenceError("no copy");
    await expect(copy.saver.close()).rejects.toThrow("no copy");
  });

  it("commits five hundred sandboxes at a time", async () => {
    const names = Array.from({ length: 501 }, (_, i) => `s${i}`);
    const { saver, saved } = stand(...names);
    await saver.saveAll();
    expect(saved().map(({ length }) => length)).toEqual([500, 1]);
  });
});
