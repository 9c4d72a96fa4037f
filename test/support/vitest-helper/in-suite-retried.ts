import { expect, test } from "../../../src/client/vitest.ts";

// test/cli/suite-helpers.test.ts runs this file as the command of a suite.
let attempts = 0;

test("passes on a retry", { retry: 1 }, ({ sandbox }) => {
  attempts += 1;
  expect([sandbox.url, attempts]).toEqual([sandbox.url, 2]);
});

test("fails on each attempt", { retry: 1 }, ({ sandbox }) => {
  expect(sandbox.url).toBe("");
});

test("fails on one of its repetitions", { repeats: 1 }, ({ sandbox }) => {
  attempts += 1;
  expect([sandbox.url, attempts]).toEqual([sandbox.url, 4]);
});
