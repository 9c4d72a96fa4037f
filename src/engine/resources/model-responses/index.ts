import type { Resource } from "../../contract/resource.ts";
import { makeReplyRule, replyRulesFixture } from "./fixtures.ts";
import { createModelResponse } from "./operations.ts";
import { replyRules } from "./schema.ts";
import { replyRuleState } from "./state.ts";

export const modelResponsesResource = {
  name: "model_responses",
  collections: [replyRules],
  operations: [createModelResponse],
  factories: { reply_rules: makeReplyRule },
  fixture: replyRulesFixture,
  state: { reply_rules: replyRuleState },
} satisfies Resource;
