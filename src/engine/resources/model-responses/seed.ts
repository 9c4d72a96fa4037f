import Type from "typebox";
import { entriesOf, fixtureRecord } from "../../contract/fixture-record.ts";
import type { FixtureReader } from "../../contract/resource.ts";
import { problemOf } from "./judge-rule.ts";
import { makeReplyRule } from "./make.ts";
import { ReplyRule, replyRules } from "./schema.ts";

const record = fixtureRecord(ReplyRule, { needs: ["match"], omit: ["position", "turn"] });

export const replyRulesFixture: FixtureReader = {
  keys: {
    reply_rules: Type.Array(record.schema, { description: "Tried in this order; the first match replies" }),
  },
  check(fixture, report) {
    for (const [position, entry] of entriesOf(fixture, "reply_rules", record).entries()) {
      const problem = problemOf(entry);
      if (problem) report(["reply_rules", position, problem.field], problem.why);
    }
  },
  seed(fixture, base) {
    base.fill(replyRules, () =>
      entriesOf(fixture, "reply_rules", record).map((entry, position) =>
        makeReplyRule({ ...record.given(entry, base), position }, base.context("reply_rules", position)),
      ),
    );
  },
};
