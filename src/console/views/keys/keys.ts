import { type ApiKey, type User, whyUnusable } from "../../api/actors.ts";
import { useSandboxQuery } from "../../api/queries.ts";

export interface KeyRow {
  key: ApiKey;
  user: User | undefined;
  /** Why every call with it is refused. */
  unusable: string | undefined;
}

/** All keys of the sandbox with the people whose they are. */
export function useKeys() {
  return useSandboxQuery(["keys"], async (calls) => {
    const [keys, users, organizations] = await Promise.all([
      calls.records("api_keys"),
      calls.records("users"),
      calls.records("organizations"),
    ]);
    return { keys: keys.items, users: users.items, organizations: organizations.items };
  });
}

/** `now` is the sandbox's, in milliseconds. */
export function rowsOf(keys: readonly ApiKey[], users: readonly User[], now: number): KeyRow[] {
  const people = new Map(users.map((user) => [user.id, user]));
  return keys.map((key) => {
    const user = people.get(key.user_id);
    return { key, user, unusable: whyUnusable(key, user, now) };
  });
}

const SEEN = 4;

/** What a list shows of a key: it is seen whole when it is made, and then no more (2.15). */
export function masked(key: string): string {
  return `ak_…${key.slice(-SEEN)}`;
}

const WHY: Readonly<Record<string, string>> = {
  revoked: "The key was revoked.",
  expired: "The key has expired.",
  suspended: "Its user is suspended.",
  disabled: "Its user is disabled.",
  "no member": "Its user is no member of the organization it acts in.",
};

export function whyWords(unusable: string): string {
  return WHY[unusable] ?? `It is ${unusable}.`;
}
