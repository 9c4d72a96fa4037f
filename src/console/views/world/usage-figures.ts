import type { StateRecord } from "../../api/types.ts";
import type { Outcome } from "../../parts/mark.tsx";

/** What is spent of one limit in a month. */
export interface Gauge {
  id: string;
  title: string;
  spent: number;
  /** Null: there is none. */
  limit: number | null;
}

export interface OrganizationUsage {
  id: string;
  name: string;
  gauges: readonly Gauge[];
}

type Usage = StateRecord<"usage">;

/** Of each organization: its own limit, that of all API calls, and those of its keys (2.7). `month` as in `2026-03`. */
export function usageOf(
  usage: readonly Usage[],
  organizations: readonly StateRecord<"organizations">[],
  keys: readonly StateRecord<"api_keys">[],
  month: string,
): readonly OrganizationUsage[] {
  const keyNames = new Map(keys.map(({ id, name }) => [id, name]));
  return organizations.map(({ id, name }) => {
    const own = usage.filter(({ organization_id }) => organization_id === id);
    const whole = own.find(({ api_key_id }) => api_key_id === null);
    const ofKeys = own.filter(({ api_key_id }) => api_key_id !== null);
    const byApi = ofKeys.reduce((sum, one) => sum + spentIn(one, month), 0);
    return {
      id,
      name,
      gauges: [
        {
          id,
          title: "Organization",
          spent: whole ? spentIn(whole, month) : 0,
          limit: whole?.monthly_limit ?? null,
        },
        { id: `${id}:api`, title: "All API keys", spent: byApi, limit: whole?.api_monthly_limit ?? null },
        ...ofKeys.map((one) => ({
          id: one.id,
          title: keyNames.get(one.api_key_id ?? "") ?? one.api_key_id ?? "",
          spent: spentIn(one, month),
          limit: one.monthly_limit,
        })),
      ],
    };
  });
}

function spentIn({ spent }: Usage, month: string): number {
  return (spent as Readonly<Record<string, number>>)[month] ?? 0;
}

/** 3.6: a warning from 80 percent, exceeded at the limit. */
export function statusOf({ spent, limit }: Gauge): { word: string; outcome: Outcome; share: number } {
  if (limit === null) return { word: "no limit", outcome: "other", share: 0 };
  const share = limit === 0 ? 1 : spent / limit;
  if (share >= 1) return { word: "exceeded", outcome: "failed", share };
  return share >= 0.8 ? { word: "warning", outcome: "refused", share } : { word: "ok", outcome: "ok", share };
}
