import Type, { type Static } from "typebox";
import type { BaseBuilder, FixtureReader } from "../../contract/resource.ts";
import { Timestamp, UserId, Words } from "../../contract/schema.ts";
import { usersOf } from "../organizations/of-fixture.ts";
import { ACCOUNTS, ROLES, type User, users } from "./schema.ts";

const DAY = 86_400_000;

const UserEntry = Type.Object(
  {
    id: UserId(),
    name: Type.Optional(Type.String({ minLength: 1 })),
    email: Type.Optional(Type.String({ minLength: 3 })),
    memberships: Type.Optional(Type.Record(Type.String({ pattern: "^org_" }), Words(ROLES))),
    capabilities: Type.Optional(Type.Record(Type.String({ pattern: "^org_" }), Type.Array(Type.String()))),
    account: Type.Optional(Words(ACCOUNTS)),
    verified: Type.Optional(Type.Boolean()),
    created_at: Type.Optional(Timestamp()),
  },
  { additionalProperties: false },
);

export type UserEntry = Static<typeof UserEntry>;

export const FIRST_NAMES = [
  "Alma",
  "Bela",
  "Chidi",
  "Dora",
  "Emil",
  "Freya",
  "Goran",
  "Hedda",
  "Imre",
  "Jonas",
  "Kaya",
  "Lior",
];
export const LAST_NAMES = [
  "Abiola",
  "Berg",
  "Costa",
  "Dube",
  "Engel",
  "Fischer",
  "Greco",
  "Hassan",
  "Ito",
  "Jansen",
  "Kovacs",
];

export const usersFixture: FixtureReader = {
  keys: { users: Type.Array(UserEntry) },
  seed(fixture, base) {
    base.fill(users, () => usersOf<UserEntry>(fixture).map((entry) => completeUser(entry, base)));
  },
};

/** A user of the fixture with what it leaves out; other seeds name people by it. */
export function completeUser(entry: UserEntry, base: BaseBuilder): User {
  const random = base.random("users", entry.id);
  const name = entry.name ?? `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}`;
  return {
    id: entry.id,
    name,
    email: entry.email ?? emailFor(name),
    memberships: entry.memberships ?? {},
    capabilities: entry.capabilities ?? {},
    account: entry.account ?? "active",
    verified: entry.verified ?? true,
    created_at: entry.created_at ? base.instant(entry.created_at) : -random.int(60, 400) * DAY,
  };
}

export function emailFor(name: string): string {
  return `${name.toLowerCase().replaceAll(/[^a-z]+/g, ".")}@example.test`;
}
