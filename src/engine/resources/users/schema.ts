import { type Static, Type } from "typebox";
import { Instant, StringEnum, UserId } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";
import { ByOrganization } from "../organizations/schema.ts";

/** A user, with a role and capabilities in each organization (G02). */
export const User = Type.Object({
  id: UserId(),
  name: Type.String({ minLength: 1 }),
  email: Type.String({ minLength: 3 }),
  memberships: ByOrganization(StringEnum(["owner", "admin", "member"])),
  capabilities: ByOrganization(Type.Array(Type.String())),
  account: StringEnum(["active", "suspended", "disabled"]),
  verified: Type.Boolean(),
  created_at: Instant(),
});
export type User = Static<typeof User>;

export const users = collection({
  name: "users",
  prefix: "usr_",
  schema: User,
  indexes: {
    by_organization: { groups: (user) => Object.keys(user.memberships), order: (user) => user.id },
    by_owned_organization: {
      groups: ({ memberships }) => Object.keys(memberships).filter((id) => memberships[id] === "owner"),
      order: (user) => user.id,
    },
  },
});
