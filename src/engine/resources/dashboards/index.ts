import type { Resource } from "../../contract/resource.ts";
import { makeDashboard, makeShareLink } from "./make.ts";
import { resolveShareLink, revokeShareLink } from "./operations.ts";
import { dashboards, shareLinks } from "./schema.ts";
import { dashboardsFixture } from "./seed.ts";
import { shareLinkRules } from "./state.ts";

export const dashboardsResource = {
  name: "dashboards",
  collections: [dashboards, shareLinks],
  operations: [revokeShareLink, resolveShareLink],
  factories: { dashboards: makeDashboard, share_links: makeShareLink },
  fixture: dashboardsFixture,
  state: { share_links: shareLinkRules },
} satisfies Resource;
