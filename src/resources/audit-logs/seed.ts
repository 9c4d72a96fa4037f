import Type from "typebox";
import { type EntryOf, fixtureRecord } from "../../contract/fixture-record.ts";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import { departmentEntries } from "../departments/seed.ts";
import { ByOrganization } from "../organizations/schema.ts";
import { users } from "../users/schema.ts";
import { makeAuditLog } from "./make.ts";
import { type Cast, inventEntry } from "./sample-text.ts";
import { AuditLog, auditLogs } from "./schema.ts";

const record = fixtureRecord(AuditLog, { omit: ["organization_id"] });
type Entry = EntryOf<typeof record>;

const COUNT = Type.Integer({ minimum: 0, maximum: 2_000_000 });
const HALF_YEAR_MS = 180 * 86_400_000;
const MAX_GAP_MS = 3 * 3_600_000;
const MAX_CAST = 50;

export const auditLogFixture: FixtureReader = {
  keys: {
    audit_log: ByOrganization(Type.Union([COUNT, Type.Array(record.schema)]), {
      description: "By organization: entries of its audit log, or how many to make up",
    }),
  },
  generate: { audit_log: ByOrganization(COUNT) },
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

/** Newest first, as they are listed: sorting has nothing left to do. */
function entriesOfOrganization(place: Place, given: number | readonly Entry[], total: number): AuditLog[] {
  const { base, organization_id } = place;
  const entries = typeof given === "number" ? [] : given;
  const count = Math.max(typeof given === "number" ? given : given.length, total);
  const making = base.making("audit_log", organization_id);
  const cast = castOf(place);
  const gap = Math.max(1, Math.min(MAX_GAP_MS, Math.floor(HALF_YEAR_MS / count)));
  const prefix = `log_${organization_id.slice("org_".length)}_`;
  return Array.from({ length: count }, (_, n) => {
    const id = prefix + String(n + 1).padStart(6, "0");
    const timestamp = -(n * gap + making.random.int(1, gap));
    const invented = { id, organization_id, timestamp, ...inventEntry(cast, making.random, n) };
    const entry = record.given(entries[n] ?? {}, base);
    // An actor's names are those of the users that the same fixture makes.
    const names = entry.actor_id === undefined ? {} : { actor_name: undefined, actor_email: undefined };
    return makeAuditLog({ ...invented, ...names, ...entry }, making);
  });
}

/** The organization's own people and departments, as far as the fixture names them. */
function castOf({ fixture, base, organization_id }: Place): Cast {
  const people = base.world.index(users, "by_organization", organization_id).page(0, MAX_CAST);
  return {
    people,
    // Owners and admins are those who administer.
    actors: people.filter(({ memberships }) => memberships[organization_id] !== "member"),
    departments: departmentEntries(fixture)
      .map(({ entry }) => entry)
      .filter((entry) => entry.organization_id === organization_id)
      .slice(0, MAX_CAST)
      .map(({ id, name }) => ({ id, name: name ?? id })),
  };
}
