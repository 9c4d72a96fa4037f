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
    const [keys, users] = await Promise.all([calls.records("api_keys"), calls.records("users")]);
    const people = new Map(users.items.map((user) => [user.id, user]));
    const actors = keys.items.map((key) => actorOf(key, people.get(key.user_id)));
    return actors.toSorted((a, b) => Number(a.unusable !== undefined) - Number(b.unusable !== undefined));
  });
  return data;
}

function actorOf(key: StateRecord<"api_keys">, user: StateRecord<"users"> | undefined): Actor {
  const account = user?.account ?? "deleted";
  const role = (user?.memberships as Record<string, string> | undefined)?.[key.current];
  return {
    id: key.id,
    user: key.user_id,
    name: user?.name ?? key.user_id,
    key: key.key,
    organization: key.current,
    role,
    unusable: key.revoked ? "revoked" : account === "active" ? undefined : account,
  };
}
