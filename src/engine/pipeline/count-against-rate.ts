import { ApiError } from "../contract/errors.ts";
import type { Identity } from "../contract/operation.ts";
import { toRateDetails } from "../contract/refusals.ts";
import { pluralize } from "../contract/text.ts";
import { countSecondsUntil } from "../sandbox/rate-windows.ts";
import type { Exchange } from "./exchange.ts";

/** Counts the request in its key's rate window (section 8, G05); a dry run only reads it. @throws ApiError RATE_LIMIT_EXCEEDED */
export function countAgainstRate(exchange: Exchange, { principal, requests_per_minute }: Identity): void {
  const { at, dryRun, sandbox } = exchange;
  const { windows } = sandbox;
  const { key_id } = principal;
  const rate = dryRun
    ? windows.getState(key_id, requests_per_minute, at)
    : windows.count(key_id, requests_per_minute, at);
  exchange.rate = rate;
  if (!rate.exceeded) return;
  const retry_after_seconds = countSecondsUntil(rate.reset, at);
  throw new ApiError("RATE_LIMIT_EXCEEDED", {
    details: toRateDetails(rate.limit, retry_after_seconds),
    reason: `the key ${key_id} has used its ${pluralize(rate.limit, "request")} of this minute, which ends at ${new Date(rate.reset).toISOString()} on the sandbox's clock`,
    headers: { "Retry-After": String(retry_after_seconds) },
  });
}
