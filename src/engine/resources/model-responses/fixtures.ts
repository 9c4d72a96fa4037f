import { Type } from "typebox";
import { parseDuration } from "../../contract/duration.ts";
import { invalidInput } from "../../contract/errors.ts";
import type { Factory } from "../../contract/factory.ts";
import { createEntryFormat, readEntries } from "../../contract/fixture-entry.ts";
import { listErrorCodes } from "../../contract/operation.ts";
import type { FixtureReader, Resource, StateRules } from "../../contract/resource.ts";
import { createModelResponse } from "./operations.ts";
import { ReplyRule, replyRules } from "./schema.ts";

const MAX_DELAY_MS = 3_600_000;

/** The fields that say how a rule answers. A rule has one of them; a rule that is given none gets a `reply`. */
const ANSWER_FIELDS = ["reply", "sequence", "error"] as const;

/** Finds a mistake that the schema cannot express; undefined for a valid rule. */
function findRuleProblem(rule: Partial<ReplyRule>): { field: keyof ReplyRule; message: string } | undefined {
  const answers = ANSWER_FIELDS.filter((name) => rule[name] !== undefined);
  if (answers.length > 1)
    return { field: answers[1]!, message: "a rule has one of reply, sequence and error" };
  const { error, delay } = rule;
  const codes: readonly string[] = listErrorCodes(createModelResponse);
  if (error !== undefined && !codes.includes(error))
    return { field: "error", message: `error must be one of ${codes.join(", ")}` };
  const delay_ms = delay === undefined ? 0 : parseDuration(delay);
  if (delay_ms === undefined || delay_ms > MAX_DELAY_MS)
    return { field: "delay", message: "delay must be a duration of at most 1h, such as 200ms or 5s" };
  return undefined;
}

const stateRules: StateRules<ReplyRule> = {
  insert: (tx, rule) => tx.insert(replyRules, requireValid(rule)),
  update(tx, before, after, _actor, given) {
    const changed = ANSWER_FIELDS.filter((name) => after[name] !== before[name]);
    const rule = { ...after };
    // Another answer replaces the former one. Another sequence begins with its first text, so `turn` is removed.
    if (changed.length === 1) for (const name of ANSWER_FIELDS) if (name !== changed[0]) delete rule[name];
    if (changed.length > 0 && given.turn === undefined) delete rule.turn;
    return tx.put(replyRules, requireValid(rule));
  },
};

/** @throws ApiError INVALID_INPUT */
function requireValid(rule: ReplyRule): ReplyRule {
  const problem = findRuleProblem(rule);
  if (problem) throw invalidInput(problem.field, rule[problem.field], problem.message);
  return rule;
}

const REPLIES = ["Noted.", "Understood, thank you.", "Here is the answer you asked for."];

/** Makes a rule: without a position it is the last one, without an answer it is given a text. */
const makeReplyRule: Factory<ReplyRule> = (fields, context) => {
  const {
    id = context.createId("reply_"),
    match = {},
    position = (context.world.index(replyRules, "in_order", "").last()?.position ?? -1) + 1,
    ...answer
  } = fields;
  const hasAnswer = ANSWER_FIELDS.some((name) => answer[name] !== undefined);
  return { id, match, ...(hasAnswer ? {} : { reply: context.random.pick(REPLIES) }), ...answer, position };
};

const entryFormat = createEntryFormat(ReplyRule, { required: ["match"], omit: ["position", "turn"] });

const replyRulesFixture: FixtureReader = {
  keys: {
    reply_rules: Type.Array(entryFormat.schema, {
      description: "Tried in this order; the first match replies",
    }),
  },
  check(fixture, report) {
    for (const [position, entry] of readEntries(fixture, "reply_rules", entryFormat).entries()) {
      const problem = findRuleProblem(entry);
      if (problem) report(["reply_rules", position, problem.field], problem.message);
    }
  },
  addRecords(fixture, base) {
    base.fill(replyRules, () =>
      readEntries(fixture, "reply_rules", entryFormat).map((entry, position) =>
        makeReplyRule(
          { ...entryFormat.toFields(entry, base), position },
          base.createContext("reply_rules", position),
        ),
      ),
    );
  },
};

export const modelResponsesResource = {
  name: "model_responses",
  collections: [replyRules],
  operations: [createModelResponse],
  factories: { reply_rules: makeReplyRule },
  fixture: replyRulesFixture,
  state: { reply_rules: stateRules },
} satisfies Resource;
