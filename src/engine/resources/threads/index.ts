import type { Resource } from "../../contract/resource.ts";
import { makeMessage, makeThread, threadsFixture } from "./fixtures.ts";
import { deleteThread } from "./operations.ts";
import { messages, threads } from "./schema.ts";
import { messageRules, threadRules } from "./state.ts";

export const threadsResource = {
  name: "threads",
  collections: [threads, messages],
  operations: [deleteThread],
  factories: { threads: makeThread, messages: makeMessage },
  fixture: threadsFixture,
  state: { threads: threadRules, messages: messageRules },
} satisfies Resource;
