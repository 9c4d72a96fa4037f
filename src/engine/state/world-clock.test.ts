import { Type } from "typebox";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { replaceEngineTimers } from "../../../test/support/fake-timers.ts";
import { makeClock } from "./clock.ts";
import { collection } from "./collection.ts";
import { Tables } from "./tables.ts";
import { timers } from "./timers.ts";
import { World } from "./world.ts";
import { encodeWorld } from "./world-document.ts";
import type { RanTimer, TimerHandler, WorldParts } from "./world-parts.ts";

interface Tick {
  id: string;
  at: number;
  text: string;
}
const ticks = collection<Tick>({ name: "ticks", prefix: "tick_", schema: Type.Object({}) });

const START = Date.parse("2026-03-15T12:00:00.000Z");
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

function makeWorld(parts: Partial<WorldParts> = {}, mode: "frozen" | "real" | "scaled" = "frozen") {
  const wall = { now: START };
  const world = new World({
    root: { tables: Tables.empty([ticks, timers]), draws: 0 },
    clock: makeClock(mode, START, wall.now, mode === "scaled" ? 60 : 1),
    origin: START,
    seed: 7,
    secretKey: "test",
    wallClock: () => wall.now,
    parts: { timerHandlers: {}, onEmit: () => {}, onCommit: () => {}, ...parts },
  });
  return { world, wall };
}

/** Sets itself again for a year, each time after a random delay. */
const repeatTimer: TimerHandler = (tx, timer) => {
  const random = tx.random("tick");
  tx.put(ticks, { id: tx.createId("tick_"), at: timer.due, text: `${timer.subject} ${tx.toIso(tx.now)}` });
  const due = timer.due + random.int(1, 9) * HOUR;
  if (due < 380 * DAY) tx.schedule({ kind: timer.kind, subject: timer.subject, due });
  return async () => {
    await new Promise((resolve) => setImmediate(resolve));
  };
};

async function trace(steps: number): Promise<string> {
  const { world } = makeWorld({ timerHandlers: { expiry: repeatTimer, "file.step": repeatTimer } });
  world.transact((tx) => {
    tx.schedule({ kind: "expiry", subject: "a", due: 1 });
    tx.schedule({ kind: "expiry", subject: "b", due: 1 });
    tx.schedule({ kind: "file.step", subject: "c", due: 30 * DAY });
  });
  const ran: RanTimer[] = [];
  for (let step = 0; step < steps; step++)
    ran.push(...(await world.advance((now) => now + (400 * DAY) / steps)));
  expect(ran.length).toBeGreaterThan(3000);
  return JSON.stringify({ ran, world: encodeWorld(world.toValue()) });
}

const zone = process.env["TZ"];
afterEach(() => {
  process.env["TZ"] = zone;
});

