import { type Static, Type } from "typebox";
import { belongsTo, mentions } from "../../contract/references.ts";
import { Id, internal, MapOf, Nullable, StringEnum } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

const Limit = () => Nullable(Type.Number({ minimum: 0, maximum: 1e9 }));

/** Describes records in state calls, where `spent` has amounts in CHF by calendar month. `Usage` is the stored form. */
export const UsageRecord = Type.Object({
  /** `org_acme` for the organization's own row, `org_acme:apikey_ada` for the row of one of its keys. */
  id: Type.String({ pattern: "^org_[A-Za-z0-9_-]{1,120}(:apikey_[A-Za-z0-9_-]{1,120})?$" }),
  organization_id: Id("org_", belongsTo("organizations")),
  /** The spending of a key remains when the key is deleted (G33). */
  api_key_id: Nullable(Id("apikey_", mentions("api_keys"))),
  /** The name that a deleted key had. */
  api_key_name: internal(Type.Optional(Type.String())),
  monthly_limit: Limit(),
  /** For all API keys of the organization together; null in a key's row. */
  api_monthly_limit: Limit(),
  spent: MapOf(
    Type.Number({ minimum: 0, maximum: 1e9 }),
    { additionalProperties: false, default: {}, examples: [{ "2026-03": 850 }] },
    "^\\d{4}-(0[1-9]|1[0-2])$",
  ),
  /** Thresholds whose event was emitted, as `month/scope/event`, so that each is emitted once (G25). */
  emitted: internal(Type.Array(Type.String())),
});

/**
 * The stored form has the same fields, but `spent` has millionths of a franc, by the number of the month relative to the
 * sandbox's first month.
 */
export type Usage = Static<typeof UsageRecord>;

export const usage = collection({
  name: "usage",
  schema: UsageRecord,
  indexes: {
    keys_by_organization: {
      groups: ({ organization_id, api_key_id }) => (api_key_id === null ? [] : [organization_id]),
      order: ({ api_key_id }) => api_key_id ?? "",
    },
  },
});

/** The id of the usage of an organization, or of a key in it: a key may have different limits in two organizations (G33). */
export function toUsageId(organization_id: string, api_key_id: string | null): string {
  return api_key_id === null ? organization_id : `${organization_id}:${api_key_id}`;
}

export function createEmptyUsage(organization_id: string, api_key_id: string | null): Usage {
  return {
    id: toUsageId(organization_id, api_key_id),
    organization_id,
    api_key_id,
    monthly_limit: null,
    api_monthly_limit: null,
    spent: {},
    emitted: [],
  };
}

/** A budget's status, by the share of it that is spent (section 3.6). */
const USAGE_STATUSES = ["ok", "warning", "exceeded", "no_limit"] as const;
export type UsageStatus = (typeof USAGE_STATUSES)[number];

/** A limit and its use (section 2.7). Without a limit, the nullable fields are null (G33). */
export const FIGURES = {
  monthly_limit: Nullable(Type.Number()),
  current_usage: Type.Number(),
  utilization_percentage: Nullable(Type.Number()),
};
const LimitFigures = Type.Object({
  ...FIGURES,
  remaining_budget: Nullable(Type.Number()),
  status: StringEnum(USAGE_STATUSES),
});

export const UsageLimits = Type.Object(
  {
    organization_limits: LimitFigures,
    api_limits: Nullable(LimitFigures),
    api_key_limits: Type.Array(
      Type.Object({
        api_key_id: Id("apikey_"),
        api_key_name: Type.String(),
        ...FIGURES,
        status: StringEnum(USAGE_STATUSES),
      }),
    ),
    summary: Type.Object({
      total_keys: Type.Integer(),
      keys_with_limits: Type.Integer(),
      keys_exceeded: Type.Integer(),
      overall_status: StringEnum(USAGE_STATUSES),
    }),
  },
  { $id: "UsageLimits" },
);
