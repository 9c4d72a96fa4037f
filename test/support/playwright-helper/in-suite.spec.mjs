// test/cli/suite-helpers.test.ts runs this file as the command of a suite, in two projects.
import { expect, test } from "../../../dist/client/playwright.js";

test("passes on a retry", ({ sandbox }, { retry }) => {
  expect([sandbox.url, retry]).toEqual([sandbox.url, 1]);
});

test("passes on the desktop", ({ sandbox }, { project }) => {
  expect([sandbox.url, project.name]).toEqual([sandbox.url, "desktop"]);
});
