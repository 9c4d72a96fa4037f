import { expect, it } from "vitest";
import { refusalOf } from "./request-title.ts";

it.each([
  [{ status: 201, code: null }, undefined],
  [{ status: 399, code: null }, undefined],
  [{ status: 400, code: "BAD_REQUEST" }, "400 BAD_REQUEST"],
  [{ status: 0, code: null }, "by a broken connection"],
  [{ status: 503, code: null }, "503"],
])("interfaces 10 what was done although it was answered %o is told as answered %s", (answer, refusal) => {
  expect(refusalOf({ ...answer, sequence: 7 })).toBe(refusal);
});
