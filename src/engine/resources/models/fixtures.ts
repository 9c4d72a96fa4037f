import type { Factory } from "../../contract/factory.ts";
import { createEntryFormat, createListReader, readEntries } from "../../contract/fixture-entry.ts";
import { capitalize } from "../../contract/text.ts";
import { Model, models, PROVIDERS } from "./schema.ts";

/** Makes a model; missing fields follow from its key, are drawn, or have a default. */
export const makeModel: Factory<Model> = (fields, { random, world, isFixture, createId }) => {
  const key = fields.key ?? `custom-${random.characters(8)}`;
  // A model keeps its id when its key changes, so another one may have the id of this key. In a fixture, that is a mistake,
  // which `check` reports.
  const isTaken = !isFixture && world.get(models, toModelId(key)) !== undefined;
  const provider = fields.provider ?? random.pick(PROVIDERS);
  const words = key.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const drawnFields = {
    description: random.pick([
      "For demanding questions.",
      "Fast and frugal.",
      "For everyday conversations.",
      null,
    ]),
    max_tokens: random.pick([32_000, 64_000, 128_000]),
    cost_per_1k_tokens: random.pick([0.001, 0.004, 0.01]),
  };
  // Null is a value here: the model has no description, limit or price.
  const { description, max_tokens, cost_per_1k_tokens } = { ...drawnFields, ...fields };
  return {
    id: fields.id ?? (isTaken ? createId("model_") : toModelId(key)),
    title: fields.title ?? words.map(capitalize).join(" "),
    description,
    key,
    external: fields.external ?? `${provider}/${key}-2026-01`,
    provider,
    is_active: fields.is_active ?? true,
    is_visible_in_ui: fields.is_visible_in_ui ?? true,
    order: fields.order ?? 100,
    vision: fields.vision ?? true,
    max_tokens,
    cost_per_1k_tokens,
  };
};

function toModelId(key: string): string {
  return `model_${key.replaceAll(/[^A-Za-z0-9_-]/g, "-")}`;
}

const entryFormat = createEntryFormat(Model, { required: ["key"] });

export const modelsFixture = createListReader(models, {
  entryFormat,
  factory: makeModel,
  check(fixture, report) {
    const takenKeysAndIds = new Set<string>();
    for (const [position, { key, id = toModelId(key) }] of readEntries(
      fixture,
      "models",
      entryFormat,
    ).entries()) {
      if (takenKeysAndIds.has(key) || takenKeysAndIds.has(id))
        report(["models", position, "key"], `${key} or its id ${id} is taken`);
      takenKeysAndIds.add(key).add(id);
    }
  },
});
