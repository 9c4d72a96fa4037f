import { type Static, Type } from "typebox";
import { belongsTo, mentions } from "../../contract/references.ts";
import { Id, Instant, NullableInstant, StringEnum, UserId } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

export const Dashboard = Type.Object({
  id: Id("dsh_"),
  organization_id: Id("org_", belongsTo("organizations")),
  title: Type.String({ minLength: 1 }),
  created_by: UserId(mentions("users")),
  created_at: Instant(),
});
export type Dashboard = Static<typeof Dashboard>;

export const dashboards = collection({
  name: "dashboards",
  schema: Dashboard,
});

/** A link that shares a dashboard (section 3.4). */
export const ShareLink = Type.Object({
  link_id: Id("slink_"),
  dashboard_id: Id("dsh_", belongsTo("dashboards")),
  /** Unique, also among revoked links. */
  slug: Type.String({ pattern: "^[A-Za-z0-9_-]{1,120}$" }),
  status: StringEnum(["active", "revoked"]),
  created_by: UserId(mentions("users")),
  created_at: Instant(),
  revoked_at: NullableInstant(),
});
export type ShareLink = Static<typeof ShareLink>;

export const shareLinks = collection({
  name: "share_links",
  idField: "link_id",
  schema: ShareLink,
  indexes: {
    by_dashboard: { groups: "dashboard_id", order: ({ created_at }) => created_at },
    by_slug: { groups: ({ slug }) => [slug], order: ({ link_id }) => link_id },
  },
});
