import { emit } from "../../contract/event.ts";
import type { StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { changedFields } from "../audit-logs/record.ts";
import { anyOf, personOf, referred } from "../organizations/references.ts";
import { organizations } from "../organizations/schema.ts";
import { users } from "../users/schema.ts";
import { messageCreated, messageDeleted, messageUpdated, threadCreated, threadUpdated } from "./events.ts";
import { deleteThreadWithMessages } from "./rules.ts";
import { type Message, messages, type Thread, threads } from "./schema.ts";
import { EXCHANGES, THREAD_TITLES } from "./words.ts";

/** G18: threads and messages come and go through state calls, which tell what the real service would. */
export const threadRules: StateRules<Thread> = {
  complete(fields, tx, { random }) {
    const organization_id = fields.organization_id ?? anyOf(tx, organizations, "organization_id").id;
    return {
      organization_id,
      owner_id: personOf(tx, organization_id),
      title: random.pick(THREAD_TITLES),
      created_at: tx.now,
      ...fields,
    };
  },
  insert(tx, record, actor) {
    requireReferences(tx, record);
    tx.insert(threads, record);
    if (!actor.silent) emit(tx, threadCreated, record);
    return record;
  },
  update(tx, before, after, actor) {
    if (changedFields(before, after) === undefined) return before;
    requireReferences(tx, after);
    tx.put(threads, after);
    if (!actor.silent) emit(tx, threadUpdated, after);
    return after;
  },
  remove(tx, record, actor) {
    deleteThreadWithMessages(tx, record, actor);
  },
};

function requireReferences(tx: Transaction, { organization_id, owner_id }: Thread): void {
  referred(tx, organizations, { field: "organization_id", id: organization_id });
  referred(tx, users, { field: "owner_id", id: owner_id });
}

export const messageRules: StateRules<Message> = {
  complete(fields, tx, { random }) {
    const [question, answer] = random.pick(EXCHANGES);
    const role = fields.role ?? "user";
    return {
      thread_id: fields.thread_id ?? anyOf(tx, threads, "thread_id").id,
      role,
      content: role === "assistant" ? answer : question,
      created_at: tx.now,
      ...fields,
    };
  },
  insert(tx, record, actor) {
    referred(tx, threads, { field: "thread_id", id: record.thread_id });
    tx.insert(messages, record);
    if (!actor.silent) emit(tx, messageCreated, record);
    return record;
  },
  update(tx, before, after, actor) {
    if (changedFields(before, after) === undefined) return before;
    referred(tx, threads, { field: "thread_id", id: after.thread_id });
    tx.put(messages, after);
    if (!actor.silent) emit(tx, messageUpdated, after);
    return after;
  },
  remove(tx, record, actor) {
    tx.remove(messages, record.id);
    if (!actor.silent) emit(tx, messageDeleted, record);
  },
};
