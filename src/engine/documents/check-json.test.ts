import { expect, it } from "vitest";
import { checkJsonText } from "./check-json.ts";

it.each([
  "0.12345678901234567",
  "1.0e20",
  "-9007199254740991",
  '"12345678901234567890"',
  '{ "1234567890123456789": 1 }',
])("%s is accepted, since JavaScript reads it without rounding an integer [interfaces 5]", (text) => {
  expect(() => checkJsonText(text, { file: "a.json", exactNumbers: true })).not.toThrow();
});

it("keys are compared as JSON reads them, each within its own map [interfaces 5]", () => {
  const check = (text: string) => checkJsonText(text, { file: "a.json", exactNumbers: true });
  expect(() => check('{ "a": { "b": "b" }, "b": [{ "a": 1 }, { "a": "{" }] }')).not.toThrow();
  expect(() => check('{ "a\\"b": 1, "a\\u0022b": 2 }')).toThrow('the key `a"b` is given twice');
});
