import type { FixtureData } from "../../contract/resource.ts";

/**
 * The entries under a key. A number where a list belongs asks for that many records (interfaces 5);
 * fixtures that were read from a document come with those written out, a bare one may not.
 */
export function entriesOf<E extends object>(
  fixture: FixtureData,
  key: string,
  make: (position: number) => E,
): readonly E[] {
  const given = fixture[key];
  if (typeof given === "number") return Array.from({ length: given }, (_, position) => make(position));
  return (given ?? []) as readonly E[];
}

/** `conn_gen0001`: ids of records that a number asks for. */
export function generatedId(prefix: string, position: number): string {
  return `${prefix}gen${String(position + 1).padStart(4, "0")}`;
}

/** Records without an organization belong to the fixture's first (interfaces 5). */
export function firstOrganization(fixture: FixtureData): string {
  const [first] = (fixture["organizations"] ?? []) as { id: string }[];
  return first?.id ?? "org_acme";
}

interface UserLike {
  id: string;
  memberships?: Record<string, string>;
}

/** The fixture's users as they are written there. */
export function usersOf<E extends UserLike>(fixture: FixtureData): readonly E[] {
  return (fixture["users"] ?? []) as readonly E[];
}

/** Who acts for an organization where a record does not say: its owner, else any member, else the first user. */
export function ownerOf(fixture: FixtureData, organization_id: string): string {
  const users = usersOf(fixture);
  const owner = users.find((user) => user.memberships?.[organization_id] === "owner");
  const member = users.find((user) => user.memberships?.[organization_id] !== undefined);
  return (owner ?? member ?? users[0])?.id ?? "usr_system";
}
