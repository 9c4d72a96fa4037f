import { aboutRecords, type EventDeclaration, emit, event } from "../../contract/event.ts";
import { findAnyInOrganization } from "../../contract/references.ts";
import type { StateRules } from "../../contract/resource.ts";
import { isEqual } from "../../maps.ts";
import type { Collection, StoredRecord } from "../../state/collection.ts";
import { makeMessage, makeThread } from "./fixtures.ts";
import { messages, threads } from "./schema.ts";

const MESSAGE_EVENT = {
  section: "6.1",
  assumptions: ["G25"],
  about: aboutRecords(messages, {
    id: "message_id",
    listOrganizations({ thread_id }, world) {
      const parentThread = world.get(threads, thread_id);
      return parentThread ? [parentThread.organization_id] : [];
    },
    // For an event that is triggered by a call. A message is not older than its thread.
    invent(fields, context, organization_id) {
      const parentThread = findAnyInOrganization(context.world, threads, organization_id);
      const created_at = Math.max(context.now, parentThread?.created_at ?? context.now);
      return makeMessage(
        { thread_id: parentThread?.id ?? context.createId("thread_"), created_at, ...fields },
        context,
      );
    },
  }),
} as const;

const messageCreated = event({
  ...MESSAGE_EVENT,
  name: "message.created",
  summary: "A message was added to a thread",
  isAboutCreation: true,
});
const messageUpdated = event({
  ...MESSAGE_EVENT,
  name: "message.updated",
  summary: "A message was changed",
});
const messageDeleted = event({
  ...MESSAGE_EVENT,
  name: "message.deleted",
  summary: "A message was deleted",
  description: "Not sent for the messages of a deleted thread.",
});

const THREAD_EVENT = {
  section: "6.1",
  assumptions: ["G25"],
  about: aboutRecords(threads, { id: "thread_id", invent: makeThread }),
} as const;

const threadCreated = event({
  ...THREAD_EVENT,
  name: "thread.created",
  summary: "A thread was created",
  isAboutCreation: true,
});
const threadUpdated = event({
  ...THREAD_EVENT,
  name: "thread.updated",
  summary: "A thread was changed",
});
export const threadDeleted = event({
  ...THREAD_EVENT,
  name: "thread.deleted",
  summary: "A thread was deleted with all its messages",
  // The rest of the thread is gone.
  data: ["thread_id", "organization_id"],
});

/** In the order of the reference, 6.1. */
export const THREAD_EVENTS = [
  messageCreated,
  messageUpdated,
  messageDeleted,
  threadCreated,
  threadUpdated,
  threadDeleted,
] as const;

export const threadStateRules = createEmittingRules(threads, {
  created: threadCreated,
  updated: threadUpdated,
  deleted: threadDeleted,
});
export const messageStateRules = createEmittingRules(messages, {
  created: messageCreated,
  updated: messageUpdated,
  deleted: messageDeleted,
});

/** State calls emit the events that the real service would emit (assumption G18), unless they are silent. */
function createEmittingRules<R extends StoredRecord>(
  collection: Collection<R>,
  events: Record<"created" | "updated" | "deleted", EventDeclaration<string, R, string>>,
): StateRules<R> {
  return {
    insert(tx, record, actor) {
      tx.insert(collection, record);
      if (!actor.silent) emit(tx, events.created, record);
      return record;
    },
    update(tx, before, after, actor) {
      if (isEqual(before, after)) return before;
      tx.put(collection, after);
      if (!actor.silent) emit(tx, events.updated, after);
      return after;
    },
    // The caller removes the record afterwards.
    beforeRemove(tx, record, actor) {
      if (!actor.silent) emit(tx, events.deleted, record);
    },
  };
}