describe("a sandbox's clock [interfaces 4]", () => {
  it("makes the same changes in one step of 400 days as in 400 steps, in three time zones [interfaces 4]", async () => {
    const once = await trace(1);
    expect(await trace(400)).toBe(once);
    for (const name of ["Pacific/Kiritimati", "America/St_Johns"]) {
      process.env["TZ"] = name;
      for (let time = 0; time < 9; time++) expect(await trace(time % 2 === 0 ? 1 : 400)).toBe(once);
    }
  }, 180_000);

  it("runs simultaneous advances one after the other [interfaces 4]", async () => {
    const { world } = makeWorld({ timerHandlers: { expiry: repeatTimer } });
    world.transact((tx) => tx.schedule({ kind: "expiry", subject: "a", due: 1 }));
    const [first, second] = await Promise.all([
      world.advance((now) => now + DAY),
      world.advance((now) => now + DAY),
    ]);
    expect(world.epochNow()).toBe(START + 2 * DAY);
    for (const { at } of first) expect(Date.parse(at)).toBeLessThanOrEqual(START + DAY);
    for (const { at } of second) expect(Date.parse(at)).toBeGreaterThan(START + DAY);
  });

  it("ends a running advance at a restore, and shows the snapshot's time [interfaces 4]", async () => {
    const { world } = makeWorld({ timerHandlers: { expiry: repeatTimer } });
    world.transact((tx) => tx.schedule({ kind: "expiry", subject: "a", due: HOUR }));
    const snapshot = world.toValue();
    const advance = world.advance((now) => now + 100 * DAY);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    world.restore(snapshot);
    await advance;
    expect(world.epochNow()).toBe(START);
    expect(world.read().all(ticks).size).toBe(0);
    expect(world.listPending().map(({ due_at }) => Date.parse(due_at))).toEqual([START + HOUR]);
  });

  it("ends a running clock change at a restore, and has the clock of the snapshot [interfaces 4]", async () => {
    const { world } = makeWorld({ timerHandlers: { expiry: repeatTimer } });
    world.transact((tx) => tx.schedule({ kind: "expiry", subject: "a", due: HOUR }));
    const snapshot = world.toValue();
    const set = world.setClock("scaled", START + 100 * DAY, 60);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    world.restore(snapshot);
    await set;
    expect([world.clock.mode, world.epochNow()]).toEqual(["frozen", START]);
  });

  it.each(["real", "scaled"] as const)("can be advanced while it is %s [interfaces 4]", async (mode) => {
    const { world, wall } = makeWorld(
      {
        timerHandlers: {
          expiry: (tx, timer) => void tx.put(ticks, { id: "tick_1", at: timer.due, text: "" }),
        },
      },
      mode,
    );
    world.transact((tx) => tx.schedule({ kind: "expiry", subject: "x", due: 10 * DAY }));
    wall.now += 1000;
    const passed = mode === "real" ? 1000 : 60_000;
    const ran = await world.advance((now) => now + 10 * DAY);
    expect(ran).toEqual([{ at: new Date(START + 10 * DAY).toISOString(), kind: "expiry", subject: "x" }]);
    expect(world.epochNow()).toBe(START + 10 * DAY + passed);
    wall.now += 1000;
    expect(world.epochNow()).toBe(START + 10 * DAY + 2 * passed);
    world.close();
  });

  it("stops if frozen without a time, and joins the wall clock if real, running the timers in between [interfaces 4]", async () => {
    const { world, wall } = makeWorld({ timerHandlers: { expiry: () => {} } }, "scaled");
    world.transact((tx) => tx.schedule({ kind: "expiry", subject: "x", due: HOUR }));
    wall.now += 10_000;
    await world.setClock("frozen");
    wall.now += 10_000;
    expect(world.epochNow()).toBe(START + 600_000);
    wall.now = START + 2 * HOUR;
    expect((await world.setClock("real")).map(({ subject }) => subject)).toEqual(["x"]);
    expect(world.epochNow()).toBe(wall.now);
    await world.advance((now) => now + DAY);
    await expect(world.setClock("real")).rejects.toThrow(RangeError);
    world.close();
  });

  it("sets a wake-up for the next timer when it starts, and clears it when it stops [interfaces 4]", async () => {
    onTestFinished(replaceEngineTimers());
    const ran: string[] = [];
    const { world, wall } = makeWorld({
      timerHandlers: { lease: (_tx, { subject }) => void ran.push(subject) },
    });
    const pass = async (milliseconds: number) => {
      wall.now += milliseconds;
      await vi.advanceTimersByTimeAsync(milliseconds);
    };
    world.transact((tx) => {
      for (const [subject, due] of [
        ["first", HOUR],
        ["second", 2 * HOUR],
      ] as const)
        tx.schedule({ kind: "lease", subject, due });
    });
    await pass(10 * HOUR);
    expect(ran).toEqual([]);
    await world.setClock("scaled", undefined, 60);
    await pass(61_000);
    expect(ran).toEqual(["first"]);
    await world.setClock("frozen");
    await pass(10 * HOUR);
    expect(ran).toEqual(["first"]);
    world.close();
  });

  it("refuses to leave the calendar, and stays where it was [interfaces 4]", async () => {
    const { world } = makeWorld();
    await expect(world.advance((now) => now + 8e15)).rejects.toThrow("9999");
    expect(world.epochNow()).toBe(START);
  });

  it("runs a timer that is due now, also if frozen", () => {
    const { world } = makeWorld({
      timerHandlers: { expiry: (tx) => void tx.put(ticks, { id: "tick_1", at: 0, text: "" }) },
    });
    world.transact((tx) => {
      tx.schedule({ kind: "expiry", subject: "now", due: tx.now });
      tx.schedule({ kind: "expiry", subject: "later", due: tx.now + 1 });
    });
    world.catchUp();
    expect(world.read().all(ticks).size).toBe(1);
    expect(world.listPending().map(({ subject }) => subject)).toEqual(["later"]);
    world.close();
  });

  it("drops the changes and the timer of a handler that throws, and runs the others", async () => {
    const failed: string[] = [];
    const { world } = makeWorld({
      timerHandlers: {
        expiry: (tx, timer) => {
          tx.put(ticks, { id: `tick_${timer.subject}`, at: timer.due, text: "" });
          if (timer.subject === "bad") throw new Error("no");
        },
      },
      onTimerError: (_error, timer) => failed.push(timer.subject),
    });
    world.transact((tx) => {
      tx.schedule({ kind: "expiry", subject: "bad", due: 1000 });
      tx.schedule({ kind: "expiry", subject: "good", due: 2000 });
    });
    const ran = await world.advance((now) => now + 5000);
    expect(ran.map(({ subject }) => subject)).toEqual(["bad", "good"]);
    expect(failed).toEqual(["bad"]);
    expect([...world.read().all(ticks)].map(({ id }) => id)).toEqual(["tick_good"]);
  });
});
