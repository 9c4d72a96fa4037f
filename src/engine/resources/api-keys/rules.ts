import type { Commit } from "../../state/world-parts.ts";
import { writtenTo } from "../../state/written.ts";
import { apiKeys } from "./schema.ts";

/** Keys that a commit took away: what is counted for them outside the world goes too. */
export function keysGone({ written }: Pick<Commit, "written">): string[] {
  return writtenTo(apiKeys, written).flatMap(({ id, after }) => (after === undefined ? [id] : []));
}
