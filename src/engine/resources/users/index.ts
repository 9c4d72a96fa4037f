import type { Resource } from "../../contract/resource.ts";
import { makeUser, usersFixture } from "./fixtures.ts";
import { setCurrentOrganization } from "./operations.ts";
import { users } from "./schema.ts";
import { userState } from "./state.ts";

export const usersResource = {
  name: "users",
  collections: [users],
  operations: [setCurrentOrganization],
  factories: { users: makeUser },
  fixture: usersFixture,
  state: { users: userState },
} satisfies Resource;
