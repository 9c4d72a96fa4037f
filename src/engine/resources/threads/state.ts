import { emit } from "../../contract/event.ts";
import type { StateRules } from "../../contract/resource.ts";
import { changedFields } from "../audit-logs/record.ts";
import {
  messageCreated,
  messageDeleted,
  messageUpdated,
  threadCreated,
  threadDeleted,
  threadUpdated,
} from "./events.ts";
import { type Message, messages, type Thread, threads } from "./schema.ts";

/** State calls create and delete threads and messages, and emit the events of the real service (G18). */
export const threadState: StateRules<Thread> = {
  insert(tx, record, actor) {
    tx.insert(threads, record);
    if (!actor.silent) emit(tx, threadCreated, record);
    return record;
  },
  update(tx, before, after, actor) {
    if (changedFields(before, after) === undefined) return before;
    tx.put(threads, after);
    if (!actor.silent) emit(tx, threadUpdated, after);
    return after;
  },
  remove(tx, record, actor) {
    if (!actor.silent) emit(tx, threadDeleted, record);
  },
};

export const messageState: StateRules<Message> = {
  insert(tx, record, actor) {
    tx.insert(messages, record);
    if (!actor.silent) emit(tx, messageCreated, record);
    return record;
  },
  update(tx, before, after, actor) {
    if (changedFields(before, after) === undefined) return before;
    tx.put(messages, after);
    if (!actor.silent) emit(tx, messageUpdated, after);
    return after;
  },
  remove(tx, record, actor) {
    if (!actor.silent) emit(tx, messageDeleted, record);
  },
};
