import type { WorldReader } from "../../state/transaction.ts";
import type { User } from "./schema.ts";

export type UserEvent = "user.created" | "user.updated" | "user.deleted" | "user.verified";

/**
 * What an event says of a user (section 6.2, G25). Memberships stay out of it: an organization's
 * webhook is not told where else somebody works.
 */
export function userEventData(event: UserEvent, user: User, world: WorldReader): Record<string, unknown> {
  const created_at = world.iso(user.created_at);
  // Section 6.2 shows exactly these for a user who comes into being.
  if (event === "user.created") return { user_id: user.id, email: user.email, created_at };
  const { id: user_id, name, email, account, verified } = user;
  return { user_id, name, email, account, verified, created_at };
}
