import type { Factory, RecordLookup } from "../../contract/factory.ts";
import { ANSWERS } from "./judge-rule.ts";
import { type ReplyRule, replyRules } from "./schema.ts";

const REPLIES = ["Noted.", "Understood, thank you.", "Here is the answer you asked for."];

/** A rule that says nothing of its place comes last, and one without an answer is given a text. */
export const makeReplyRule: Factory<ReplyRule> = (given, context) => {
  const {
    id = context.newId("reply_"),
    match = {},
    position = nextPosition(context.world),
    ...answer
  } = given;
  const answers = ANSWERS.some((name) => answer[name] !== undefined);
  return { id, match, ...(answers ? {} : { reply: context.random.pick(REPLIES) }), ...answer, position };
};

function nextPosition(world: RecordLookup): number {
  const rules = world.index(replyRules, "in_order", "");
  const [last] = rules.page(Math.max(0, rules.size - 1), 1);
  return last === undefined ? 0 : last.position + 1;
}
