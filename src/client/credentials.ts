import type { ControlHttp } from "./http.ts";
import type { List, SandboxState, StateRecord } from "./types.ts";

/** One key per user: the first that is neither revoked nor expired. */
export async function credentialsOf(
  http: ControlHttp,
  { name, clock }: SandboxState,
): Promise<Record<string, string>> {
  const path = `/_control/sandboxes/${name}/state/api_keys?limit=1000`;
  const { items } = await http.call<List<StateRecord<"api_keys">>>("GET", path);
  const credentials: Record<string, string> = {};
  for (const { user_id, key, revoked, expires_at } of items) {
    const usable = !revoked && (expires_at === null || expires_at > clock.now);
    if (usable && credentials[user_id] === undefined) credentials[user_id] = key;
  }
  return credentials;
}
