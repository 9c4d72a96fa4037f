import Type from "typebox";
import { type EntryOf, fixtureRecord } from "../../contract/fixture-record.ts";
import type { BaseBuilder, FixtureReader } from "../../contract/resource.ts";
import { ByOrganization } from "../organizations/schema.ts";
import { makeChangeLog } from "./make.ts";
import { CHANGE_ACTIONS, ChangeLog, changeLogs, RESOURCE_TYPES } from "./schema.ts";

const HOUR_MS = 3_600_000;
const Count = Type.Integer({ minimum: 0, maximum: 2_000_000 });

const record = fixtureRecord(ChangeLog, { omit: ["organization_id", "user_name", "user_email"] });
type Entry = EntryOf<typeof record>;

export const changeLogsFixture: FixtureReader = {
  keys: {
    dashboard_change_logs: ByOrganization(Type.Union([Count, Type.Array(record.schema)]), {
      description: "By organization: entries, or how many to generate",
    }),
  },
  generate: {
    dashboard_change_logs: ByOrganization(Count),
  },
  seed(fixture, base) {
    base.fill(changeLogs, () => {
      const given = (fixture["dashboard_change_logs"] ?? {}) as Record<string, number | Entry[]>;
      const wanted = (fixture.generate?.["dashboard_change_logs"] ?? {}) as Record<string, number>;
      const organizations = new Set([...Object.keys(given), ...Object.keys(wanted)]);
      return [...organizations].flatMap((organization_id) => {
        const entries = given[organization_id] ?? 0;
        const listed = typeof entries === "number" ? [] : entries;
        const own = typeof entries === "number" ? entries : entries.length;
        const total = Math.max(own, wanted[organization_id] ?? 0);
        return Array.from({ length: total }, (_, i) =>
          entryOf(listed[i] ?? {}, i, { organization_id, base }),
        );
      });
    });
  },
};

/** The i-th newest entry; types and actions alternate so that every pair of them occurs. */
function entryOf(
  entry: Entry,
  i: number,
  { organization_id, base }: { organization_id: string; base: BaseBuilder },
): ChangeLog {
  const making = base.making("change_logs", organization_id, i);
  const inTurn = {
    resource_type: RESOURCE_TYPES[i % RESOURCE_TYPES.length]!,
    action: CHANGE_ACTIONS[Math.floor(i / RESOURCE_TYPES.length) % CHANGE_ACTIONS.length]!,
  };
  const made = makeChangeLog({ ...inTurn, ...record.given(entry, base), organization_id }, making);
  if (entry.timestamp !== undefined) return made;
  return { ...made, timestamp: -(i * 4 + 1) * HOUR_MS - making.random.int(0, HOUR_MS) };
}
