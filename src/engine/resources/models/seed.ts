import { entriesOf, fixtureRecord, listOf } from "../../contract/fixture-record.ts";
import { makeModel, modelId } from "./make.ts";
import { Model, models } from "./schema.ts";

const record = fixtureRecord(Model, { needs: ["key"] });

export const modelsFixture = listOf(models, {
  record,
  factory: makeModel,
  check(fixture, report) {
    const taken = new Set<string>();
    for (const [position, { key, id = modelId(key) }] of entriesOf(fixture, "models", record).entries()) {
      if (taken.has(key) || taken.has(id))
        report(["models", position, "key"], `${key} or its id ${id} is taken`);
      taken.add(key).add(id);
    }
  },
});
