import Type from "typebox";
import { ApiError, invalidInput } from "../../contract/errors.ts";
import { operation } from "../../contract/operation.ts";
import type { Resource, StateRules } from "../../contract/resource.ts";
import { isAdministrator } from "../organizations/access.ts";
import { organizations } from "../organizations/schema.ts";
import { type AuthConfig, AuthConfigBody, authConfigs } from "./schema.ts";
import { authConfigsFixture, inventAuthConfig } from "./seed.ts";

export const listAuthConfigs = operation({
  id: "connectors.list_auth_configs",
  section: "4.10",
  assumptions: ["G02", "G28"],
  assumed: { envelope: "G02" },
  method: "GET",
  path: "/v1/admin/connector/auth-configs",
  summary: "List the auth configurations of connectors",
  description: "Those of the organization that the key acts in, newest first, for its owners and admins.",
  errors: ["INSUFFICIENT_PERMISSIONS"],
  success: {
    status: 200,
    schema: Type.Object({ auth_configs: Type.Array(AuthConfigBody), total: Type.Integer({ minimum: 0 }) }),
  },
  access(call) {
    // The path names no organization, so one that is gone is like one without the role.
    if (!isAdministrator(call, call.principal.organization_id)) {
      throw new ApiError("INSUFFICIENT_PERMISSIONS", { details: { required_role: "admin" } });
    }
  },
  handle({ principal, world }) {
    const found = world.index(authConfigs, "by_organization", principal.organization_id);
    const auth_configs = [...found].map(({ id, toolkit, type, created_at }) => ({
      id,
      toolkit,
      type,
      created_at: world.iso(created_at),
    }));
    return { auth_configs, total: found.size };
  },
});

const authConfigState: StateRules<AuthConfig> = {
  complete: (fields, tx, { random }) => ({
    ...inventAuthConfig(random),
    created_at: tx.now,
    organization_id: tx.all(organizations).page(0, 1)[0]?.id,
    ...fields,
  }),
  insert(tx, record) {
    requireOrganization(tx.get(organizations, record.organization_id), record);
    return tx.insert(authConfigs, record);
  },
  update(tx, _before, after) {
    requireOrganization(tx.get(organizations, after.organization_id), after);
    return tx.put(authConfigs, after);
  },
};

function requireOrganization(found: object | undefined, { organization_id }: AuthConfig): void {
  if (found === undefined)
    throw invalidInput("organization_id", organization_id, "there is no such organization");
}

export const authConfigsResource: Resource = {
  name: "auth_configs",
  collections: [authConfigs],
  operations: [listAuthConfigs],
  fixture: authConfigsFixture,
  state: { auth_configs: authConfigState },
};
