import type { StateRecord } from "../../../types/control-api.ts";
import { useParameters } from "../address.ts";
import { usePollingWhileRunning, useSandboxQuery } from "./queries.ts";

type ApiKey = StateRecord<"api_keys">;
type User = StateRecord<"users">;

export interface Actor extends ApiKey {
  user: User | undefined;
  /** The user's role in the key's organization; undefined if the user is not a member. */
  role: string | undefined;
  /** Why every call with the key is rejected, in a word; undefined if accepted. */
  unusableReason: string | undefined;
}

/** All keys with their users; `data` is undefined while loading. */
export function useActors() {
  return useSandboxQuery(
    ["actors"],
    async (calls): Promise<Actor[]> => {
      const [keys, users, clock] = await Promise.all([
        calls.records("api_keys"),
        calls.records("users"),
        calls.clock(),
      ]);
      const usersById = new Map(users.items.map((user) => [user.id, user]));
      return keys.items.map((key) => {
        const user = usersById.get(key.user_id);
        const role = (user?.memberships as Record<string, string> | undefined)?.[key.current];
        return { ...key, user, role, unusableReason: explainUnusable(key, clock.now, user, role) };
      });
    },
    // Keys expire while the clock runs.
    usePollingWhileRunning(),
  );
}

function explainUnusable(key: ApiKey, now: string, user?: User, role?: string): string | undefined {
  if (key.revoked) return "revoked";
  if (key.expires_at !== null && Date.parse(key.expires_at) <= Date.parse(now)) return "expired";
  if (user === undefined) return "no user";
  if (user.account !== "active") return user.account;
  return role === undefined ? "not a member" : undefined;
}

/** Replaces the id of an actor: the call has no credentials. */
export const NO_CREDENTIALS = "none";

/** The actor that the address selects; by default an owner, of the organization if one is given. */
export function useSelectedActor(organization?: string) {
  const { get } = useParameters();
  const { data: actors } = useActors();
  const owner = actors?.find(
    ({ role, current, unusableReason }) =>
      role === "owner" && !unusableReason && (organization === undefined || current === organization),
  );
  const as = get("as") ?? owner?.id ?? NO_CREDENTIALS;
  return { actors, as, actor: actors?.find(({ id }) => id === as) };
}
