import Type from "typebox";
import { type EntryOf, fixtureRecord } from "../../contract/fixture-record.ts";
import type { FixtureReader } from "../../contract/resource.ts";
import { ByOrganization } from "../organizations/schema.ts";
import { makeAuthConfig, TOOLKITS } from "./make.ts";
import { AuthConfig, authConfigs } from "./schema.ts";

const record = fixtureRecord(AuthConfig, { omit: ["organization_id"] });
type Entry = EntryOf<typeof record>;

export const authConfigsFixture: FixtureReader = {
  keys: {
    auth_configs: ByOrganization(
      Type.Union([Type.Integer({ minimum: 0, maximum: 10_000 }), Type.Array(record.schema)]),
      { description: "By organization: connector auth configurations, or how many to make up" },
    ),
  },
  seed(fixture, base) {
    const given = (fixture["auth_configs"] ?? {}) as Record<string, number | Entry[]>;
    base.fill(authConfigs, () =>
      Object.entries(given).flatMap(([organization_id, wanted]) => {
        const entries =
          typeof wanted === "number" ? Array.from({ length: wanted }, (): Entry => ({})) : wanted;
        return entries.map((entry, position) =>
          makeAuthConfig(
            {
              id: `authcfg_${organization_id.slice("org_".length)}_${position + 1}`,
              // Neighbours differ in their toolkit.
              toolkit: TOOLKITS[position % TOOLKITS.length]!,
              ...record.given(entry, base),
              organization_id,
            },
            base.context("auth_configs", organization_id, position),
          ),
        );
      }),
    );
  },
};
