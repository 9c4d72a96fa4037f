import type { Factory } from "../../contract/factory.ts";
import { createEntryFormat, createListReader } from "../../contract/fixture-entry.ts";
import { inventCompany } from "../../contract/invent.ts";
import type { Resource, StateRules } from "../../contract/resource.ts";
import { apiKeys } from "../api-keys/schema.ts";
import { users } from "../users/schema.ts";
import { Organization, organizations } from "./schema.ts";

const makeOrganization: Factory<Organization> = (fields, context) => ({
  id: fields.id ?? context.createId("org_"),
  name: fields.name ?? inventCompany(context),
  type: fields.type ?? "company",
  plan: fields.plan ?? "standard",
  rate_limit: fields.rate_limit ?? null,
});

/** The service has no call that creates or deletes an organization; state calls do, and delete what belongs to it. */
const organizationStateRules: StateRules<Organization> = {
  /** A key moves to another organization of its user; if there is none, it is deleted with the organization. */
  beforeRemove(tx, { id }) {
    for (const key of tx.all(apiKeys)) {
      if (key.current !== id) continue;
      const memberships = Object.keys(tx.get(users, key.user_id)?.memberships ?? {});
      const current = memberships.find((organization_id) => organization_id !== id);
      if (current !== undefined) tx.put(apiKeys, { ...key, current });
    }
  },
};

export const organizationsResource = {
  name: "organizations",
  collections: [organizations],
  operations: [],
  factories: { organizations: makeOrganization },
  fixture: createListReader(organizations, {
    entryFormat: createEntryFormat(Organization, { required: ["id"], notNull: ["rate_limit"] }),
    factory: makeOrganization,
    dependsOnSettings: ["locale"],
  }),
  state: { organizations: organizationStateRules },
} satisfies Resource;
