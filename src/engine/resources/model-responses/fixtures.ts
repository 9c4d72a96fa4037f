import Type from "typebox";
import type { Factory, RecordLookup } from "../../contract/factory.ts";
import { fixtureRecord, readEntries } from "../../contract/fixture-record.ts";
import type { FixtureReader } from "../../contract/resource.ts";
import { ReplyRule, replyRules } from "./schema.ts";
import { findProblem, REPLY_KINDS } from "./state.ts";

const REPLIES = ["Noted.", "Understood, thank you.", "Here is the answer you asked for."];

/** Makes a rule: without a position it is the last one, without an answer it is given a text. */
export const makeReplyRule: Factory<ReplyRule> = (given, context) => {
  const {
    id = context.newId("reply_"),
    match = {},
    position = nextPosition(context.world),
    ...answer
  } = given;
  const hasAnswer = REPLY_KINDS.some((name) => answer[name] !== undefined);
  return { id, match, ...(hasAnswer ? {} : { reply: context.random.pick(REPLIES) }), ...answer, position };
};

function nextPosition(world: RecordLookup): number {
  const rules = world.index(replyRules, "in_order", "");
  const [last] = rules.page(Math.max(0, rules.size - 1), 1);
  return last === undefined ? 0 : last.position + 1;
}

const record = fixtureRecord(ReplyRule, { needs: ["match"], omit: ["position", "turn"] });

export const replyRulesFixture: FixtureReader = {
  keys: {
    reply_rules: Type.Array(record.schema, { description: "Tried in this order; the first match replies" }),
  },
  check(fixture, report) {
    for (const [position, entry] of readEntries(fixture, "reply_rules", record).entries()) {
      const problem = findProblem(entry);
      if (problem) report(["reply_rules", position, problem.field], problem.why);
    }
  },
  seed(fixture, base) {
    base.fill(replyRules, () =>
      readEntries(fixture, "reply_rules", record).map((entry, position) =>
        makeReplyRule({ ...record.given(entry, base), position }, base.context("reply_rules", position)),
      ),
    );
  },
};
