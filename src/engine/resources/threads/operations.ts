import { Type } from "typebox";
import { ApiError, resourceNotFound } from "../../contract/errors.ts";
import { emit } from "../../contract/event.ts";
import { operation } from "../../contract/operation.ts";
import { removeWithDependents } from "../../contract/removal.ts";
import type { Resource } from "../../contract/resource.ts";
import { Id } from "../../contract/schema.ts";
import { ADMINISTRATOR_ROLE, explainRefusal, isAdministrator, isMember } from "../organizations/access.ts";
import { makeMessage, makeThread, threadsFixture } from "./fixtures.ts";
import { messageStateRules, threadDeleted, threadStateRules } from "./rules.ts";
import { messages, threads } from "./schema.ts";

export const deleteThread = operation({
  id: "threads.delete",
  section: "4.7",
  assumptions: ["G02", "G05", "G08", "G25", "G37"],
  route: "DELETE /v1/threads/{thread_id}",
  summary: "Delete a thread for good",
  description:
    "Also deletes the thread's messages. Only the thread's owner, and the owners and admins of its organization, may call this.",
  params: Type.Object({ thread_id: Id("thread_") }),
  envelope: "B",
  spellings: {
    RESOURCE_NOT_FOUND: "thread_not_found",
    AUTHENTICATION_REQUIRED: "missing_authentication",
    INSUFFICIENT_PERMISSIONS: "insufficient_permissions",
  },
  errors: [{ code: "INSUFFICIENT_PERMISSIONS", details: ["thread_id"] }, "RESOURCE_NOT_FOUND"],
  success: {
    status: 200,
    schema: Type.Object({ success: Type.Boolean(), threadId: Id("thread_"), message: Type.String() }),
  },
  access(call) {
    const { thread_id } = call.params;
    const thread = call.world.get(threads, thread_id);
    if (thread === undefined) throw resourceNotFound("thread_id", thread_id);
    // A caller without access to an existing thread gets 403, also outside its organization (section 5, rule 3). Former
    // members have no access even to their own threads (G37).
    const isOwner = thread.owner_id === call.principal.user_id && isMember(call, thread.organization_id);
    if (!isOwner && !isAdministrator(call, thread.organization_id)) {
      throw new ApiError("INSUFFICIENT_PERMISSIONS", {
        details: { thread_id },
        reason: explainRefusal(
          call,
          thread.organization_id,
          `to own the thread, which is ${thread.owner_id}'s, or ${ADMINISTRATOR_ROLE}`,
        ),
      });
    }
    return thread;
  },
  handle({ world }, thread) {
    removeWithDependents(world, threads, thread.id);
    emit(world, threadDeleted, thread);
    return { success: true, threadId: thread.id, message: "Thread deleted successfully" };
  },
});

export const threadsResource = {
  name: "threads",
  collections: [threads, messages],
  operations: [deleteThread],
  factories: { threads: makeThread, messages: makeMessage },
  fixture: threadsFixture,
  state: { threads: threadStateRules, messages: messageStateRules },
} satisfies Resource;
