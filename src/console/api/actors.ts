import type { StateRecord } from "../../../types/control-api.ts";
import { useSandboxQuery } from "./queries.ts";

export type ApiKey = StateRecord<"api_keys">;
export type User = StateRecord<"users">;

/** A caller of the emulated API: a user with one of their API keys. */
export interface Actor {
  /** The id of the API key. */
  id: string;
  name: string;
  key: string;
  organization: string;
  role: string | undefined;
  /** Why the key is rejected; undefined if it is accepted. */
  unusable: string | undefined;
}

/** All keys with their users, rejected keys last. Undefined while loading. */
export function useActors(): readonly Actor[] | undefined {
  const { data } = useSandboxQuery(["actors"], async (calls) => {
    const [keys, users, clock] = await Promise.all([
      calls.records("api_keys"),
      calls.records("users"),
      calls.clock(),
    ]);
    const people = new Map(users.items.map((user) => [user.id, user]));
    const now = Date.parse(clock.now);
    const actors = keys.items.map((key) => toActor(key, people.get(key.user_id), now));
    return actors.toSorted((a, b) => Number(a.unusable !== undefined) - Number(b.unusable !== undefined));
  });
  return data;
}

function toActor(key: ApiKey, user: User | undefined, now: number): Actor {
  return {
    id: key.id,
    name: user?.name ?? key.user_id,
    key: key.key,
    organization: key.current,
    role: getRole(key, user),
    unusable: whyUnusable(key, user, now),
  };
}

/** The user's role in the key's organization; undefined if the user is not a member. */
export function getRole({ current }: Pick<ApiKey, "current">, user: User | undefined): string | undefined {
  return (user?.memberships as Record<string, string> | undefined)?.[current];
}

/** Why every call with a key is rejected, in a word; undefined if accepted. `now`: sandbox time in milliseconds. */
export function whyUnusable(key: ApiKey, user: User | undefined, now: number): string | undefined {
  if (key.revoked) return "revoked";
  if (key.expires_at !== null && Date.parse(key.expires_at) <= now) return "expired";
  if (user === undefined) return "no user";
  if (user.account !== "active") return user.account;
  return getRole(key, user) === undefined ? "not a member" : undefined;
}
