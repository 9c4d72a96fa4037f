import Type, { type Static } from "typebox";
import type { FixtureReader } from "../../contract/resource.ts";
import { Id, Words } from "../../contract/schema.ts";
import type { Random } from "../../state/random.ts";
import { ORGANIZATION_TYPES, organizations, PLANS } from "./schema.ts";

const OrganizationEntry = Type.Object(
  {
    id: Id("org_"),
    name: Type.Optional(Type.String({ minLength: 1 })),
    type: Type.Optional(Words(ORGANIZATION_TYPES)),
    plan: Type.Optional(Words(PLANS)),
    rate_limit: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { additionalProperties: false },
);

const COMPANY_NAMES = ["Northwind", "Contoso", "Umbra", "Vandelay", "Stark", "Wayne", "Tyrell", "Cyberdyne"];
const COMPANY_KINDS = ["Robotics", "Labs", "Analytics", "Logistics", "Studios", "Foods"];

export const organizationsFixture: FixtureReader = {
  keys: { organizations: Type.Array(OrganizationEntry) },
  seed(fixture, base) {
    const entries = (fixture["organizations"] ?? []) as Static<typeof OrganizationEntry>[];
    base.fill(organizations, () =>
      entries.map((entry) => {
        const random = base.random("organizations", entry.id);
        return {
          id: entry.id,
          name: entry.name ?? inventOrganizationName(random),
          type: entry.type ?? "company",
          plan: entry.plan ?? "standard",
          rate_limit: entry.rate_limit ?? null,
        };
      }),
    );
  },
};

export function inventOrganizationName(random: Random): string {
  return `${random.pick(COMPANY_NAMES)} ${random.pick(COMPANY_KINDS)}`;
}
