import { expect, it } from "vitest";
import { combineTimerHandlers } from "./listeners.ts";

it("a timer is handled by all resources that handle its kind, and ends when all of them have finished", async () => {
  const calls: string[] = [];
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const combined = combineTimerHandlers([
    {},
    { timers: { "file.step": () => void calls.push("a"), "webhook.retry": () => void calls.push("retry") } },
    {
      timers: {
        "file.step": () => {
          calls.push("b");
          return () => ended.then(() => void calls.push("b done"));
        },
      },
    },
    { timers: { "file.step": () => async () => void calls.push("c done") } },
  ]);
  expect(Object.keys(combined)).toEqual(["webhook.retry", "file.step"]);
  expect(combined["webhook.retry"]!({} as never, {} as never)).toBeUndefined();
  const effect = combined["file.step"]!({} as never, {} as never)!;
  expect(calls).toEqual(["retry", "a", "b"]);
  const running = effect();
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(calls).toEqual(["retry", "a", "b", "c done"]);
  end();
  expect(await running).toBeUndefined();
  expect(calls.at(-1)).toBe("b done");
});
