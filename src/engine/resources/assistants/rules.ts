import type { StateActor, StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { findActor } from "../audit-logs/rules.ts";
import { changeLogs, type FieldChange } from "../change-logs/schema.ts";
import { STATE_CALL_ORIGIN } from "./fixtures.ts";
import { type Assistant, assistantHistory, assistants, type HistoryEntry } from "./schema.ts";

/** Fields that never change, or whose change is an action of its own. */
const UNRECORDED_FIELDS = new Set(["id", "organization_id", "created_by", "created_at", "deleted_at"]);

/** Lists the changed fields of an update (section 2.6). */
function listChanges(before: Assistant, after: Assistant): FieldChange[] {
  return (Object.keys(after) as (keyof Assistant)[])
    .filter((field) => !UNRECORDED_FIELDS.has(field) && before[field] !== after[field])
    .map((field) => ({ field, old_value: before[field], new_value: after[field] }));
}

/** Distinguishes deletions and restorations from other updates by `deleted_at`. */
function classifyUpdate(before: Assistant, after: Assistant): "updated" | "deleted" | "restored" {
  if (before.deleted_at === null && after.deleted_at !== null) return "deleted";
  if (before.deleted_at !== null && after.deleted_at === null) return "restored";
  return "updated";
}

/**
 * Records a change to an assistant in its history and in the change log (G31). A restored assistant is in the change
 * log only, since the history of section 4.8 has no action for it.
 */
function recordAssistantChange(
  tx: Transaction,
  actor: StateActor,
  assistant: Assistant,
  action: HistoryEntry["action"] | "restored",
  changes: FieldChange[] = [],
): void {
  if (actor.silent) return;
  const entry = {
    timestamp: tx.now,
    organization_id: assistant.organization_id,
    resource_type: "assistant" as const,
    resource_id: assistant.id,
    resource_name: assistant.name,
    changes,
    ...findActor(tx, actor.user_id, assistant.organization_id),
  };
  if (action !== "restored")
    tx.insert(assistantHistory, {
      id: tx.createNewestFirstId("log_"),
      ...entry,
      action,
      metadata: STATE_CALL_ORIGIN,
    });
  tx.insert(changeLogs, { id: tx.createNewestFirstId("log_"), ...entry, action });
}

/** State calls create and delete assistants, and write the same log entries as the real service (G18, G31). */
export const assistantStateRules: StateRules<Assistant> = {
  insert(tx, record, actor) {
    tx.insert(assistants, record);
    recordAssistantChange(tx, actor, record, "created");
    return record;
  },
  update(tx, before, after, actor) {
    tx.put(assistants, after);
    const action = classifyUpdate(before, after);
    const changes = listChanges(before, after);
    if (changes.length > 0) recordAssistantChange(tx, actor, after, "updated", changes);
    if (action !== "updated") recordAssistantChange(tx, actor, after, action);
    return after;
  },
  beforeRemove(tx, record, actor) {
    // The deletion of an assistant that is marked as deleted is in the logs already.
    if (record.deleted_at === null) recordAssistantChange(tx, actor, record, "deleted");
  },
};
