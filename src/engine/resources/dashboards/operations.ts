import { Type } from "typebox";
import { ApiError, invalidInput, resourceNotFound } from "../../contract/errors.ts";
import { operation } from "../../contract/operation.ts";
import { noContent } from "../../contract/reply.ts";
import type { Resource, StateRules } from "../../contract/resource.ts";
import { Id } from "../../contract/schema.ts";
import type { Transaction } from "../../state/transaction.ts";
import { explainRefusal, hasCapability, isMember } from "../organizations/access.ts";
import { dashboardsFixture, makeDashboard, makeShareLink } from "./fixtures.ts";
import { dashboards, type ShareLink, shareLinks } from "./schema.ts";

const REVOKE_CAPABILITY = "report-create";

const revokeShareLink = operation({
  id: "share_links.revoke",
  section: "4.12",
  assumptions: ["G02", "G03"],
  route: "DELETE /v1/dashboards/{dashboard_id}/share-links/{link_id}",
  summary: "Revoke a dashboard's share link",
  description: "The link's slug stops resolving at once. Revoking the link again changes nothing.",
  params: Type.Object({ dashboard_id: Id("dsh_"), link_id: Id("slink_") }),
  errors: [
    "DASHBOARD_NOT_FOUND",
    {
      code: "INSUFFICIENT_PERMISSIONS",
      details: { required_capability: { always: REVOKE_CAPABILITY } },
    },
    "RESOURCE_NOT_FOUND",
  ],
  success: { status: 204, description: "The link is revoked." },
  access(call) {
    const { dashboard_id, link_id } = call.params;
    const dashboard = call.world.get(dashboards, dashboard_id);
    if (dashboard === undefined || !isMember(call, dashboard.organization_id)) {
      const reason = dashboard && `it is there, but ${explainRefusal(call, dashboard.organization_id)}`;
      throw new ApiError("DASHBOARD_NOT_FOUND", { details: { dashboard_id }, reason });
    }
    if (!hasCapability(call, dashboard.organization_id, REVOKE_CAPABILITY)) {
      throw new ApiError("INSUFFICIENT_PERMISSIONS", {
        details: { required_capability: REVOKE_CAPABILITY },
        reason: explainRefusal(call, dashboard.organization_id, `the capability ${REVOKE_CAPABILITY}`),
      });
    }
    const link = call.world.get(shareLinks, link_id);
    if (link?.dashboard_id !== dashboard_id) throw resourceNotFound("link_id", link_id);
    return link;
  },
  handle({ world }, link) {
    // A link that was revoked before keeps the time of its first revocation (section 3.4).
    if (link.status === "active")
      world.put(shareLinks, { ...link, status: "revoked", revoked_at: world.now });
    return noContent();
  },
});

const resolveShareLink = operation({
  id: "share_links.resolve",
  section: "G19",
  assumptions: ["G02", "G19"],
  route: "GET /v1/dashboards/shared/{slug}",
  summary: "Open a shared dashboard",
  params: Type.Object({ slug: Type.String({ minLength: 1, examples: ["revenue-board"] }) }),
  credentials: false,
  errors: ["RESOURCE_NOT_FOUND"],
  success: {
    status: 200,
    schema: Type.Object({ dashboard_id: Id("dsh_"), title: Type.String(), link_id: Id("slink_") }),
  },
  access({ params: { slug }, world }) {
    const link = world.index(shareLinks, "by_slug", slug).first();
    const dashboard = link?.status === "active" ? world.get(dashboards, link.dashboard_id) : undefined;
    if (link === undefined || dashboard === undefined) throw resourceNotFound("slug", slug);
    return { dashboard_id: dashboard.id, title: dashboard.title, link_id: link.link_id };
  },
  handle: (_call, shared) => shared,
});

const shareLinkStateRules: StateRules<ShareLink> = {
  insert: (tx, record) => tx.insert(shareLinks, toConsistent(tx, record)),
  update: (tx, _before, after) => tx.put(shareLinks, toConsistent(tx, after)),
};

/** Sets `revoked_at` by the status. @throws ApiError INVALID_INPUT if another link has the slug */
function toConsistent(tx: Transaction, link: ShareLink): ShareLink {
  for (const other of tx.index(shareLinks, "by_slug", link.slug)) {
    if (other.link_id !== link.link_id)
      throw invalidInput("slug", link.slug, `${other.link_id} has this slug`);
  }
  return { ...link, revoked_at: link.status === "revoked" ? (link.revoked_at ?? tx.now) : null };
}

export const dashboardsResource = {
  name: "dashboards",
  collections: [dashboards, shareLinks],
  operations: [revokeShareLink, resolveShareLink],
  factories: { dashboards: makeDashboard, share_links: makeShareLink },
  fixture: dashboardsFixture,
  state: { share_links: shareLinkStateRules },
} satisfies Resource;
