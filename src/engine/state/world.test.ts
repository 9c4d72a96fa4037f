import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { makeClock } from "./clock.ts";
import { collection } from "./collection.ts";
import { Tables } from "./tables.ts";
import { timers } from "./timers.ts";
import { World } from "./world.ts";
import type { WorldParts } from "./world-parts.ts";

interface Note {
  id: string;
  folder: string;
  at: number;
}

const notes = collection<Note>({
  name: "notes",
  prefix: "note_",
  schema: Type.Object({}),
  indexes: { by_folder: { groups: ({ folder }) => [folder], order: ({ at }) => -at } },
});

const START = Date.parse("2026-03-15T12:00:00.000Z");

function makeWorld(parts: Partial<WorldParts> = {}, mode: "frozen" | "real" = "frozen", draws = 0) {
  let wall = START;
  const world = new World({
    root: { tables: Tables.empty([notes, timers]), draws },
    clock: makeClock(mode, START, wall),
    origin: START,
    seed: 7,
    secretKey: "test",
    wallClock: () => wall,
    parts: { timerHandlers: {}, onEmit: () => {}, onCommit: () => {}, ...parts },
  });
  return { world, pass: (ms: number) => (wall += ms) };
}

describe("a world", () => {
  it("is unchanged by a transaction that threw", () => {
    const { world } = makeWorld();
    const before = world.root;
    expect(() =>
      world.transact((tx) => {
        tx.insert(notes, { id: "note_1", folder: "a", at: 0 });
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(world.root).toBe(before);
  });

  it("keeps lists in order and narrows them by range without reading the rest", () => {
    const { world } = makeWorld();
    world.transact((tx) => {
      for (let i = 0; i < 10; i++)
        tx.insert(notes, { id: `note_${i}`, folder: i % 2 ? "odd" : "even", at: i });
      tx.update(notes, "note_4", { folder: "odd" });
      tx.remove(notes, "note_9");
    });
    const tx = world.read();
    const odd = tx.index(notes, "by_folder", "odd");
    expect(odd.page(0, 10).map(({ id }) => id)).toEqual(["note_7", "note_5", "note_4", "note_3", "note_1"]);
    expect(
      odd
        .between(-5, -3)
        .page(0, 10)
        .map(({ id }) => id),
    ).toEqual(["note_5", "note_4", "note_3"]);
    expect(odd.between(-5, -3).size).toBe(3);
    expect(tx.index(notes, "by_folder", "none").size).toBe(0);
  });

  it("runs due timers of an advance in order, at their due times, and waits for their effects [interfaces 4]", async () => {
    const seen: string[] = [];
    const { world } = makeWorld({
      timerHandlers: {
        "file.step": (tx, timer) => {
          seen.push(`${timer.subject} at ${tx.now}`);
          if (timer.subject === "a") tx.schedule({ kind: "file.step", subject: "c", due: timer.due + 500 });
          return async () => {
            await new Promise((resolve) => setImmediate(resolve));
            seen.push(`${timer.subject} done at ${world.epochNow() - START}`);
          };
        },
      },
    });
    world.transact((tx) => {
      tx.schedule({ kind: "file.step", subject: "b", due: 2000 });
      tx.schedule({ kind: "file.step", subject: "a", due: 1000 });
      tx.schedule({ kind: "file.step", subject: "z", due: 9000 });
    });
    const ran = await world.advance((now) => now + 3000);
    expect(ran.map(({ at, subject }) => [at, subject])).toEqual([
      ["2026-03-15T12:00:01.000Z", "a"],
      ["2026-03-15T12:00:01.500Z", "c"],
      ["2026-03-15T12:00:02.000Z", "b"],
    ]);
    expect(seen).toEqual([
      "a at 1000",
      "a done at 1000",
      "c at 1500",
      "c done at 1500",
      "b at 2000",
      "b done at 2000",
    ]);
    expect(world.epochNow()).toBe(START + 3000);
    expect(world.listPending().map(({ subject }) => subject)).toEqual(["z"]);
  });

  it("starts all timers of one instant together, without a cancelled one [interfaces 4]", async () => {
    const seen: string[] = [];
    const open: (() => void)[] = [];
    const { world } = makeWorld({
      timerHandlers: {
        "webhook.retry":
          (_tx, { subject }) =>
          async () => {
            seen.push(`${subject} begins`);
            if (subject === "c") await Promise.resolve();
            else await new Promise<void>((resolve) => open.push(resolve));
            seen.push(`${subject} ends`);
            return subject !== "b";
          },
      },
    });
    world.transact((tx) => {
      for (const [subject, due] of [
        ["a", 1000],
        ["b", 1000],
        ["c", 2000],
      ] as const)
        tx.schedule({ kind: "webhook.retry", subject, due });
    });
    const advance = world.advance((now) => now + 2000);
    while (open.length < 2) await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toEqual(["a begins", "b begins"]);
    for (const end of open) end();
    expect((await advance).map(({ subject }) => subject)).toEqual(["a", "c"]);
    expect(seen).toEqual(["a begins", "b begins", "a ends", "b ends", "c begins", "c ends"]);
  });

  it("ends a wait for the next change when the world changes, when it ends, and when the signal aborts", async () => {
    const { world } = makeWorld();
    const leaving = new AbortController();
    const changed = world.waitForChange(leaving.signal);
    world.transact((tx) => tx.insert(notes, { id: "note_1", folder: "a", at: 0 }));
    await changed;
    const left = world.waitForChange(leaving.signal);
    leaving.abort();
    await left;
    await world.waitForChange(leaving.signal);
    const ended = world.waitForChange(new AbortController().signal);
    world.close();
    await ended;
    await world.waitForChange(new AbortController().signal);
    expect(world.isClosed).toBe(true);
  });

  it("notifies its parts when a restore or the end replaces it", () => {
    const seen: boolean[] = [];
    const { world } = makeWorld({ onReplace: ({ isClosed }) => seen.push(isClosed) });
    world.restore(world.toValue());
    world.close();
    expect(seen).toEqual([false, true]);
  });

  it("refuses to go back, and goes to the nearest due instant for {next} [interfaces 4]", async () => {
    const { world } = makeWorld();
    await expect(world.advance(START - 1)).rejects.toThrow(RangeError);
    world.transact((tx) => tx.schedule({ kind: "expiry", subject: "x", due: 60_000 }));
    expect((await world.advance("next")).map(({ subject }) => subject)).toEqual(["x"]);
    expect(world.epochNow()).toBe(START + 60_000);
    expect(await world.advance("next")).toEqual([]);
    expect(world.epochNow()).toBe(START + 60_000);
  });

  it("runs the timers that are due on a moving clock before it is read", () => {
    const { world, pass } = makeWorld(
      { timerHandlers: { expiry: (tx) => void tx.insert(notes, { id: "note_1", folder: "a", at: 0 }) } },
      "real",
    );
    world.transact((tx) => tx.schedule({ kind: "expiry", subject: "x", due: 5000 }));
    pass(4999);
    world.catchUp();
    expect(world.read().get(notes, "note_1")).toBeUndefined();
    pass(1);
    world.transact((tx) => expect(tx.get(notes, "note_1")).toBeDefined());
    world.close();
  });

  it("does not advance if it is stopped while the advance waits for running work [interfaces 4]", async () => {
    const { world } = makeWorld();
    let endWork = () => {};
    world.track(new Promise<void>((resolve) => (endWork = resolve)));
    const advance = world.advance((now) => now + 3000);
    await new Promise(setImmediate);
    world.stopAdvance();
    endWork();
    expect([await advance, world.epochNow()]).toEqual([[], START]);
  });

  it("runs a timer once if it is run early when it is due already [interfaces 4]", async () => {
    let runs = 0;
    const { world, pass } = makeWorld({ timerHandlers: { expiry: () => void runs++ } }, "real");
    world.transact((tx) => tx.schedule({ kind: "expiry", subject: "x", due: 5000 }));
    pass(5000);
    await world.runEarly("expiry", "x");
    expect([runs, world.listPending()]).toEqual([1, []]);
    world.close();
  });

  it("runs early the timer that is named, although another is due while the clock advances [interfaces 4]", async () => {
    const ran: string[] = [];
    let early: Promise<unknown> | undefined;
    const { world } = makeWorld({
      timerHandlers: {
        expiry: (_tx, { subject }) => {
          ran.push(subject);
          if (subject !== "first") return undefined;
          return async () => {
            early = world.runEarly("expiry", "later");
          };
        },
      },
    });
    world.transact((tx) => {
      tx.schedule({ kind: "expiry", subject: "first", due: 5000 });
      tx.schedule({ kind: "expiry", subject: "i", due: 5000 });
      tx.schedule({ kind: "expiry", subject: "later", due: 90_000 });
    });
    await world.advance(START + 5000);
    await early;
    expect(ran).toEqual(["first", "later", "i"]);
  });

  it("has the clock, the data and the draws of a snapshot again after a restore [interfaces 4]", () => {
    const { world } = makeWorld();
    const snapshot = world.toValue();
    const draw = () => world.transact((tx) => tx.createId("note_"));
    const first = draw();
    world.transact((tx) => tx.insert(notes, { id: "note_1", folder: "a", at: 0 }));
    world.restore(snapshot);
    expect(world.read().get(notes, "note_1")).toBeUndefined();
    expect(draw()).toBe(first);
    expect(draw()).not.toBe(first);
  });
});

it.each([0, 1, 35, 36, 46_655, 46_656, 1_000_000, 36 ** 6 - 2])(
  "an id that sorts before the earlier ones has its rank in base 36, after %i draws [G18]",
  (draws) => {
    const { world } = makeWorld({}, "frozen", draws);
    const id = world.transact((tx) => tx.createNewestFirstId("log_"));
    expect(id.slice(0, 11)).toBe(`log_0${(36 ** 6 - 1 - draws).toString(36).padStart(6, "0")}`);
  },
);
