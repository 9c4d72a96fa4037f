import { expect, it } from "vitest";
// @ts-expect-error A script without types.
import { findSubstitute } from "./build-browser.mjs";

it.each([
  ["/home/me/understudy/src/documents/node-files.ts", undefined, "web-files.ts"],
  ["C:\\me\\understudy\\src\\documents\\node-files.ts", undefined, "web-files.ts"],
  ["C:\\u\\src\\engine\\read-document.ts", "C:\\u\\src\\documents\\read-fixture.ts", "web-read-document.ts"],
  ["node:zlib", "C:\\u\\src\\hosts\\fetch\\web-platform.ts", "node-substitutes.ts"],
])("a page gets a substitute for %s, also if Windows built it [interfaces 17]", (id, importer, file) => {
  expect(findSubstitute(id, importer)).toMatch(new RegExp(`[/\\\\]${file}$`));
});

it("a page gets other modules as they are [interfaces 17]", () => {
  expect(
    findSubstitute("C:\\u\\src\\engine\\read-document.ts", "C:\\u\\src\\control\\state.ts"),
  ).toBeUndefined();
});
