import type { Factory } from "../../contract/factory.ts";
import type { Organization } from "./schema.ts";

const COMPANY_NAMES = ["Northwind", "Contoso", "Umbra", "Vandelay", "Stark", "Wayne", "Tyrell", "Cyberdyne"];
const COMPANY_KINDS = ["Robotics", "Labs", "Analytics", "Logistics", "Studios", "Foods"];

export const makeOrganization: Factory<Organization> = (given, context) => {
  const { random } = context;
  return {
    id: given.id ?? context.newId("org_"),
    name: given.name ?? `${random.pick(COMPANY_NAMES)} ${random.pick(COMPANY_KINDS)}`,
    type: given.type ?? "company",
    plan: given.plan ?? "standard",
    rate_limit: given.rate_limit ?? null,
  };
};
