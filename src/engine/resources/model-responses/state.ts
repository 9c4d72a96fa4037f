import { parseDuration } from "../../contract/duration.ts";
import { invalidInput } from "../../contract/errors.ts";
import { listErrorCodes } from "../../contract/operation.ts";
import type { StateRules } from "../../contract/resource.ts";
import { createModelResponse } from "./operations.ts";
import { type ReplyRule, replyRules } from "./schema.ts";

const MAX_DELAY_MS = 3_600_000;

/** A rule has one of these. */
export const REPLY_KINDS = ["reply", "sequence", "error"] as const;

/** Checks what the schema cannot: gives the wrong field and the reason, or undefined for a valid rule. */
export function findProblem(rule: Partial<ReplyRule>): { field: keyof ReplyRule; why: string } | undefined {
  const given = REPLY_KINDS.filter((name) => rule[name] !== undefined);
  if (given.length > 1) return { field: given[1]!, why: "a rule has one of reply, sequence and error" };
  const { error, delay } = rule;
  const codes: readonly string[] = listErrorCodes(createModelResponse);
  if (error !== undefined && !codes.includes(error))
    return { field: "error", why: `error must be one of ${codes.join(", ")}` };
  const wait = delay === undefined ? 0 : parseDuration(delay);
  if (wait === undefined || wait > MAX_DELAY_MS)
    return { field: "delay", why: "delay must be a duration of at most 1h, such as 200ms or 5s" };
  return undefined;
}

export const replyRuleState: StateRules<ReplyRule> = {
  insert: (tx, rule) => tx.insert(replyRules, requireValid(rule)),
  update(tx, before, after) {
    const changed = REPLY_KINDS.filter((name) => after[name] !== before[name]);
    // Another kind of answer replaces the former one.
    const dropped = changed.length === 1 ? REPLY_KINDS.filter((name) => name !== changed[0]) : [];
    const rule = { ...after };
    for (const name of dropped) delete rule[name];
    return tx.put(replyRules, requireValid(rule));
  },
};

/** @throws ApiError INVALID_INPUT */
function requireValid(rule: ReplyRule): ReplyRule {
  const problem = findProblem(rule);
  if (problem) throw invalidInput(problem.field, rule[problem.field], problem.why);
  return rule;
}
