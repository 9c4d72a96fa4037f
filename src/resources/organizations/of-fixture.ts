import type { FixtureData } from "../../contract/resource.ts";

/**
 * The entries under a key. A number where a list belongs asks for that many records (interfaces 5);
 * `make` gives each its id and what else it cannot do without.
 */
export function entriesOf<E extends object>(
  fixture: FixtureData,
  key: string,
  make: (position: number) => E,
): readonly E[] {
  const given = fixture[key];
  if (typeof given !== "number") return (given ?? []) as readonly E[];
  let made = madeEntries.get(fixture);
  if (made === undefined) {
    made = new Map();
    madeEntries.set(fixture, made);
  }
  if (!made.has(key))
    made.set(
      key,
      Array.from({ length: given }, (_, position) => make(position)),
    );
  return made.get(key) as readonly E[];
}

/** Other seeds ask again and again, once per record of theirs. */
const madeEntries = new WeakMap<FixtureData, Map<string, readonly object[]>>();

/** `usr_gen0001`: ids of records that a number asks for. */
export function generatedId(prefix: string, position: number): string {
  return `${prefix}gen${String(position + 1).padStart(4, "0")}`;
}

export function organizationIds(fixture: FixtureData): readonly string[] {
  const entries = entriesOf(fixture, "organizations", (n) => ({ id: generatedId("org_", n) }));
  return entries.map(({ id }) => id);
}

/** Records without an organization belong to the fixture's first (interfaces 5). */
export function firstOrganization(fixture: FixtureData): string {
  return organizationIds(fixture)[0] ?? "org_acme";
}

interface UserLike {
  id: string;
  memberships?: Record<string, string>;
}

/** The fixture's users; those that a number asks for share its organizations, the first of each its owner. */
export function usersOf<E extends UserLike>(fixture: FixtureData): readonly E[] {
  const organizations = organizationIds(fixture);
  return entriesOf(fixture, "users", (n) => ({
    id: generatedId("usr_", n),
    memberships:
      organizations.length === 0
        ? {}
        : { [organizations[n % organizations.length]!]: n < organizations.length ? "owner" : "member" },
  })) as readonly UserLike[] as readonly E[];
}

/** Who acts for an organization where a record does not say: its owner, else any member, else the first user. */
export function ownerOf(fixture: FixtureData, organization_id: string): string {
  const users = usersOf(fixture);
  const owner = users.find((user) => user.memberships?.[organization_id] === "owner");
  const member = users.find((user) => user.memberships?.[organization_id] !== undefined);
  return (owner ?? member ?? users[0])?.id ?? "usr_system";
}
