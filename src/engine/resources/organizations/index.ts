import { fixtureRecord, listReader } from "../../contract/fixture-record.ts";
import type { Resource } from "../../contract/resource.ts";
import { makeOrganization } from "./fixtures.ts";
import { Organization, organizations } from "./schema.ts";
import { organizationState } from "./state.ts";

export const organizationsResource = {
  name: "organizations",
  collections: [organizations],
  operations: [],
  factories: { organizations: makeOrganization },
  fixture: listReader(organizations, {
    record: fixtureRecord(Organization, { needs: ["id"], notNull: ["rate_limit"] }),
    factory: makeOrganization,
    follows: ["locale"],
  }),
  state: { organizations: organizationState },
} satisfies Resource;
