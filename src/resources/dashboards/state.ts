import { invalidInput } from "../../contract/errors.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { actorOf } from "../change-logs/actor.ts";
import { anyOf, referred } from "../organizations/references.ts";
import { organizations } from "../organizations/schema.ts";
import { type Dashboard, dashboards, type ShareLink, shareLinks } from "./schema.ts";
import { DASHBOARD_TITLES } from "./seed.ts";

export const dashboardRules: StateRules<Dashboard> = {
  complete(fields, tx, { random }) {
    const organization_id = fields.organization_id ?? anyOf(tx, organizations, "organization_id").id;
    return {
      organization_id,
      title: random.pick(DASHBOARD_TITLES),
      created_by: actorOf(tx, undefined, organization_id).user_id,
      created_at: tx.now,
      ...fields,
    };
  },
  insert(tx, record) {
    referred(tx, organizations, { field: "organization_id", id: record.organization_id });
    return tx.insert(dashboards, record);
  },
  update(tx, _before, after) {
    referred(tx, organizations, { field: "organization_id", id: after.organization_id });
    return tx.put(dashboards, after);
  },
  remove(tx, record) {
    for (const { link_id } of tx.index(shareLinks, "by_dashboard", record.id)) tx.remove(shareLinks, link_id);
    tx.remove(dashboards, record.id);
  },
};

export const shareLinkRules: StateRules<ShareLink> = {
  complete(fields, tx, { random }) {
    const dashboard =
      fields.dashboard_id === undefined
        ? anyOf(tx, dashboards, "dashboard_id")
        : tx.get(dashboards, fields.dashboard_id);
    return {
      dashboard_id: dashboard?.id,
      slug: `${random.pick(["board", "partner", "team", "press"])}-${random.letters(8)}`,
      status: "active",
      created_by: dashboard?.created_by ?? "usr_system",
      created_at: tx.now,
      revoked_at: null,
      ...fields,
    };
  },
  insert: (tx, record) => tx.insert(shareLinks, consistent(tx, record)),
  update: (tx, _before, after) => tx.put(shareLinks, consistent(tx, after)),
};

/** A slug leads to one dashboard, and `revoked_at` says what `status` says. */
function consistent(tx: Transaction, link: ShareLink): ShareLink {
  referred(tx, dashboards, { field: "dashboard_id", id: link.dashboard_id });
  for (const other of tx.index(shareLinks, "by_slug", link.slug)) {
    if (other.link_id !== link.link_id)
      throw invalidInput("slug", link.slug, `${other.link_id} has this slug`);
  }
  return { ...link, revoked_at: link.status === "revoked" ? (link.revoked_at ?? tx.now) : null };
}
