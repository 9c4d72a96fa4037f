import Type, { type Static } from "typebox";
import type { FixtureReader } from "../../contract/resource.ts";
import { Id, Nullable } from "../../contract/schema.ts";
import type { Random } from "../../state/random.ts";
import { Model, models, PROVIDERS } from "./schema.ts";

const {
  title,
  description,
  key,
  external,
  provider,
  is_active,
  is_visible_in_ui,
  order,
  vision,
  ...numbers
} = Model.properties;

const ModelEntry = Type.Object(
  {
    key,
    id: Type.Optional(Id("model_")),
    title: Type.Optional(title),
    description: Type.Optional(description),
    external: Type.Optional(external),
    provider: Type.Optional(provider),
    is_active: Type.Optional(is_active),
    is_visible_in_ui: Type.Optional(is_visible_in_ui),
    order: Type.Optional(order),
    vision: Type.Optional(vision),
    max_tokens: Type.Optional(Nullable(numbers.max_tokens.anyOf[0])),
    cost_per_1k_tokens: Type.Optional(Nullable(numbers.cost_per_1k_tokens.anyOf[0])),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof ModelEntry>;

export const modelsFixture: FixtureReader = {
  keys: { models: Type.Array(ModelEntry) },
  check(fixture, report) {
    const taken = new Set<string>();
    for (const [position, { key, id = idFor(key) }] of ((fixture["models"] ?? []) as Entry[]).entries()) {
      if (taken.has(key) || taken.has(id))
        report(["models", position, "key"], `${key} or its id ${id} is taken`);
      taken.add(key).add(id);
    }
  },
  seed(fixture, base) {
    const entries = (fixture["models"] ?? []) as Entry[];
    base.fill(models, () => entries.map((entry) => completeModel(entry, base.random("models", entry.key))));
  },
};

/** A whole model from as little as its key. */
export function completeModel({ key, ...given }: Partial<Model> & { key: string }, random: Random): Model {
  const provider = given.provider ?? random.pick(PROVIDERS);
  const words = key.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return {
    id: idFor(key),
    title: words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join(" "),
    description: random.pick([
      "For demanding questions.",
      "Fast and frugal.",
      "For everyday conversations.",
      null,
    ]),
    key,
    external: `${provider}/${key}-2026-01`,
    provider,
    is_active: true,
    is_visible_in_ui: true,
    order: 100,
    vision: true,
    max_tokens: random.pick([32_000, 64_000, 128_000]),
    cost_per_1k_tokens: random.pick([0.001, 0.004, 0.01]),
    ...given,
  };
}

function idFor(key: string): string {
  return `model_${key.replaceAll(/[^A-Za-z0-9_-]/g, "-")}`;
}
