import type { Resource } from "../../contract/resource.ts";
import { deleteThread } from "./operations.ts";
import { messages, threads } from "./schema.ts";
import { threadsFixture } from "./seed.ts";
import { messageRules, threadRules } from "./state.ts";

export const threadsResource: Resource = {
  name: "threads",
  collections: [threads, messages],
  operations: [deleteThread],
  fixture: threadsFixture,
  state: { threads: threadRules, messages: messageRules },
};
