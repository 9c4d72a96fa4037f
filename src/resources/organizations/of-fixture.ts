import type { FixtureData } from "../../contract/resource.ts";

/** Records without an organization belong to the fixture's first (interfaces 5). */
export function firstOrganization(fixture: FixtureData): string {
  const [first] = (fixture["organizations"] ?? []) as { id: string }[];
  return first?.id ?? "org_acme";
}

/** Who acts for an organization where a record does not say: its owner, else any member, else the first user. */
export function ownerOf(fixture: FixtureData, organization_id: string): string {
  const users = (fixture["users"] ?? []) as { id: string; memberships?: Record<string, string> }[];
  const owner = users.find((user) => user.memberships?.[organization_id] === "owner");
  const member = users.find((user) => user.memberships?.[organization_id] !== undefined);
  return (owner ?? member ?? users[0])?.id ?? "usr_system";
}
