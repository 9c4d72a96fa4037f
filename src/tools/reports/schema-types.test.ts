import { expect, it } from "vitest";
import { DECLARED_SCOPE, toType } from "./schema-types.ts";

it("a literal type keeps the line ends of its text [interfaces 18]", () => {
  expect(toType({ const: "a\u2028b\u2029c" }, DECLARED_SCOPE)).toBe('"a\\u2028b\\u2029c"');
});
