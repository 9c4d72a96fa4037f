import type { Transaction, WorldReader } from "../../state/transaction.ts";
import { type Message, type Thread, threads } from "./schema.ts";

/** G25: the public fields, the id as `thread_id`. */
export function threadEventData({ id, ...thread }: Thread, world: WorldReader) {
  return { thread_id: id, ...thread, created_at: world.iso(thread.created_at) };
}

export function messageEventData({ id, ...message }: Message, world: WorldReader) {
  return { message_id: id, ...message, created_at: world.iso(message.created_at) };
}

export function emitThread(
  tx: Transaction,
  event: "thread.created" | "thread.updated",
  thread: Thread,
): void {
  tx.emit(event, thread.organization_id, threadEventData(thread, tx));
}

export function emitMessage(
  tx: Transaction,
  event: "message.created" | "message.updated" | "message.deleted",
  message: Message,
): void {
  const thread = tx.get(threads, message.thread_id);
  if (thread) tx.emit(event, thread.organization_id, messageEventData(message, tx));
}
