import { invalidInput } from "../../contract/errors.ts";
import { parseDateOrInstant } from "../../contract/instant.ts";
import type { WorldReader } from "../../state/transaction.ts";

export interface DateSpan {
  /** Inclusive, in milliseconds relative to the sandbox's origin. */
  from: number;
  to: number;
}

/**
 * The span that `start_date` and `end_date` ask for, open where one is missing (G28).
 * @throws ApiError INVALID_INPUT for `start_date` when it lies after the end
 */
export function dateSpan(
  { start_date, end_date }: { start_date?: string; end_date?: string },
  world: WorldReader,
): DateSpan {
  const start = start_date === undefined ? undefined : parseDateOrInstant(start_date);
  const end = end_date === undefined ? undefined : parseDateOrInstant(end_date);
  if (start && end && start.from > end.to)
    throw invalidInput("start_date", start_date, "start_date must not lie after end_date");
  return {
    from: start ? world.relative(start.from) : Number.NEGATIVE_INFINITY,
    to: end ? world.relative(end.to) : Number.POSITIVE_INFINITY,
  };
}
