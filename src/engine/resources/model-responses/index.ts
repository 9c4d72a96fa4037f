import type { Resource } from "../../contract/resource.ts";
import { makeReplyRule } from "./make.ts";
import { createModelResponse } from "./operations.ts";
import { replyRules } from "./schema.ts";
import { replyRulesFixture } from "./seed.ts";
import { replyRuleRules } from "./state.ts";

export const modelResponsesResource = {
  name: "model_responses",
  collections: [replyRules],
  operations: [createModelResponse],
  factories: { reply_rules: makeReplyRule },
  fixture: replyRulesFixture,
  state: { reply_rules: replyRuleRules },
} satisfies Resource;
