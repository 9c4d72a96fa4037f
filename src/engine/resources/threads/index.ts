import type { Resource } from "../../contract/resource.ts";
import { makeMessage, makeThread, threadsFixture } from "./fixtures.ts";
import { deleteThread } from "./operations.ts";
import { messages, threads } from "./schema.ts";
import { messageState, threadState } from "./state.ts";

export const threadsResource = {
  name: "threads",
  collections: [threads, messages],
  operations: [deleteThread],
  factories: { threads: makeThread, messages: makeMessage },
  fixture: threadsFixture,
  state: { threads: threadState, messages: messageState },
} satisfies Resource;
