import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { replaceEngineTimers } from "../../../test/support/fake-timers.ts";
import type { World } from "../state/world.ts";
import { Forwarding } from "./forwarding.ts";

let useRealTimers: () => void;
beforeEach(() => {
  useRealTimers = replaceEngineTimers();
});
afterEach(() => useRealTimers());

const world = {
  isClosed: false,
  subscribe: () => () => {},
  read: () => ({ get: () => ({ id: "rcv_1" }) }),
} as unknown as World;

it("a leased receiver ends 5 s after its last client left, unless one comes back [interfaces 11]", async () => {
  const deserted: string[] = [];
  const forwarding = new Forwarding((_world, id) => void deserted.push(id));
  const follow = async () => {
    const client = new AbortController();
    const events = forwarding.follow(world, "rcv_1", client.signal)[Symbol.asyncIterator]();
    await events.next();
    return async () => {
      client.abort();
      await events.next();
    };
  };
  const [leaveFirst, leaveSecond] = [await follow(), await follow()];
  await leaveFirst();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(deserted).toEqual([]);
  await leaveSecond();
  await vi.advanceTimersByTimeAsync(4_900);
  const leaveThird = await follow();
  await leaveThird();
  await vi.advanceTimersByTimeAsync(4_900);
  expect(deserted).toEqual([]);
  await vi.advanceTimersByTimeAsync(200);
  expect(deserted).toEqual(["rcv_1"]);
});
