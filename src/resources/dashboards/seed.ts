import Type, { type Static } from "typebox";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import { Id, Timestamp, UserId, Words } from "../../contract/schema.ts";
import { firstOrganization, ownerOf } from "../organizations/of-fixture.ts";
import { type Dashboard, dashboards, type ShareLink, shareLinks } from "./schema.ts";

const DAY = 86_400_000;
export const DASHBOARD_TITLES = ["Revenue", "Assistant adoption", "Cost per team", "Answer quality", "Usage"];

const ShareLinkEntry = Type.Object(
  {
    link_id: Id("slink_"),
    slug: Type.String({ pattern: "^[A-Za-z0-9_-]{1,120}$" }),
    status: Type.Optional(Words(["active", "revoked"])),
  },
  { additionalProperties: false },
);

const DashboardEntry = Type.Object(
  {
    id: Id("dsh_"),
    organization_id: Type.Optional(Id("org_")),
    title: Type.Optional(Type.String({ minLength: 1 })),
    created_by: Type.Optional(UserId()),
    created_at: Type.Optional(Timestamp()),
    share_links: Type.Optional(Type.Array(ShareLinkEntry)),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof DashboardEntry>;

export const dashboardsFixture: FixtureReader = {
  keys: { dashboards: Type.Array(DashboardEntry) },
  check(fixture, report) {
    const slugs = new Set<string>();
    for (const [position, entry] of entriesOf(fixture).entries()) {
      for (const [place, { slug }] of (entry.share_links ?? []).entries()) {
        if (slugs.has(slug)) {
          report(["dashboards", position, "share_links", place, "slug"], `the slug ${slug} is taken`);
        }
        slugs.add(slug);
      }
    }
  },
  seed(fixture, base) {
    const made = () =>
      entriesOf(fixture).map((entry) => ({ entry, dashboard: dashboardOf(entry, fixture, base) }));
    base.fill(dashboards, () => made().map(({ dashboard }) => dashboard));
    base.fill(shareLinks, () => made().flatMap(({ entry, dashboard }) => linksOf(entry, dashboard)));
  },
};

function entriesOf(fixture: FixtureData): Entry[] {
  return (fixture["dashboards"] ?? []) as Entry[];
}

function dashboardOf(entry: Entry, fixture: FixtureData, base: BaseBuilder): Dashboard {
  const random = base.random("dashboards", entry.id);
  const organization_id = entry.organization_id ?? firstOrganization(fixture);
  return {
    id: entry.id,
    organization_id,
    title: entry.title ?? random.pick(DASHBOARD_TITLES),
    created_by: entry.created_by ?? ownerOf(fixture, organization_id),
    created_at: entry.created_at ? base.instant(entry.created_at) : -random.int(20 * DAY, 200 * DAY),
  };
}

function linksOf(entry: Entry, { id, created_by, created_at }: Dashboard): ShareLink[] {
  return (entry.share_links ?? []).map(({ link_id, slug, status = "active" }, position) => ({
    link_id,
    dashboard_id: id,
    slug,
    status,
    created_by,
    created_at: created_at + (position + 1) * DAY,
    revoked_at: status === "revoked" ? -DAY : null,
  }));
}
