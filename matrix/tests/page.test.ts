import { expect, test } from "understudy-sandbox/vitest";

test("in a page", async ({ sandbox }) => {
  expect(sandbox.url).toBeTruthy();
});
