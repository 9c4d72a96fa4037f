import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { SHIPPED_SCENARIOS } from "../../src/documents/shipped-files.ts";
import { makeAjv } from "../../src/engine/contract/validator.ts";
import { API } from "../../src/engine/resources/index.ts";
import { createScenarioSchema } from "./scenario-schema.ts";

describe("the JSON schema for editors", () => {
  const schema = createScenarioSchema(API);
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
    const expectExample = (place: string, example: string) =>
      expect(schema).toHaveProperty(
        `properties.rules.items.properties.${place}.examples`,
        expect.arrayContaining([example]),
      );
    expectExample("match.properties.operation", "departments.reparent");
    expectExample("match.properties.event", "user.created");
    expectExample("effect.properties.error", "RATE_LIMIT_EXCEEDED");
  });
});
