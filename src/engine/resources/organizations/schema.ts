import { type Static, type TSchema, Type } from "typebox";
import { keysBelongTo } from "../../contract/references.ts";
import { Id, MapOf, Nullable, StringEnum } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

const ORGANIZATION_TYPES = ["company", "personal"] as const;
const PLANS = ["standard", "premium", "enterprise"] as const;

export const Organization = Type.Object({
  id: Id("org_"),
  name: Type.String({ minLength: 1 }),
  type: StringEnum(ORGANIZATION_TYPES),
  plan: StringEnum(PLANS),
  /** Requests per minute, agreed with each organization that has an enterprise plan (section 8). */
  rate_limit: Nullable(Type.Integer({ minimum: 1 })),
});
export type Organization = Static<typeof Organization>;

/** A map whose keys are organizations; the value of a key is deleted with the organization. */
export const ByOrganization = <T extends TSchema>(value: T, options: object = {}) =>
  MapOf(value, { additionalProperties: false, ...keysBelongTo("organizations"), ...options }, "^org_");

export const organizations = collection({
  name: "organizations",
  schema: Organization,
});

/** The organization in the answer of section 4.5 (section 2.14). */
export const OrganizationSummary = Type.Object({
  id: Id("org_"),
  name: Type.String(),
  type: StringEnum(ORGANIZATION_TYPES),
});

const PLAN_LIMITS = { standard: 100, premium: 1000, enterprise: 10_000 } as const;

/** Requests per minute: the agreed limit if there is one, else the plan's (section 8). */
export function getRequestsPerMinute({
  plan,
  rate_limit,
}: Pick<Organization, "plan" | "rate_limit">): number {
  return rate_limit ?? PLAN_LIMITS[plan];
}
