import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { toValidator } from "../contract/validator.ts";
import { makeClock } from "../state/clock.ts";
import { Tables } from "../state/tables.ts";
import { timers } from "../state/timers.ts";
import { World } from "../state/world.ts";
import { queueAttempt, queuedAttempts, waitForAttempts } from "./queued-attempts.ts";

function makeWorld() {
  const world = new World({
    root: { tables: Tables.empty([queuedAttempts, timers]), draws: 0 },
    clock: makeClock("frozen", 0, 0),
    ...{ origin: 0, seed: 1, secretKey: "test", wallClock: () => 0 },
    parts: { timerHandlers: {}, onEmit: () => {}, onCommit: () => {} },
  });
  const queue = (id: string, webhook_id = "wh_1", delivery_id = id) =>
    world.transact((tx) => queueAttempt(tx, { id, kind: "first", webhook_id, delivery_id }));
  const end = (id: string) => world.transact((tx) => tx.remove(queuedAttempts, id));
  return { world, queue, end };
}

/** Whether the promise has resolved, after all work that is ready has run. */
async function hasEnded(work: Promise<void>): Promise<boolean> {
  let ended = false;
  void work.then(() => {
    ended = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  return ended;
}

describe("the queue of attempts", () => {
  it("a new attempt is the last in its webhook's queue [6.4]", () => {
    const { world, queue, end } = makeWorld();
    for (const id of ["z", "a", "m"]) queue(id);
    queue("other", "wh_2", "z");
    end("z");
    queue("b");
    const of = (index: string, group: string) => [...world.read().index(queuedAttempts, index, group)];
    expect(of("by_webhook", "wh_1").map(({ id, position }) => [id, position])).toEqual([
      ...[["a", 2] as const, ["m", 3] as const, ["b", 4] as const],
    ]);
    expect(world.read().get(queuedAttempts, "other")).toMatchObject({ position: 1, cancelled: false });
    queue("z", "wh_2", "z");
    expect(of("by_delivery", "z").map(({ id }) => id)).toEqual(["other", "z"]);
  });

  it("an attempt from a store or a snapshot is validated [interfaces 4]", () => {
    const row = { ...{ id: "a", kind: "first", webhook_id: "wh_1", delivery_id: "a" }, position: 1 };
    const validate = toValidator(queuedAttempts.schema!);
    for (const kind of ["first", "retry", "redelivery"]) {
      expect(validate({ ...row, kind, cancelled: false, again: true })).toBe(true);
    }
    expect(validate({ ...row, cancelled: false, kind: "other" })).toBe(false);
    expect(validate({ ...row, cancelled: false, position: 0 })).toBe(false);
    expect(validate(row)).toBe(false);
  });

  it("waits until the outcome of every attempt is recorded, in any order [interfaces 4]", async () => {
    const { world, queue, end } = makeWorld();
    for (const id of ["a", "b", "c"]) queue(id);
    const all = waitForAttempts(world, ["a", "b"]);
    const none = waitForAttempts(world, []);
    const gone = waitForAttempts(world, ["gone"]);
    expect(await Promise.all([none, gone].map(hasEnded))).toEqual([true, true]);
    end("b");
    expect(await hasEnded(all)).toBe(false);
    end("a");
    expect(await hasEnded(all)).toBe(true);
  });

  it("stops waiting when the world ends or is restored [interfaces 4]", async () => {
    const { world, queue } = makeWorld();
    queue("a");
    const before = waitForAttempts(world, ["a"]);
    world.restore(world.toValue());
    expect(await hasEnded(before)).toBe(true);
    const after = waitForAttempts(world, ["a"]);
    expect(await hasEnded(after)).toBe(false);
    world.close();
    expect(await hasEnded(after)).toBe(true);
  });

  it("stops waiting when the client leaves, and removes its listeners [interfaces 4]", async () => {
    const { world, queue, end } = makeWorld();
    let listening = 0;
    const subscribe = world.subscribe.bind(world);
    world.subscribe = (listener) => {
      const stop = subscribe(listener);
      listening += 1;
      return () => {
        listening -= 1;
        stop();
      };
    };
    for (const id of ["a", "b"]) queue(id);
    const controller = new AbortController();
    const { signal } = controller;
    const [a, b] = ["a", "b"].map((id) => waitForAttempts(world, [id], signal)) as [
      Promise<void>,
      Promise<void>,
    ];
    expect([listening, getEventListeners(signal, "abort").length]).toEqual([2, 2]);
    end("a");
    expect([await hasEnded(a), await hasEnded(b)]).toEqual([true, false]);
    expect([listening, getEventListeners(signal, "abort").length]).toEqual([1, 1]);
    controller.abort();
    expect(await hasEnded(b)).toBe(true);
    expect([listening, getEventListeners(signal, "abort").length]).toEqual([0, 0]);
    expect(await hasEnded(waitForAttempts(world, ["b"], signal))).toBe(true);
  });
});
