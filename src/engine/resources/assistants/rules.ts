import type { Change } from "../change-logs/schema.ts";
import type { Assistant } from "./schema.ts";

/** Fields whose change is told as an action of its own, or that never change. */
const UNTOLD = new Set(["id", "organization_id", "created_by", "created_at", "deleted_at"]);

/** What an update changed, field by field (section 2.6). */
export function changesBetween(before: Assistant, after: Assistant): Change[] {
  return (Object.keys(after) as (keyof Assistant)[])
    .filter((field) => !UNTOLD.has(field) && before[field] !== after[field])
    .map((field) => ({ field, old_value: before[field], new_value: after[field] }));
}

/** What an update amounts to: into the bin, out of it, or a plain change. */
export function actionOf(before: Assistant, after: Assistant): "updated" | "deleted" | "restored" {
  if (before.deleted_at === null && after.deleted_at !== null) return "deleted";
  if (before.deleted_at !== null && after.deleted_at === null) return "restored";
  return "updated";
}
