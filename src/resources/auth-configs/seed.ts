import Type, { type Static } from "typebox";
import type { FixtureReader } from "../../contract/resource.ts";
import { Timestamp } from "../../contract/schema.ts";
import type { Random } from "../../state/random.ts";
import { authConfigs } from "./schema.ts";

const Entry = Type.Object(
  {
    id: Type.Optional(Type.String({ pattern: "^[A-Za-z0-9_-]{1,128}$" })),
    toolkit: Type.Optional(Type.String({ minLength: 1 })),
    type: Type.Optional(Type.String({ minLength: 1 })),
    created_at: Type.Optional(Timestamp()),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof Entry>;

const DAY = 86_400_000;
const TOOLKITS = ["drive", "wiki", "mail", "calendar", "tickets", "chat", "crm"];
const TYPES = ["oauth2", "api_key", "basic"];

export const authConfigsFixture: FixtureReader = {
  keys: {
    auth_configs: Type.Record(
      Type.String({ pattern: "^org_" }),
      Type.Union([Type.Integer({ minimum: 0, maximum: 10_000 }), Type.Array(Entry)]),
      { description: "By organization: connector auth configurations, or how many to make up" },
    ),
  },
  seed(fixture, base) {
    const given = (fixture["auth_configs"] ?? {}) as Record<string, number | Entry[]>;
    base.fill(authConfigs, () =>
      Object.entries(given).flatMap(([organization_id, wanted]) => {
        const entries =
          typeof wanted === "number" ? Array.from({ length: wanted }, (): Entry => ({})) : wanted;
        return entries.map((entry, position) => {
          const random = base.random("auth_configs", organization_id, position);
          return {
            id: entry.id ?? `authcfg_${organization_id.slice("org_".length)}_${position + 1}`,
            ...inventAuthConfig(random, position),
            ...(entry.toolkit && { toolkit: entry.toolkit }),
            ...(entry.type && { type: entry.type }),
            organization_id,
            created_at: entry.created_at
              ? base.instant(entry.created_at)
              : -random.int(1, 120) * DAY - random.int(0, DAY),
          };
        });
      }),
    );
  },
};

/** Neighbours differ in their toolkit; anything else is drawn. */
export function inventAuthConfig(random: Random, position = random.int(0, 100)) {
  return { toolkit: TOOLKITS[position % TOOLKITS.length]!, type: random.pick(TYPES) };
}
