import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { SHIPPED_SCENARIOS } from "../../src/documents/shipped-files.ts";
import { makeAjv } from "../../src/engine/contract/validator.ts";
import { API } from "../../src/engine/resources/index.ts";
import { formatScenarioSchema } from "./scenario-schema.ts";

describe("the JSON schema for editors", () => {
  const schema = JSON.parse(formatScenarioSchema(API));
  const validate = makeAjv({ validateSchema: true }).compile(schema);

  it("accepts every shipped scenario [interfaces 6]", () => {
    for (const file of readdirSync(SHIPPED_SCENARIOS.folder)) {
      const value = parse(readFileSync(join(SHIPPED_SCENARIOS.folder, file), "utf8"));
      expect(validate(value), `${file}: ${JSON.stringify(validate.errors)}`).toBe(true);
    }
  });

  it("refuses unknown keys and offers the known ones [interfaces 6]", () => {
    expect(validate({ rules: [{ efect: {} }] })).toBe(false);
    expect(validate({ rules: [{ effect: { wire: "rest" } }] })).toBe(false);
    const rule = schema.properties.rules.items.properties;
    expect(rule.match.properties.operation.examples).toContain("departments.reparent");
    expect(rule.match.properties.event.examples).toContain("user.created");
    expect(rule.effect.properties.error.examples).toContain("RATE_LIMIT_EXCEEDED");
  });
});
