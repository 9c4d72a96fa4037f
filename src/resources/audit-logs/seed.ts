import Type, { type Static } from "typebox";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import { Id, Nullable, Timestamp, UserId, Words } from "../../contract/schema.ts";
import { departmentEntries } from "../departments/seed.ts";
import { usersOf } from "../organizations/of-fixture.ts";
import { completeUser, type UserEntry } from "../users/seed.ts";
import { type AuditLog, auditLogs, ENTITY_TYPES } from "./schema.ts";
import { type Cast, inventEntry } from "./seed-happenings.ts";

const Entry = Type.Object(
  {
    id: Type.Optional(Id("log_")),
    timestamp: Type.Optional(Timestamp()),
    entity_type: Type.Optional(Words(ENTITY_TYPES)),
    entity_id: Type.Optional(Type.String({ minLength: 1 })),
    entity_name: Type.Optional(Type.String()),
    action: Type.Optional(Type.String({ minLength: 1 })),
    actor_id: Type.Optional(UserId()),
    actor_name: Type.Optional(Type.String()),
    actor_email: Type.Optional(Type.String()),
    target_id: Type.Optional(Nullable(Type.String())),
    target_name: Type.Optional(Nullable(Type.String())),
    department_id: Type.Optional(Nullable(Id("dept_"))),
    previous_value: Type.Optional(Nullable(Type.String())),
    new_value: Type.Optional(Nullable(Type.String())),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof Entry>;

const COUNT = Type.Integer({ minimum: 0, maximum: 2_000_000 });
const ORGANIZATION = Type.String({ pattern: "^org_" });
const HALF_YEAR = 180 * 86_400_000;
const WIDEST_GAP = 3 * 3_600_000;

export const auditLogFixture: FixtureReader = {
  keys: {
    audit_log: Type.Record(ORGANIZATION, Type.Union([COUNT, Type.Array(Entry)]), {
      description: "By organization: entries of its audit log, or how many to make up",
    }),
  },
  generate: { audit_log: Type.Record(ORGANIZATION, COUNT) },
  seed(fixture, base) {
    base.fill(auditLogs, () => {
      const given = (fixture["audit_log"] ?? {}) as Record<string, number | Entry[]>;
      const totals = (fixture.generate?.["audit_log"] ?? {}) as Record<string, number>;
      const organizations = new Set([...Object.keys(given), ...Object.keys(totals)]);
      return [...organizations].flatMap((id) =>
        entriesOfOrganization({ fixture, base, organization_id: id }, given[id] ?? 0, totals[id] ?? 0),
      );
    });
  },
};

interface Place {
  fixture: FixtureData;
  base: BaseBuilder;
  organization_id: string;
}

function entriesOfOrganization(place: Place, given: number | readonly Entry[], total: number): AuditLog[] {
  const { base, organization_id } = place;
  const entries = typeof given === "number" ? [] : given;
  const count = Math.max(typeof given === "number" ? given : given.length, total);
  const random = base.random("audit_log", organization_id);
  const cast = castOf(place);
  const gap = Math.max(1, Math.min(WIDEST_GAP, Math.floor(HALF_YEAR / count)));
  const prefix = `log_${organization_id.slice("org_".length)}_`;
  const made: AuditLog[] = [];
  for (let n = 0; n < count; n++) {
    const invented: AuditLog = {
      id: prefix + String(n + 1).padStart(6, "0"),
      organization_id,
      // Newest first, as they are listed: sorting has nothing left to do.
      timestamp: -(n * gap + random.int(1, gap)),
      ...inventEntry(cast, random, n),
    };
    made.push(n < entries.length ? completed(entries[n]!, invented, place) : invented);
  }
  return made;
}

/** What an entry of the fixture does not say is as invented; its actor's names follow its actor. */
function completed(entry: Entry, invented: AuditLog, { fixture, base }: Place): AuditLog {
  const { timestamp, ...fields } = entry;
  const actor = usersOf<UserEntry>(fixture).find(({ id }) => id === fields.actor_id);
  const known = actor && completeUser(actor, base);
  return {
    ...invented,
    ...(fields.actor_id && { actor_name: known?.name ?? fields.actor_id, actor_email: known?.email ?? "" }),
    ...fields,
    timestamp: timestamp === undefined ? invented.timestamp : base.instant(timestamp),
  };
}

const LARGEST_CAST = 50;

/** The organization's own people and departments, as far as the fixture names them. */
function castOf({ fixture, base, organization_id }: Place): Cast {
  const people = usersOf<UserEntry>(fixture)
    .filter(({ memberships }) => memberships?.[organization_id] !== undefined)
    .slice(0, LARGEST_CAST)
    .map((entry) => completeUser(entry, base));
  return {
    people,
    // Owners and admins are those who administer.
    actors: people.filter(({ memberships }) => memberships[organization_id] !== "member"),
    departments: departmentEntries(fixture)
      .map(({ entry }) => entry)
      .filter((entry) => entry.organization_id === organization_id)
      .slice(0, LARGEST_CAST)
      .map(({ id, name }) => ({ id, name: name ?? id })),
  };
}
