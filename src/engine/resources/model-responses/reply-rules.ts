import { parseDuration } from "../../contract/duration.ts";
import { ApiError, type ErrorCode } from "../../contract/errors.ts";
import type { Call } from "../../contract/operation.ts";
import { toRateDetails, toReachedLimit } from "../../contract/refusals.ts";
import { getJsonLimit } from "../../contract/settings.ts";
import { foldCase } from "../../contract/text.ts";
import { sleepUnlessAborted } from "../../state/concurrency.ts";
import type { Transaction } from "../../state/transaction.ts";
import { getRequestsPerMinute, organizations } from "../organizations/schema.ts";
import { listSpendingFigures } from "../usage/spending.ts";
import { type ReplyRule, replyRules } from "./schema.ts";

interface MatchedRequest {
  model: string;
  question: string;
  file_ids: readonly string[];
}

type Caller = Pick<Call, "world" | "principal" | "settings">;

/** Finds the first rule that matches (G20). */
export function findRule(world: Transaction, request: MatchedRequest): ReplyRule | undefined {
  for (const rule of world.index(replyRules, "in_order", "")) if (matches(rule, request)) return rule;
  return undefined;
}

/** Every condition that a rule has must hold (G20). */
function matches({ match }: ReplyRule, { model, question, file_ids }: MatchedRequest): boolean {
  return (
    (match.model === undefined || match.model === model) &&
    (match.text === undefined || foldCase(question).includes(foldCase(match.text))) &&
    (match.file_id === undefined || file_ids.includes(match.file_id))
  );
}

/** Waits for the rule's delay in wall clock time, as faults do. @throws the signal's reason */
export async function waitForRule(rule: ReplyRule | undefined, signal: AbortSignal): Promise<void> {
  const delay = parseDuration(rule?.delay ?? 0)!;
  if (delay === 0) return;
  await sleepUnlessAborted(delay, signal);
  signal.throwIfAborted();
}

/**
 * The text of a rule. A sequence gives its next text, and repeats the last one.
 * @throws ApiError with the rule's error
 */
export function takeReply(caller: Caller, rule: ReplyRule, request: MatchedRequest): string {
  const { world } = caller;
  if (rule.error !== undefined) throw createRuleError(rule.error, request, caller);
  const { sequence, turn = 0 } = rule;
  if (sequence === undefined) return rule.reply ?? "";
  if (turn < sequence.length - 1) world.update(replyRules, rule.id, { turn: turn + 1 });
  return sequence[Math.min(turn, sequence.length - 1)]!;
}

/** The error with the details that the operation gives for it (G05, G08, G20). */
function createRuleError(code: ErrorCode, request: MatchedRequest, caller: Caller): ApiError {
  const details = ERROR_DETAILS[code]?.(request, caller) ?? {};
  const wait = details["retry_after_seconds"];
  return new ApiError(code, {
    details,
    ...(wait === undefined ? {} : { headers: { "Retry-After": String(wait) } }),
  });
}

const ERROR_DETAILS: Partial<
  Record<ErrorCode, (request: MatchedRequest, caller: Caller) => Record<string, unknown>>
> = {
  ORGANIZATION_ACCESS_DENIED: (_, { principal: { organization_id } }) => ({ organization_id }),
  RESOURCE_NOT_FOUND: ({ file_ids: [file_id = null] }) => ({ file_id }),
  PAYLOAD_TOO_LARGE: (_, { settings }) => ({ limit_bytes: getJsonLimit(settings) }),
  INVALID_INPUT: ({ model }) => ({ field: "model", value: model }),
  RATE_LIMIT_EXCEEDED: (_, { world, principal }) =>
    toRateDetails(
      getRequestsPerMinute(world.get(organizations, principal.organization_id)!),
      60 - (Math.floor(world.toEpoch(world.now) / 1000) % 60),
    ),
  SPENDING_LIMIT_EXCEEDED: (_, { world, principal }) => ({
    ...toReachedLimit(listSpendingFigures(world, principal)),
  }),
};
