import type { StateActor, StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { findActor, recordChange } from "../change-logs/record.ts";
import type { Change } from "../change-logs/schema.ts";
import { STATE_CALL } from "./fixtures.ts";
import { type Assistant, assistantHistory, assistants, type HistoryEntry } from "./schema.ts";

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

/**
 * Tells of a change to an assistant in its history and in the change log (G31). The history of 4.8 has
 * no word for a restored assistant; only the change log has.
 */
export function recordAssistantChange(
  tx: Transaction,
  assistant: Assistant,
  {
    action,
    changes,
    actor,
  }: { action: HistoryEntry["action"] | "restored"; changes: Change[]; actor: StateActor },
): void {
  if (actor.silent) return;
  const entry = {
    organization_id: assistant.organization_id,
    resource_type: "assistant" as const,
    resource_id: assistant.id,
    resource_name: assistant.name,
    changes,
  };
  if (action !== "restored") {
    tx.insert(assistantHistory, {
      id: tx.newestFirstId("log_"),
      timestamp: tx.now,
      ...entry,
      action,
      ...findActor(tx, actor.user_id, assistant.organization_id),
      metadata: STATE_CALL,
    });
  }
  recordChange(tx, { ...entry, action, actor_id: actor.user_id });
}

/** G18, G31: assistants come and go through state calls, which write what the real service would. */
export const assistantRules: StateRules<Assistant> = {
  insert(tx, record, actor) {
    tx.insert(assistants, record);
    recordAssistantChange(tx, record, { action: "created", changes: [], actor });
    return record;
  },
  update(tx, before, after, actor) {
    tx.put(assistants, after);
    const action = actionOf(before, after);
    const changes = changesBetween(before, after);
    if (changes.length > 0) recordAssistantChange(tx, after, { action: "updated", changes, actor });
    if (action !== "updated") recordAssistantChange(tx, after, { action, changes: [], actor });
    return after;
  },
  remove(tx, record, actor) {
    recordAssistantChange(tx, record, { action: "deleted", changes: [], actor });
  },
};
