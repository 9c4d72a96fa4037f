import { setTimeout as sleep } from "node:timers/promises";
import { parseDuration } from "../../contract/duration.ts";
import { ApiError, type ErrorCode } from "../../contract/errors.ts";
import type { Call } from "../../contract/operation.ts";
import { refusedFigures } from "../../contract/spending-figures.ts";
import type { Transaction } from "../../state/transaction.ts";
import { requestsPerMinute } from "../organizations/rules.ts";
import { organizations } from "../organizations/schema.ts";
import { spendingFigures } from "../usage/spending-figures.ts";
import { matches } from "./rules.ts";
import { type ReplyRule, replyRules } from "./schema.ts";

/** What reply rules look at. */
export interface Scripted {
  model: string;
  question: string;
  file_ids: readonly string[];
}

/** Who asks, and where. */
type Asking = Pick<Call, "world" | "principal">;

/** The first rule that matches (G20). */
export function ruleFor(world: Transaction, asked: Scripted): ReplyRule | undefined {
  for (const rule of world.index(replyRules, "in_order", "")) if (matches(rule, asked)) return rule;
  return undefined;
}

/** Waits as long as the rule says, on the wall clock as faults do. @throws the signal's reason when the client left */
export async function waitFor(rule: ReplyRule | undefined, signal: AbortSignal): Promise<void> {
  const wait = parseDuration(rule?.delay ?? 0)!;
  if (wait === 0) return;
  // Unreferenced: a client that waits keeps the server alive by its connection, nothing else should.
  await sleep(wait, undefined, { signal, ref: false }).catch(() => signal.throwIfAborted());
}

/**
 * The rule's text: of a sequence the next one, and the last one over and over.
 * @throws ApiError with the rule's error
 */
export function replyOf({ world, principal }: Asking, rule: ReplyRule, asked: Scripted): string {
  if (rule.error !== undefined) throw refusal(rule.error, asked, { world, principal });
  const { sequence, turn = 0 } = rule;
  if (sequence === undefined) return rule.reply ?? "";
  if (turn < sequence.length - 1) world.update(replyRules, rule.id, { turn: turn + 1 });
  return sequence[Math.min(turn, sequence.length - 1)]!;
}

/** Such as this operation would give it to this caller for a reason of its own (G05, G08, G20). */
function refusal(code: ErrorCode, asked: Scripted, by: Asking): ApiError {
  const details = DETAILS[code]?.(asked, by) ?? {};
  const wait = details["retry_after_seconds"];
  return new ApiError(code, {
    details,
    ...(wait === undefined ? {} : { headers: { "Retry-After": String(wait) } }),
  });
}

const DETAILS: Partial<Record<ErrorCode, (asked: Scripted, by: Asking) => Record<string, unknown>>> = {
  RESOURCE_NOT_FOUND: ({ file_ids: [file_id = null] }) => ({ file_id }),
  INVALID_INPUT: ({ model }) => ({ field: "model", value: model }),
  RATE_LIMIT_EXCEEDED: (_, { world, principal }) => ({
    limit: requestsPerMinute(world.get(organizations, principal.organization_id)!),
    window_seconds: 60,
    retry_after_seconds: 60 - (Math.floor(world.absolute(world.now) / 1000) % 60),
  }),
  SPENDING_LIMIT_EXCEEDED: (_, { world, principal }) => ({
    ...refusedFigures(spendingFigures(world, principal)),
  }),
};
