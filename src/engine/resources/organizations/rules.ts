import type { Organization } from "./schema.ts";

const PLAN_LIMITS = { standard: 100, premium: 1000, enterprise: 10_000 } as const;

/** Section 8: requests per minute; a custom figure wins on the plan that has one. */
export function requestsPerMinute({ plan, rate_limit }: Pick<Organization, "plan" | "rate_limit">): number {
  return rate_limit ?? PLAN_LIMITS[plan];
}
