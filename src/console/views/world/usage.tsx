import { Meter } from "react-aria-components";
import type { StateRecord } from "../../../../types/control-api.ts";
import { NEW_RECORD } from "../../address.ts";
import { useSandboxQuery } from "../../api/queries.ts";
import { AddRecordLink, ViewLink } from "../../components/layout.tsx";
import { Badge, EmptyState, getOutcomePaint, LoadError, type Outcome } from "../../components/status.tsx";
import { useSandboxNow } from "../../components/time.tsx";

/** Spending of organizations and keys against their limits, in the current month of the sandbox clock. */
export function Usage() {
  const month = new Date(useSandboxNow()).toISOString().slice(0, 7);
  const { data, error } = useSandboxQuery(["usage"], async (calls) => {
    const [usage, organizations, keys] = await Promise.all([
      calls.records("usage"),
      calls.records("organizations"),
      calls.records("api_keys"),
    ]);
    return { usage: usage.items, organizations: organizations.items, keys: keys.items };
  });
  const all = data ? collectUsage(data.usage, data.organizations, data.keys, month) : [];
  return (
    <div className="page stack grow">
      <LoadError error={error} />
      <p className="quiet">
        Spending in {month}, sandbox time. Select a line to change its limit or spending. “All API keys” is
        the sum of the keys, so you can change only its limit.
      </p>
      {data && all.length === 0 && (
        <EmptyState title="No organizations">
          <AddRecordLink collection="organizations" />
        </EmptyState>
      )}
      <div className="usage">
        {all.map(({ id, name, gauges }) => (
          <section key={id} className="usage-organization panel stack" aria-label={name}>
            <h2>
              <bdi>{name}</bdi> <code className="quiet">{id}</code>
            </h2>
            {gauges.map((gauge) => (
              <GaugeLine key={gauge.id} gauge={gauge} />
            ))}
          </section>
        ))}
      </div>
    </div>
  );
}

function GaugeLine({ gauge }: { gauge: Gauge }) {
  const { word, badge, share } = toGaugeStatus(gauge);
  const figures =
    gauge.limit === null
      ? formatAmount(gauge.spent)
      : `${formatAmount(gauge.spent)} of ${formatAmount(gauge.limit)}`;
  return (
    <ViewLink
      className="gauge"
      view="world"
      query={{ collection: "usage", record: gauge.record ?? NEW_RECORD }}
    >
      <span className="gauge-head">
        <span className="clip">{gauge.title}</span>
        <Badge outcome={badge}>{word}</Badge>
        <span className="number">{figures} CHF</span>
      </span>
      {gauge.limit !== null && (
        <Meter
          aria-label={`${gauge.title} spent`}
          value={Math.min(100, share * 100)}
          valueLabel={`${Math.floor(share * 100)}%`}
        >
          <svg className="meter" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect {...getOutcomePaint(badge)} width={Math.min(100, share * 100)} height="4" />
          </svg>
        </Meter>
      )}
    </ViewLink>
  );
}

function formatAmount(value: number): string {
  return value.toLocaleString("en-GB", { maximumFractionDigits: 2 });
}

interface Gauge {
  id: string;
  /** The id in the collection `usage`; undefined if the organization has no record yet. */
  record: string | undefined;
  title: string;
  spent: number;
  /** Null: no limit. */
  limit: number | null;
}

type UsageRecord = StateRecord<"usage">;

/** Limits of each organization: total, all API calls, each key (section 2.7). `month`: for example `2026-03`. */
function collectUsage(
  usage: readonly UsageRecord[],
  organizations: readonly StateRecord<"organizations">[],
  keys: readonly StateRecord<"api_keys">[],
  month: string,
) {
  const keyNames = new Map(keys.map(({ id, name }) => [id, name]));
  return organizations.map(({ id, name }) => {
    const ownUsage = usage.filter(({ organization_id }) => organization_id === id);
    const organizationUsage = ownUsage.find(({ api_key_id }) => api_key_id === null);
    const keyUsage = ownUsage.filter(({ api_key_id }) => api_key_id !== null);
    const spentByKeys = keyUsage.reduce((sum, one) => sum + getSpentInMonth(one, month), 0);
    return {
      id,
      name,
      gauges: [
        {
          id,
          record: organizationUsage?.id,
          title: "Organization",
          spent: organizationUsage ? getSpentInMonth(organizationUsage, month) : 0,
          limit: organizationUsage?.monthly_limit ?? null,
        },
        {
          id: `${id}:api`,
          record: organizationUsage?.id,
          title: "All API keys",
          spent: spentByKeys,
          limit: organizationUsage?.api_monthly_limit ?? null,
        },
        ...keyUsage.flatMap((one) => {
          const keyName = keyNames.get(one.api_key_id!);
          const spent = getSpentInMonth(one, month);
          // The spending of a deleted key remains; its limit does not (G33).
          const limit = keyName === undefined ? null : one.monthly_limit;
          if (limit === null && spent === 0) return [];
          return { id: one.id, record: one.id, title: keyName ?? one.api_key_id!, spent, limit };
        }),
      ],
    };
  });
}

function getSpentInMonth({ spent }: UsageRecord, month: string): number {
  return (spent as Readonly<Record<string, number>>)[month] ?? 0;
}

/** A warning from 80 percent, exceeded at 100 (section 3.6). */
function toGaugeStatus({ spent, limit }: Gauge): { word: string; badge: Outcome; share: number } {
  if (limit === null) return { word: "no limit", badge: "other", share: 0 };
  const share = limit === 0 ? 1 : spent / limit;
  if (share >= 1) return { word: "exceeded", badge: "failed", share };
  return share >= 0.8 ? { word: "warning", badge: "refused", share } : { word: "ok", badge: "ok", share };
}
