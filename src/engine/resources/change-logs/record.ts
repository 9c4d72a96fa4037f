import type { Transaction } from "../../state/transaction.ts";
import { actorOf } from "./actor.ts";
import { type Change, type ChangeLog, changeLogs } from "./schema.ts";

export interface RecordedChange {
  organization_id: string;
  resource_type: ChangeLog["resource_type"];
  resource_id: string;
  resource_name: string;
  action: ChangeLog["action"];
  /** Undefined: the organization's owner (G31). */
  actor_id: string | undefined;
  changes?: Change[];
}

/** Writes one entry of the change log that 4.16 lists, at the sandbox's now. */
export function recordChange(tx: Transaction, { actor_id, ...change }: RecordedChange): ChangeLog {
  return tx.insert(changeLogs, {
    id: tx.newestFirstId("log_"),
    timestamp: tx.now,
    changes: [],
    ...change,
    ...actorOf(tx, actor_id, change.organization_id),
  });
}
