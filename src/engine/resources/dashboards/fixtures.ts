import { Type } from "typebox";
import { chooseCreation, type Factory } from "../../contract/factory.ts";
import {
  createEntryFormat,
  createListReader,
  type FixtureEntry,
  readEntries,
  toInterval,
} from "../../contract/fixture-entry.ts";
import { inventTitle } from "../../contract/invent.ts";
import { requireFirstRecord } from "../../contract/references.ts";
import type { BaseBuilder } from "../../contract/resource.ts";
import { DAY_MS } from "../../state/clock.ts";
import { chooseOrganization, findAuthor, SYSTEM_USER_ID } from "../organizations/access.ts";
import { Dashboard, dashboards, ShareLink, shareLinks } from "./schema.ts";

const AUDIENCES = ["board", "partner", "team", "press"];

export const makeDashboard: Factory<Dashboard> = (fields, context) => {
  const { random, world } = context;
  const organization_id = chooseOrganization(context, fields.organization_id);
  return {
    id: fields.id ?? context.createId("dsh_"),
    organization_id,
    title: fields.title ?? inventTitle(context),
    created_by: fields.created_by ?? context.actor_id ?? findAuthor(world, organization_id),
    created_at: fields.created_at ?? chooseCreation(context, () => random.int(20 * DAY_MS, 200 * DAY_MS)),
  };
};

/** Makes a link; by default, the state call's actor created it, else the dashboard's creator. */
export const makeShareLink: Factory<ShareLink> = (fields, context) => {
  const { random, world, isFixture, now } = context;
  const dashboard_id = fields.dashboard_id ?? requireFirstRecord(context, dashboards, "dashboard_id").id;
  const status = fields.status ?? (fields.revoked_at == null ? "active" : "revoked");
  // By default a day ago, but not before the link was created.
  const defaultRevokedAt = isFixture ? Math.max(now - DAY_MS, fields.created_at ?? -Infinity) : now;
  return {
    link_id: fields.link_id ?? context.createId("slink_"),
    dashboard_id,
    slug: fields.slug ?? `${random.pick(AUDIENCES)}-${random.characters(8)}`,
    status,
    created_by:
      fields.created_by ??
      context.actor_id ??
      world.get(dashboards, dashboard_id)?.created_by ??
      SYSTEM_USER_ID,
    created_at: fields.created_at ?? Math.min(now, fields.revoked_at ?? now),
    revoked_at: fields.revoked_at ?? (status === "revoked" ? defaultRevokedAt : null),
  };
};

const linkFormat = createEntryFormat(ShareLink, {
  required: ["link_id", "slug"],
  omit: ["dashboard_id", "created_by", "created_at", "revoked_at"],
});
const entryFormat = createEntryFormat(Dashboard, {
  required: ["id"],
  more: { share_links: Type.Optional(Type.Array(linkFormat.schema)) },
});

export const dashboardsFixture = createListReader(dashboards, {
  entryFormat,
  factory: makeDashboard,
  dependsOnSettings: ["locale"],
  children: { collection: shareLinks, make: makeLinks },
  check(fixture, report) {
    const slugs = new Set<string>();
    for (const [position, entry] of readEntries(fixture, "dashboards", entryFormat).entries()) {
      for (const [linkPosition, { slug }] of (entry.share_links ?? []).entries()) {
        // A fixture may give a number of links instead of a list; the factory then chooses the slugs.
        if (slug === undefined) continue;
        if (slugs.has(slug)) {
          report(["dashboards", position, "share_links", linkPosition, "slug"], `the slug ${slug} is taken`);
        }
        slugs.add(slug);
      }
    }
  },
});

/** Makes the links of a dashboard: each was created a day after the one before, or less if the dashboard is younger. */
function makeLinks(
  { id, share_links = [] }: FixtureEntry<typeof entryFormat>,
  base: BaseBuilder,
): ShareLink[] {
  const { created_at } = base.world.get(dashboards, id)!;
  const interval = toInterval(created_at, share_links.length, DAY_MS);
  return share_links.map((entry, position) =>
    makeShareLink(
      {
        ...linkFormat.toFields(entry, base),
        dashboard_id: id,
        created_at: created_at + (position + 1) * interval,
      },
      base.createContext("share_links", entry.link_id),
    ),
  );
}
