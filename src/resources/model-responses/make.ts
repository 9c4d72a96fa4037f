import type { Make, Surroundings } from "../../contract/make.ts";
import { ANSWERS } from "./judge-rule.ts";
import { type ReplyRule, replyRules } from "./schema.ts";

const REPLIES = ["Noted.", "Understood, thank you.", "Here is the answer you asked for."];

/** A rule that says nothing of its place comes last, and one without an answer is given a text. */
export const makeReplyRule: Make<ReplyRule> = (given, making) => {
  const id = given.id ?? making.newId("reply_");
  const position = given.position ?? nextPosition(making.world);
  const answers = ANSWERS.some((name) => given[name] !== undefined);
  const reply = answers ? {} : { reply: making.random.pick(REPLIES) };
  return { ...reply, ...given, id, position, match: given.match ?? {} };
};

function nextPosition(world: Surroundings): number {
  const rules = world.index(replyRules, "in_order", "");
  const [last] = rules.page(Math.max(0, rules.size - 1), 1);
  return last === undefined ? 0 : last.position + 1;
}
