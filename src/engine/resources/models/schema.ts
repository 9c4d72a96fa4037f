import { type Static, Type } from "typebox";
import { toLatin1, toUtf8 } from "../../bytes.ts";
import { publicView } from "../../contract/public-view.ts";
import { Description, Id, Nullable, StringEnum } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

/** The four vendors of section 2.8, which leaves out their names. */
export const PROVIDERS = ["vendor_a", "vendor_b", "vendor_c", "vendor_d"] as const;

const MAX_ORDER = 1_000_000_000;

/** A model (section 2.8). */
export const Model = Type.Object({
  id: Id("model_"),
  title: Type.String({ minLength: 1 }),
  description: Nullable(Description()),
  /** Unique. */
  key: Type.String({ pattern: "^[A-Za-z0-9][A-Za-z0-9._:/-]{0,119}$" }),
  external: Type.String({ minLength: 1 }),
  provider: StringEnum(PROVIDERS),
  is_active: Type.Boolean(),
  is_visible_in_ui: Type.Boolean(),
  order: Type.Integer({ minimum: 0, maximum: MAX_ORDER }),
  max_tokens: Nullable(Type.Integer({ minimum: 1 })),
  cost_per_1k_tokens: Nullable(Type.Number({ minimum: 0 })),
  /** Whether the model takes images; no answer shows it (G35). */
  vision: Type.Boolean(),
});
export type Model = Static<typeof Model>;

export const { schema: ModelBody, render: renderModel } = publicView(Model, {
  $id: "Model",
  omit: ["vision"],
});

export const models = collection({
  name: "models",
  schema: Model,
  indexes: {
    active: { groups: ({ is_active }) => (is_active ? [""] : []), order: toDisplayOrder },
    by_key: { groups: ({ key }) => [key], order: ({ id }) => id },
  },
});

/** `order` ascending, then the title by code points (section 4.18, G39), which is the order of UTF-8 bytes. */
function toDisplayOrder({ order, title }: Model): string {
  return `${String(order).padStart(10, "0")} ${toLatin1(toUtf8(title))}`;
}
