import { expect, it } from "vitest";

let attempts = 0;

it("fails again when repeated", () => {
  attempts += 1;
  expect(attempts).toBe(3);
});

it("had no second repetition", () => {
  expect(attempts).toBe(2);
});

it.skip("is left out", () => {
  expect(attempts).toBe(0);
});
