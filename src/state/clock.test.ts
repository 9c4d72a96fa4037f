import { expect, it } from "vitest";
import { forwardClock } from "./clock.ts";

it("interfaces 4 a real clock never runs backwards, and goes on from where it was", () => {
  let machine = 1_000;
  const clock = forwardClock(() => machine);
  const read = (at: number) => {
    machine = at;
    return clock();
  };
  expect([read(1_000), read(1_500), read(400), read(401), read(500)]).toEqual([
    1_000, 1_500, 1_500, 1_501, 1_600,
  ]);
  expect(read(300)).toBe(1_600);
  expect(read(310)).toBe(1_610);
});
