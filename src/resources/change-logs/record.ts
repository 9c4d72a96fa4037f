import type { Collection } from "../../state/collection.ts";
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
    id: newestFirstId(tx, changeLogs),
    timestamp: tx.now,
    changes: [],
    ...change,
    ...actorOf(tx, actor_id, change.organization_id),
  });
}

const LARGEST = 36 ** 6 - 1;

/**
 * A fresh id that sorts before all earlier ones. Lists break ties by id ascending (G28), and on a frozen
 * clock everything is a tie: this way the newest still comes first and a creation last (G18).
 */
export function newestFirstId<R extends object>(tx: Transaction, collection: Collection<R>): string {
  const rank = (LARGEST - tx.all(collection).size).toString(36).padStart(6, "0");
  return tx.newId(`${collection.prefix}0${rank}`);
}
