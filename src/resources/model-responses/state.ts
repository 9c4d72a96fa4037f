import type { StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { type ReplyRule, replyRules } from "./schema.ts";

/** A rule that says nothing of its place comes last. */
export const replyRuleRules: StateRules<ReplyRule> = {
  complete: (fields, tx, { random }) => ({
    match: {},
    reply: random.pick(["Noted.", "Understood, thank you.", "Here is the answer you asked for."]),
    position: nextPosition(tx),
    ...fields,
  }),
};

function nextPosition(tx: Transaction): number {
  const rules = tx.index(replyRules, "in_order", "");
  const [last] = rules.page(Math.max(0, rules.size - 1), 1);
  return last === undefined ? 0 : last.position + 1;
}
