import type { WorldReader } from "../../state/transaction.ts";
import { createEmptyUsage, toUsageId, type Usage, type UsageStatus, usage } from "./schema.ts";

/**
 * Amounts are stored in whole millionths of a franc, the precision of a single answer's cost (G20), so that a month of
 * tiny amounts adds up without drifting.
 */
const MICRO = 1_000_000;

export function toMicro(amount: number): number {
  return Math.round(amount * MICRO);
}

export function fromMicro(micro: number): number {
  return micro / MICRO;
}

/** Rounds to two decimals (G33). */
export function roundAmount(amount: number): number {
  return Math.round(amount * 100) / 100;
}

/** Rounds for the details of an error, in which an amount below a hundredth has all its six decimals (G39). */
export function roundForErrorDetails(amount: number): number {
  return amount < 0.01 ? Math.round(amount * MICRO) / MICRO : roundAmount(amount);
}

/**
 * The number of the current month, counted from the calendar month of the sandbox's origin (0; the one before it is -1).
 * Spending is stored by this number, because one fixture's records serve sandboxes that begin in any month.
 */
export function getCurrentMonth(world: WorldReader): number {
  return toAbsoluteMonth(world.toEpoch(world.now)) - getOriginMonth(world);
}

/** Converts a calendar month to its number relative to the sandbox's origin. @param month 1 to 12 */
export function toMonth(world: WorldReader, year: number, month: number): number {
  return year * 12 + (month - 1) - getOriginMonth(world);
}

/** The instant at which a relative month begins. */
export function getMonthStart(world: WorldReader, month: number): number {
  // Not `Date.UTC(year, …)`, which moves years below 100 into the twentieth century.
  return world.toInstant(new Date(0).setUTCFullYear(0, month + getOriginMonth(world), 1));
}

/** `2026-03`, the form of state calls. */
export function formatMonth(world: WorldReader, month: number): string {
  return world.toIso(getMonthStart(world, month)).slice(0, "2026-03".length);
}

export function parseMonth(world: WorldReader, text: string): number {
  const [year, month] = text.split("-").map(Number) as [number, number];
  return toMonth(world, year, month);
}

function getOriginMonth(world: WorldReader): number {
  return toAbsoluteMonth(world.toEpoch(0));
}

/** Months since January of the year 0. */
function toAbsoluteMonth(epochMilliseconds: number): number {
  const date = new Date(epochMilliseconds);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Share of the limit that is spent: 1 at the limit. A limit of 0 is reached from the start. */
export function calculateUtilization(spentMicro: number, limit: number): number {
  const limitMicro = toMicro(limit);
  return limitMicro === 0 ? 1 : spentMicro / limitMicro;
}

/** The status of section 3.6, decided before rounding (G33). */
export function toStatus(spentMicro: number, limit: number | null): UsageStatus {
  if (limit === null) return "no_limit";
  const share = calculateUtilization(spentMicro, limit);
  if (share >= 1) return "exceeded";
  return share >= 0.8 ? "warning" : "ok";
}

const BY_SEVERITY: readonly UsageStatus[] = ["no_limit", "ok", "warning", "exceeded"];

/** The worse of two statuses: of organization, total and keys, the worst counts (G33). */
export function pickWorse(a: UsageStatus, b: UsageStatus): UsageStatus {
  return BY_SEVERITY.indexOf(a) >= BY_SEVERITY.indexOf(b) ? a : b;
}

/** The figures of section 2.7, rounded for display. */
export function renderLimitFigures(spentMicro: number, limit: number | null) {
  const spent = fromMicro(spentMicro);
  return {
    monthly_limit: limit === null ? null : roundAmount(limit),
    current_usage: roundAmount(spent),
    utilization_percentage:
      limit === null ? null : roundAmount(calculateUtilization(spentMicro, limit) * 100),
    remaining_budget: limit === null ? null : roundAmount(Math.max(0, limit - spent)),
    status: toStatus(spentMicro, limit),
  };
}

export const BUDGET_SCOPES = ["organization", "api_total", "api_key"] as const;

/** One of the limits of section 8's hierarchy, with the spending of a month. */
export interface Budget {
  scope: (typeof BUDGET_SCOPES)[number];
  /** Absent in the scopes of the organization as a whole. */
  api_key_id?: string;
  /** CHF; null: no limit. */
  limit: number | null;
  spentMicro: number;
}

export function getSpent(row: Usage, month: number): number {
  return row.spent[month] ?? 0;
}

export function findUsage(world: WorldReader, organization_id: string, api_key_id: string | null): Usage {
  return (
    world.get(usage, toUsageId(organization_id, api_key_id)) ?? createEmptyUsage(organization_id, api_key_id)
  );
}

/** Organization limit, total API-key limit, the key's own: in the order in which they are checked. */
export function listBudgets(
  world: WorldReader,
  { organization_id, api_key_id }: { organization_id: string; api_key_id: string | null },
  month: number,
): Budget[] {
  const organizationRow = findUsage(world, organization_id, null);
  let total = 0;
  for (const row of world.index(usage, "keys_by_organization", organization_id))
    total += getSpent(row, month);
  const budgets: Budget[] = [
    {
      scope: "organization",
      limit: organizationRow.monthly_limit,
      spentMicro: getSpent(organizationRow, month),
    },
    { scope: "api_total", limit: organizationRow.api_monthly_limit, spentMicro: total },
  ];
  if (api_key_id !== null) {
    const key = findUsage(world, organization_id, api_key_id);
    budgets.push({
      scope: "api_key",
      api_key_id,
      limit: key.monthly_limit,
      spentMicro: getSpent(key, month),
    });
  }
  return budgets;
}
