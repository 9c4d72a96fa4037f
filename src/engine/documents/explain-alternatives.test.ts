import { Ajv2020 as Ajv } from "ajv/dist/2020.js";
import { expect, it } from "vitest";
import { checkDocument } from "./check-document.ts";
import { formatProblem } from "./document-error.ts";
import { readDocument } from "./read-document.ts";

const record = { type: "object", additionalProperties: false, properties: { id: { type: "string" } } };
const listOrCount = { anyOf: [{ type: "array", items: record }, { type: "integer" }] };

it.each([1, 600, 10_000])(
  "a list of %d wrong records is explained as records, not as their number [interfaces 5]",
  (many) => {
    const document = readDocument("- { id: a, odd: 1 }\n".repeat(many), { file: "a.yaml" });
    const [first] = checkDocument(document, new Ajv({ strict: false }).compile(listOrCount));
    expect(formatProblem(first!)).toBe("a.yaml:1:12: `[0]` may not have the key `odd`; it may have `id`");
  },
);

const holds = { type: "object", additionalProperties: false, properties: { timeout: { type: "string" } } };
it.each([
  ["{ timeout: null }", "1:12: `timeout` must be a text, not null"],
  ["{ tmeout: 1s }", '1:3: the document may not have the key `tmeout` (did you mean "timeout"?)'],
  ["[]", '1:1: the document must be true, "always", "never" or a map, not an empty list'],
  ["false", '1:1: the document must be true, "always", "never" or a map, not false'],
])("a map or list is not explained as a wrong word: %s [interfaces 6]", (text, expected) => {
  const words = { anyOf: [{ const: "always" }, { enum: ["never"] }] };
  const document = readDocument(text, { file: "a.yaml" });
  const validate = new Ajv({ strict: false }).compile({ anyOf: [{ const: true }, words, holds] });
  expect(checkDocument(document, validate).map(formatProblem)).toEqual([`a.yaml:${expected}`]);
});
