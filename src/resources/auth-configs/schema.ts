import Type, { type Static } from "typebox";
import { Id, Instant, Timestamp } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

const fields = {
  /** Section 2.1 gives these no prefix, so any identifier will do. */
  id: Type.String({ pattern: "^[A-Za-z0-9_-]{1,128}$", examples: ["authcfg_example"] }),
  toolkit: Type.String({ minLength: 1 }),
  type: Type.String({ minLength: 1 }),
};

/** Section 2.11, with the organization it belongs to. */
export const AuthConfig = Type.Object({ ...fields, organization_id: Id("org_"), created_at: Instant() });
export type AuthConfig = Static<typeof AuthConfig>;

export const AuthConfigBody = Type.Object({ ...fields, created_at: Timestamp() }, { $id: "AuthConfig" });

export const authConfigs = collection<AuthConfig>({
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
