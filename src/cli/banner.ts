import { apiKeys } from "../engine/resources/api-keys/schema.ts";
import { users } from "../engine/resources/users/schema.ts";
import type { Understudy } from "../understudy.ts";
import { table } from "./output.ts";
import type { Ready } from "./ready-file.ts";

const MAX_CREDENTIALS = 15;

/**
 * What a user reads first: where it is, whom to be, and a line to paste.
 * @param names by which other machines may call the console too (`--allow-host`)
 */
export function banner(understudy: Understudy, ready: Ready, names: readonly string[] = []): string {
  const sandbox = understudy.sandboxes.get("default");
  // In a fleet it may be another node's.
  if (sandbox === undefined) {
    const node = "  Understudy is running: a node of a fleet";
    return ["", node, "", ...ways(understudy, ready, names), "", ""].join("\n");
  }
  const world = sandbox.world.read();
  const keys = [...world.all(apiKeys)].filter(
    ({ revoked, expires_at }) => !revoked && (expires_at === null || expires_at > world.now),
  );
  const rows = keys.slice(0, MAX_CREDENTIALS).map(({ key, user_id, current }) => {
    const user = world.get(users, user_id);
    const role = user?.memberships[current] ?? "no member";
    const account = user && user.account !== "active" ? `, ${user.account}` : "";
    return [`  ${user_id}`, key, `${user?.name ?? "unknown"}, ${role} of ${current}${account}`];
  });
  const hidden = keys.length - rows.length;
  const first = keys[0];
  const lines = [
    "",
    `  Understudy is running: fixture ${sandbox.fixture}, seed ${sandbox.seed}, clock ${sandbox.world.clock.mode}`,
    "",
    ...ways(understudy, ready, names),
    "",
    "  Credentials (header `api-key`):",
    table(["  user", "key", "who"], rows),
    ...(hidden > 0 ? [`  … and ${hidden} more`] : []),
    ...(first === undefined
      ? []
      : [
          "",
          "  Try:",
          `  curl -s -H 'api-key: ${first.key}' ${ready.url}/v1/analytics/usage/limits/${first.current}`,
        ]),
    "",
    "",
  ];
  return lines.join("\n");
}

/** How to reach it, also a node of a fleet whose `default` is another's: each serves the console. */
function ways({ login }: Understudy, { url, console, token }: Ready, names: readonly string[]): string[] {
  const others = names.filter((name) => !url.includes(name));
  return [
    `  API      ${url}`,
    `  Console  ${console}`,
    ...(others.length > 0 ? [`  Also as  ${others.join(", ")}`] : []),
    ...(token === null ? [] : [`  Token    ${token}`, `  Log in   ${console}${login!.fragment} (once)`]),
  ];
}
