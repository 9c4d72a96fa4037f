import Type from "typebox";
import { ApiError } from "../../contract/errors.ts";
import { operation } from "../../contract/operation.ts";
import type { Resource } from "../../contract/resource.ts";
import {
  ADMINISTRATOR_ROLE,
  CURRENT_MEMBER_ERRORS,
  explainRefusal,
  isAdministrator,
  requireCurrentMember,
} from "../organizations/access.ts";
import { authConfigsFixture, makeAuthConfig } from "./fixtures.ts";
import { AuthConfigBody, authConfigs, presentAuthConfig } from "./schema.ts";

const listAuthConfigs = operation({
  id: "connectors.list_auth_configs",
  section: "4.10",
  assumptions: ["G02", "G28", "G37"],
  assumed: { envelope: "G02" },
  method: "GET",
  path: "/v1/admin/connector/auth-configs",
  summary: "List the auth configurations of connectors",
  description: "Those of the organization that the key acts in, newest first, for its owners and admins.",
  errors: ["INSUFFICIENT_PERMISSIONS", ...CURRENT_MEMBER_ERRORS],
  success: {
    status: 200,
    schema: Type.Object({ auth_configs: Type.Array(AuthConfigBody), total: Type.Integer({ minimum: 0 }) }),
  },
  access(call) {
    const organization_id = requireCurrentMember(call);
    if (!isAdministrator(call, organization_id)) {
      throw new ApiError("INSUFFICIENT_PERMISSIONS", {
        details: { required_role: "admin" },
        reason: explainRefusal(call, organization_id, ADMINISTRATOR_ROLE),
      });
    }
  },
  handle({ principal, world }) {
    const found = world.index(authConfigs, "by_organization", principal.organization_id);
    const auth_configs = [...found].map((config) => presentAuthConfig(config, world));
    return { auth_configs, total: found.size };
  },
});

export const authConfigsResource = {
  name: "auth_configs",
  collections: [authConfigs],
  operations: [listAuthConfigs],
  factories: { auth_configs: makeAuthConfig },
  fixture: authConfigsFixture,
} satisfies Resource;
