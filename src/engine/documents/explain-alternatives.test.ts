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
