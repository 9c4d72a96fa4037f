import { Type } from "typebox";
import { ApiError } from "../../contract/errors.ts";
import { operation } from "../../contract/operation.ts";
import type { Resource } from "../../contract/resource.ts";
import { Id } from "../../contract/schema.ts";
import { apiKeys } from "../api-keys/schema.ts";
import { explainRefusal, isMember } from "../organizations/access.ts";
import { OrganizationSummary, organizations } from "../organizations/schema.ts";
import { makeUser, usersFixture } from "./fixtures.ts";
import { userStateRules } from "./rules.ts";
import { users } from "./schema.ts";

const setCurrentOrganization = operation({
  id: "users.set_current_organization",
  section: "4.5",
  assumptions: ["G03", "G32"],
  assumed: { values: { "/organization/type": "G27" } },
  route: "PUT /v1/user/current-organization",
  summary: "Set the organization that the calling key acts in",
  description: "With an access token, the calling key is the API key of the token.",
  body: { kind: "json", schema: Type.Object({ organization_id: Id("org_") }) },
  errors: [{ code: "INSUFFICIENT_PERMISSIONS", details: ["organization_id"] }],
  success: {
    status: 200,
    schema: Type.Object({
      success: Type.Boolean(),
      message: Type.String(),
      current_organization_id: Id("org_"),
      organization: OrganizationSummary,
    }),
  },
  access(call) {
    const { organization_id } = call.body;
    const organization = call.world.get(organizations, organization_id);
    // An unknown organization is answered like a foreign one, so that clients cannot probe ids.
    if (organization === undefined || !isMember(call, organization_id)) {
      const reason = organization
        ? explainRefusal(call, organization_id)
        : `there is no organization ${organization_id}`;
      throw new ApiError("INSUFFICIENT_PERMISSIONS", { details: { organization_id }, reason });
    }
    return organization;
  },
  handle({ principal, world }, { id, name, type }) {
    world.update(apiKeys, principal.key_id, { current: id });
    return {
      success: true,
      message: `Requests with this key now act in ${name}.`,
      current_organization_id: id,
      organization: { id, name, type },
    };
  },
});

export const usersResource = {
  name: "users",
  collections: [users],
  operations: [setCurrentOrganization],
  factories: { users: makeUser },
  fixture: usersFixture,
  state: { users: userStateRules },
} satisfies Resource;
