import Type from "typebox";
import type { Factory } from "../../contract/factory.ts";
import { type EntryOf, fixtureRecord } from "../../contract/fixture-record.ts";
import { firstRecord } from "../../contract/references.ts";
import type { FixtureReader } from "../../contract/resource.ts";
import { ByOrganization, organizations } from "../organizations/schema.ts";
import { AuthConfig, authConfigs } from "./schema.ts";

const DAY_MS = 86_400_000;
export const TOOLKITS = ["drive", "wiki", "mail", "calendar", "tickets", "chat", "crm"];
const TYPES = ["oauth2", "api_key", "basic"];

export const makeAuthConfig: Factory<AuthConfig> = (given, context) => {
  const { random, world, past, now } = context;
  const toolkit = given.toolkit ?? random.pick(TOOLKITS);
  const type = random.pick(TYPES);
  return {
    id: given.id ?? context.newId("authcfg_"),
    toolkit,
    type: given.type ?? type,
    organization_id: given.organization_id ?? firstRecord(world, organizations, "organization_id").id,
    created_at: given.created_at ?? (past ? -random.int(1, 120) * DAY_MS - random.int(0, DAY_MS) : now),
  };
};

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
