import type { Factory } from "../../contract/factory.ts";
import { firstRecord } from "../../contract/references.ts";
import { authorOf, SYSTEM_USER_ID } from "../organizations/people.ts";
import { organizations } from "../organizations/schema.ts";
import { type Dashboard, dashboards, type ShareLink } from "./schema.ts";

const DAY_MS = 86_400_000;
const TITLES = ["Revenue", "Assistant adoption", "Cost per team", "Answer quality", "Usage"];
const READERS = ["board", "partner", "team", "press"];

export const makeDashboard: Factory<Dashboard> = (given, context) => {
  const { random, world, past, now } = context;
  const organization_id = given.organization_id ?? firstRecord(world, organizations, "organization_id").id;
  return {
    id: given.id ?? context.newId("dsh_"),
    organization_id,
    title: given.title ?? random.pick(TITLES),
    created_by: given.created_by ?? authorOf(world, organization_id),
    created_at: given.created_at ?? (past ? -random.int(20 * DAY_MS, 200 * DAY_MS) : now),
  };
};

/** By whoever made the dashboard. */
export const makeShareLink: Factory<ShareLink> = (given, context) => {
  const { random, world, past, now } = context;
  const dashboard_id = given.dashboard_id ?? firstRecord(world, dashboards, "dashboard_id").id;
  const status = given.status ?? "active";
  const revoked_at = past ? now - DAY_MS : now;
  return {
    link_id: given.link_id ?? context.newId("slink_"),
    dashboard_id,
    slug: given.slug ?? `${random.pick(READERS)}-${random.letters(8)}`,
    status,
    created_by: given.created_by ?? world.get(dashboards, dashboard_id)?.created_by ?? SYSTEM_USER_ID,
    created_at: given.created_at ?? now,
    revoked_at: given.revoked_at ?? (status === "revoked" ? revoked_at : null),
  };
};
