import { invalidInput } from "../../contract/errors.ts";
import type { StateRules } from "../../contract/resource.ts";
import { ANSWERS, problemOf } from "./judge-rule.ts";
import { type ReplyRule, replyRules } from "./schema.ts";

/** A rule has one kind of answer. */
export const replyRuleRules: StateRules<ReplyRule> = {
  insert: (tx, rule) => tx.insert(replyRules, judged(rule)),
  update(tx, before, after) {
    const changed = ANSWERS.filter((name) => after[name] !== before[name]);
    // A rule that is given another kind of answer gives up the one it had.
    const dropped = changed.length === 1 ? ANSWERS.filter((name) => name !== changed[0]) : [];
    const rule = { ...after };
    for (const name of dropped) delete rule[name];
    return tx.put(replyRules, judged(rule));
  },
};

/** @throws ApiError INVALID_INPUT */
function judged(rule: ReplyRule): ReplyRule {
  const problem = problemOf(rule);
  if (problem) throw invalidInput(problem.field, rule[problem.field], problem.why);
  return rule;
}
