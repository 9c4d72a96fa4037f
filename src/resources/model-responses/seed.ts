import Type, { type Static } from "typebox";
import type { FixtureReader } from "../../contract/resource.ts";
import { drawnReply, problemOf } from "./judge-rule.ts";
import { ReplyRuleEntry, replyRules } from "./schema.ts";

export const replyRulesFixture: FixtureReader = {
  keys: {
    reply_rules: Type.Array(ReplyRuleEntry, { description: "Tried in this order; the first match replies" }),
  },
  check(fixture, report) {
    const entries = (fixture["reply_rules"] ?? []) as Static<typeof ReplyRuleEntry>[];
    for (const [position, entry] of entries.entries()) {
      const problem = problemOf(entry);
      if (problem) report(["reply_rules", position, problem.field], problem.why);
    }
  },
  seed(fixture, base) {
    const entries = (fixture["reply_rules"] ?? []) as Static<typeof ReplyRuleEntry>[];
    base.fill(replyRules, () =>
      entries.map((entry, position) => ({
        id: `reply_${base.random("reply_rules", position).letters(20)}`,
        ...drawnReply(entry, base.random("reply_rules", position, "reply")),
        ...entry,
        position,
      })),
    );
  },
};
