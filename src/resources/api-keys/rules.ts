import type { Root } from "../../state/root.ts";
import { apiKeys } from "./schema.ts";

/** Keys that a commit took away: what is counted for them outside the world goes too. */
export function keysGone(commit: { before: Root; after: Root }): string[] {
  const before = commit.before.tables.get(apiKeys.name);
  const after = commit.after.tables.get(apiKeys.name);
  if (before === undefined || after === undefined || before === after) return [];
  return [...before.changesTo(after)].flatMap(({ id, after: key }) => (key === undefined ? [id] : []));
}
