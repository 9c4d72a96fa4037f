import Type from "typebox";
import { type EntryOf, entriesOf, fixtureRecord } from "../../contract/fixture-record.ts";
import type { BaseBuilder, FixtureReader } from "../../contract/resource.ts";
import { makeDashboard, makeShareLink } from "./make.ts";
import { Dashboard, dashboards, ShareLink, shareLinks } from "./schema.ts";

const DAY_MS = 86_400_000;

const linkRecord = fixtureRecord(ShareLink, {
  needs: ["link_id", "slug"],
  omit: ["dashboard_id", "created_by", "created_at", "revoked_at"],
});
const record = fixtureRecord(Dashboard, {
  needs: ["id"],
  more: { share_links: Type.Optional(Type.Array(linkRecord.schema)) },
});

export const dashboardsFixture: FixtureReader = {
  keys: { dashboards: Type.Array(record.schema) },
  check(fixture, report) {
    const slugs = new Set<string>();
    for (const [position, entry] of entriesOf(fixture, "dashboards", record).entries()) {
      for (const [place, { slug }] of (entry.share_links ?? []).entries()) {
        // Those that a number asks for get one that is free.
        if (slug === undefined) continue;
        if (slugs.has(slug)) {
          report(["dashboards", position, "share_links", place, "slug"], `the slug ${slug} is taken`);
        }
        slugs.add(slug);
      }
    }
  },
  seed(fixture, base) {
    const entries = entriesOf(fixture, "dashboards", record);
    base.fill(dashboards, () =>
      entries.map((entry) => makeDashboard(record.given(entry, base), base.context("dashboards", entry.id))),
    );
    base.fill(shareLinks, () => entries.flatMap((entry) => linksOf(entry, base)));
  },
};

/** One a day from the dashboard's first day on. */
function linksOf({ id, share_links = [] }: EntryOf<typeof record>, base: BaseBuilder): ShareLink[] {
  const { created_at } = base.world.get(dashboards, id)!;
  return share_links.map((entry, position) =>
    makeShareLink(
      {
        ...linkRecord.given(entry, base),
        dashboard_id: id,
        created_at: created_at + (position + 1) * DAY_MS,
      },
      base.context("share_links", entry.link_id),
    ),
  );
}
