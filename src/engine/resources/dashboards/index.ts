import { invalidInput } from "../../contract/errors.ts";
import type { Resource, StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { dashboardsFixture, makeDashboard, makeShareLink } from "./fixtures.ts";
import { resolveShareLink, revokeShareLink } from "./operations.ts";
import { dashboards, type ShareLink, shareLinks } from "./schema.ts";

const shareLinkState: StateRules<ShareLink> = {
  insert: (tx, record) => tx.insert(shareLinks, requireConsistent(tx, record)),
  update: (tx, _before, after) => tx.put(shareLinks, requireConsistent(tx, after)),
};

/** A slug names one link, and `revoked_at` follows from `status`. @throws ApiError INVALID_INPUT */
function requireConsistent(tx: Transaction, link: ShareLink): ShareLink {
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
  state: { share_links: shareLinkState },
} satisfies Resource;
