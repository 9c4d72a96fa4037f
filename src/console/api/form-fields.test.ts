import { describe, expect, it } from "vitest";
import { type FormField, formatValue, listFormFields, parseValue, toNumberOrText } from "./form-fields.ts";
import type { JsonSchema } from "./open-api.ts";

function makeField(schema: JsonSchema): FormField {
  const [field] = listFormFields({ properties: { step: schema } }, { schemas: {} });
  return field!;
}

describe("a form field of the console", () => {
  it.each<[string, JsonSchema]>([
    ["a choice or null", { anyOf: [{ enum: ["a", "b"] }, { type: "null" }] }],
    ["a choice whose values include null", { enum: ["a", "b", null] }],
    ["a boolean or null", { type: ["boolean", "null"] }],
  ])("distinguishes null from nothing for %s [interfaces 4]", (_, schema) => {
    const field = makeField(schema);
    expect(field.isNullable).toBe(true);
    expect(field.choices).not.toContain("null");
    expect(formatValue(undefined, field)).toBe("");
    expect(parseValue(formatValue(null, field), field)).toBeNull();
  });

  it("leaves a number that JSON cannot have as text, so that the server reports it as typed [interfaces 4]", () => {
    expect(toNumberOrText("1e400")).toBe("1e400");
    expect(toNumberOrText("-Infinity")).toBe("-Infinity");
    expect(toNumberOrText("1e3")).toBe(1000);
  });
});
