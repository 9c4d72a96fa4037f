import type { Factory } from "../../contract/factory.ts";
import { inventTeam } from "../../contract/invent.ts";
import { firstRecord } from "../../contract/references.ts";
import { organizations } from "../organizations/schema.ts";
import type { Connection } from "./schema.ts";

const DAY_MS = 86_400_000;
const TOOLKITS = ["drive", "wiki", "tickets", "mail", "chat", "crm", "notes", "calendar"] as const;

export const makeConnection: Factory<Connection> = (given, context) => {
  const { random, world, past, now } = context;
  // `conn_drive` says what it connects to.
  const named = TOOLKITS.find((toolkit) => given.id?.includes(toolkit));
  const toolkit = given.toolkit ?? named ?? random.pick(TOOLKITS);
  return {
    id: given.id ?? context.newId("conn_"),
    organization_id: given.organization_id ?? firstRecord(world, organizations, "organization_id").id,
    name: given.name ?? `${inventTeam(context)} ${toolkit}`,
    toolkit,
    created_at: given.created_at ?? (past ? -random.int(10, 200) * DAY_MS : now),
    failure_rate: given.failure_rate ?? null,
  };
};
