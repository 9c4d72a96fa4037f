import { expect, it, vi } from "vitest";
import { combinedTimers } from "./combined-timers.ts";
import { Mutex } from "./mutex.ts";
import { nextChange } from "./next-change.ts";
import { PendingWork } from "./pending-work.ts";
import type { World } from "./world.ts";

function gate() {
  let open = () => {};
  let fail = (_error: Error) => {};
  const closed = new Promise<void>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { closed, open, fail };
}
/** Whatever can happen by itself has happened. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

it("work takes turns, also after one that failed", async () => {
  const turns = new Mutex();
  const done: string[] = [];
  const [first, second] = [gate(), gate()];
  const one = turns.run(() => first.closed.then(() => done.push("first")));
  const two = turns.run(async () => {
    done.push("second began");
    await second.closed;
    return 2;
  });
  let ended = false;
  void turns.idle().then(() => {
    ended = true;
  });
  await settled();
  expect(done).toEqual([]);
  first.fail(new Error("no"));
  await expect(one).rejects.toThrow("no");
  await settled();
  expect([done, ended]).toEqual([["second began"], false]);
  second.open();
  expect(await two).toBe(2);
  await settled();
  expect(ended).toBe(true);
  await new Mutex().idle();
});

it("what began while others were waited for is waited for too, and failures are waited for like the rest", async () => {
  const work = new PendingWork();
  await work.settled();
  const [first, second] = [gate(), gate()];
  work.track(first.closed);
  let over = false;
  const waiting = work.settled().then(() => {
    over = true;
  });
  work.track(second.closed);
  first.fail(new Error("no"));
  await settled();
  expect(over).toBe(false);
  second.open();
  await waiting;
  await work.settled();
});

it("the next change ends the wait; so does the end of the world, or of whoever waits", async () => {
  const listeners = new Set<() => void>();
  const world = {
    isClosed: false,
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const leaving = new AbortController();
  const forget = vi.spyOn(leaving.signal, "removeEventListener");
  const wait = (signal = leaving.signal) => nextChange(world as unknown as World, signal);
  const changed = wait();
  expect(listeners.size).toBe(1);
  for (const listener of listeners) listener();
  await changed;
  expect([listeners.size, forget.mock.calls.length]).toEqual([0, 1]);
  expect(forget.mock.calls[0]![0]).toBe("abort");
  const left = wait();
  leaving.abort();
  await left;
  expect(listeners.size).toBe(0);
  await wait();
  world.isClosed = true;
  await wait(new AbortController().signal);
  expect(listeners.size).toBe(0);
});

it("timers of one kind are told to all who care for it, and what they begin is waited for together", async () => {
  const told: string[] = [];
  const done = gate();
  const combined = combinedTimers([
    {},
    { timers: { "file.step": () => void told.push("a"), "webhook.retry": () => void told.push("retry") } },
    {
      timers: {
        "file.step": () => {
          told.push("b");
          return () => done.closed.then(() => void told.push("b done"));
        },
      },
    },
    { timers: { "file.step": () => async () => void told.push("c done") } },
  ]);
  expect(Object.keys(combined)).toEqual(["file.step", "webhook.retry"]);
  expect(combined["webhook.retry"]!({} as never, {} as never)).toBeUndefined();
  const effect = combined["file.step"]!({} as never, {} as never)!;
  expect(told).toEqual(["retry", "a", "b"]);
  const running = effect();
  await settled();
  expect(told).toEqual(["retry", "a", "b", "c done"]);
  done.open();
  expect(await running).toBeUndefined();
  expect(told.at(-1)).toBe("b done");
});
