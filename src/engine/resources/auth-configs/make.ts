import type { Factory } from "../../contract/factory.ts";
import { firstRecord } from "../../contract/references.ts";
import { organizations } from "../organizations/schema.ts";
import type { AuthConfig } from "./schema.ts";

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
