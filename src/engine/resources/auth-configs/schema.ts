import Type, { type Static } from "typebox";
import { publicView } from "../../contract/public-view.ts";
import { belongsTo } from "../../contract/references.ts";
import { Id, Instant } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

/** Section 2.11, with the organization it belongs to. */
export const AuthConfig = Type.Object({
  /** Section 2.1 gives these no prefix, so any identifier will do. */
  id: Type.String({ pattern: "^[A-Za-z0-9_-]{1,128}$", examples: ["authcfg_example"] }),
  toolkit: Type.String({ minLength: 1 }),
  type: Type.String({ minLength: 1 }),
  organization_id: Id("org_", belongsTo("organizations")),
  created_at: Instant(),
});
export type AuthConfig = Static<typeof AuthConfig>;

export const { schema: AuthConfigBody, present: presentAuthConfig } = publicView(AuthConfig, {
  $id: "AuthConfig",
  omit: ["organization_id"],
});

export const authConfigs = collection({
  name: "auth_configs",
  prefix: "authcfg_",
  idField: "id",
  schema: AuthConfig,
  indexes: {
    by_organization: {
      groups: ({ organization_id }) => [organization_id],
      order: ({ created_at }) => -created_at,
    },
  },
});
