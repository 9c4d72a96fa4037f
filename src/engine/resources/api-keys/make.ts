import type { Factory } from "../../contract/factory.ts";
import { firstRecord } from "../../contract/references.ts";
import { organizations } from "../organizations/schema.ts";
import { users } from "../users/schema.ts";
import type { ApiKey } from "./schema.ts";

const ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** A key acts in an organization that its user belongs to. */
export const makeApiKey: Factory<ApiKey> = (given, context) => {
  const { random, world } = context;
  const user_id = given.user_id ?? firstRecord(world, users, "user_id").id;
  return {
    id: given.id ?? context.newId("apikey_"),
    user_id,
    current:
      given.current ??
      Object.keys(world.get(users, user_id)?.memberships ?? {})[0] ??
      firstRecord(world, organizations, "current").id,
    key: given.key ?? `ak_${random.letters(39, ALPHANUMERIC)}`,
    name: given.name ?? `Key of ${user_id}`,
    revoked: given.revoked ?? false,
    expires_at: given.expires_at ?? null,
  };
};
