import { expect, it } from "vitest";
import { toType } from "./schema-types.ts";

it("a literal type keeps the line ends of its text [interfaces 18]", () => {
  const scope = { purpose: "answer", nullable: false, has: () => false, refer: () => "unknown" } as const;
  expect(toType({ const: "a\u2028b\u2029c" }, scope)).toBe('"a\\u2028b\\u2029c"');
});
