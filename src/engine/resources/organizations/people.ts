import type { RecordLookup } from "../../contract/factory.ts";
import { users } from "../users/schema.ts";

/** Whom records name as their author where there is nobody. */
export const SYSTEM_USER_ID = "usr_system";

/** Who acts for an organization where nobody is named: its owner, else a member, else the first user. */
export function authorOf(world: RecordLookup, organization_id: string): string {
  const user =
    world.index(users, "by_owned_organization", organization_id).first() ??
    world.index(users, "by_organization", organization_id).first() ??
    world.all(users).first();
  return user?.id ?? SYSTEM_USER_ID;
}
