import type { Factory } from "../../contract/factory.ts";
import { inventCompany } from "../../contract/invent.ts";
import type { Organization } from "./schema.ts";

export const makeOrganization: Factory<Organization> = (given, context) => {
  return {
    id: given.id ?? context.newId("org_"),
    name: given.name ?? inventCompany(context),
    type: given.type ?? "company",
    plan: given.plan ?? "standard",
    rate_limit: given.rate_limit ?? null,
  };
};
