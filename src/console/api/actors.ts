import { useSandboxQuery } from "./queries.ts";
import type { StateRecord } from "./types.ts";

/** Whoever can call the emulated API: a user with one of their API keys. */
export interface Actor {
  /** The id of the API key. */
  id: string;
  user: string;
  name: string;
  key: string;
  organization: string;
  role: string | undefined;
  /** Why its calls are refused; undefined where they are not. */
  unusable: string | undefined;
}

/** Everybody with a key, those whose calls are refused last. Undefined until the server has said. */
export function useActors(): readonly Actor[] | undefined {
  const { data } = useSandboxQuery(["actors"], async (calls) => {
    const [keys, users, clock] = await Promise.all([
      calls.records("api_keys"),
      calls.records("users"),
      calls.clock(),
    ]);
    const people = new Map(users.items.map((user) => [user.id, user]));
    const now = Date.parse(clock.now);
    const actors = keys.items.map((key) => actorOf(key, people.get(key.user_id), now));
    return actors.toSorted((a, b) => Number(a.unusable !== undefined) - Number(b.unusable !== undefined));
  });
  return data;
}

function actorOf(key: ApiKey, user: User | undefined, now: number): Actor {
  return {
    id: key.id,
    user: key.user_id,
    name: user?.name ?? key.user_id,
    key: key.key,
    organization: key.current,
    role: roleOf(key, user),
    unusable: whyUnusable(key, user, now),
  };
}

export type ApiKey = StateRecord<"api_keys">;
export type User = StateRecord<"users">;

/** In the organization that the key acts in; undefined where its user is no member of it. */
export function roleOf({ current }: Pick<ApiKey, "current">, user: User | undefined): string | undefined {
  return (user?.memberships as Record<string, string> | undefined)?.[current];
}

/** Why every call with a key is refused, in a word; undefined where it is not. `now` is the sandbox's, in ms. */
export function whyUnusable(key: ApiKey, user: User | undefined, now: number): string | undefined {
  if (key.revoked) return "revoked";
  if (key.expires_at !== null && Date.parse(key.expires_at) <= now) return "expired";
  if (user === undefined) return "without a user";
  if (user.account !== "active") return user.account;
  return roleOf(key, user) === undefined ? "no member" : undefined;
}
