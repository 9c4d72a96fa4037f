import { expect, it } from "vitest";

let attempts = 0;

it("fails", () => {
  attempts += 1;
  expect(attempts).toBe(2);
});

it("was not repeated", () => {
  expect(attempts).toBe(1);
});

it.skip("is left out", () => {
  expect(attempts).toBe(0);
});
