import { fromMicro, shown, toMicro } from "./money.ts";
import type { UsageStatus } from "./schema.ts";

/** Share of the limit that is spent: 1 at the limit. A limit of nothing is reached from the start. */
export function utilization(spentMicro: number, limit: number): number {
  const limitMicro = toMicro(limit);
  return limitMicro === 0 ? 1 : spentMicro / limitMicro;
}

/** Section 3.6, classified before rounding (G33). */
export function statusOf(spentMicro: number, limit: number | null): UsageStatus {
  if (limit === null) return "no_limit";
  const share = utilization(spentMicro, limit);
  return share >= 1 ? "exceeded" : share >= 0.8 ? "warning" : "ok";
}

const WORSE: readonly UsageStatus[] = ["no_limit", "ok", "warning", "exceeded"];

/** G33: of organization, total and keys, the worst counts. */
export function worse(a: UsageStatus, b: UsageStatus): UsageStatus {
  return WORSE.indexOf(a) >= WORSE.indexOf(b) ? a : b;
}

/** Section 2.7, rounded for show. */
export function limitFigures(spentMicro: number, limit: number | null) {
  const spent = fromMicro(spentMicro);
  return {
    monthly_limit: limit === null ? null : shown(limit),
    current_usage: shown(spent),
    utilization_percentage: limit === null ? null : shown(utilization(spentMicro, limit) * 100),
    remaining_budget: limit === null ? null : shown(Math.max(0, limit - spent)),
    status: statusOf(spentMicro, limit),
  };
}
