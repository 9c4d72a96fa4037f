import type { StateActor } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { findActor, recordChange } from "../change-logs/record.ts";
import type { Change } from "../change-logs/schema.ts";
import { STATE_CALL } from "./make.ts";
import { type Assistant, assistantHistory, type HistoryEntry } from "./schema.ts";

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
