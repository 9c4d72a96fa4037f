import { executionAsyncResource } from "node:async_hooks";
import { expect, it } from "vitest";
import { heldTick, holdTick } from "./hold-tick.ts";

/** What Node queues for a callback. */
const nextTick = () =>
  new Promise<object>((resolve) => process.nextTick(() => resolve(executionAsyncResource())));

it("quality 1: what Node queues for a next tick is held once, and shaped like every other", async () => {
  holdTick();
  const tick = await nextTick();
  const held = heldTick()!;
  // An AsyncLocalStorage adds what it stores behind them.
  const fields = (of: object) => Reflect.ownKeys(of).slice(0, 4);
  expect(fields(held)).toEqual(fields(tick));
  expect(held).toHaveProperty("callback");
  holdTick();
  await nextTick();
  expect(heldTick()).toBe(held);
});
