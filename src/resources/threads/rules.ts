import { emit } from "../../contract/event.ts";
import type { Transaction } from "../../state/transaction.ts";
import { threadDeleted } from "./events.ts";
import { messages, type Thread, threads } from "./schema.ts";

/** Section 3.8: the thread and all its messages, for good; one event in all (G25). */
export function deleteThreadWithMessages(tx: Transaction, thread: Thread, { silent = false } = {}): void {
  for (const message of tx.index(messages, "by_thread", thread.id)) tx.remove(messages, message.id);
  tx.remove(threads, thread.id);
  if (!silent) emit(tx, threadDeleted, thread);
}
