import { parseDuration } from "../../contract/duration.ts";
import { errorCodesOf } from "../../contract/operation.ts";
import { createModelResponse } from "./operations.ts";
import type { ReplyRule } from "./schema.ts";

/** No client waits longer. */
const MAX_DELAY_MS = 3_600_000;

/** Where none is said, a reply is drawn. */
export const ANSWERS = ["reply", "sequence", "error"] as const;

/** What a schema cannot say of a rule: the field at fault and why; undefined where all is well. */
export function problemOf(rule: Partial<ReplyRule>): { field: keyof ReplyRule; why: string } | undefined {
  const given = ANSWERS.filter((name) => rule[name] !== undefined);
  if (given.length > 1) return { field: given[1]!, why: "a rule has one of reply, sequence and error" };
  const { error, delay } = rule;
  const codes: readonly string[] = errorCodesOf(createModelResponse);
  if (error !== undefined && !codes.includes(error))
    return { field: "error", why: `error must be one of ${codes.join(", ")}` };
  const wait = delay === undefined ? 0 : parseDuration(delay);
  if (wait === undefined || wait > MAX_DELAY_MS)
    return { field: "delay", why: "delay must be a duration of at most 1h, such as 200ms or 5s" };
  return undefined;
}
