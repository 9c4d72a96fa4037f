import Type from "typebox";
import { type EntryOf, fixtureRecord } from "../../contract/fixture-record.ts";
import type { BaseBuilder, FixtureReader } from "../../contract/resource.ts";
import { assistantHistory } from "../assistants/schema.ts";
import { ByOrganization } from "../organizations/schema.ts";
import { EVERY_KIND, inventChanges } from "./invent-changes.ts";
import { makeChangeLog } from "./make.ts";
import { ChangeLog, changeLogs } from "./schema.ts";

const HOUR_MS = 3_600_000;
const GAP_MS = 4 * HOUR_MS;
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
        return [
          ...listed.map((entry, i) => givenEntry(entry, i, { organization_id, base })),
          ...invented({ organization_id, base }, total - listed.length),
        ];
      });
    });
  },
};

interface Place {
  organization_id: string;
  base: BaseBuilder;
}

/** The i-th newest entry, as far as the fixture says; nothing follows from it. */
function givenEntry(entry: Entry, i: number, { organization_id, base }: Place): ChangeLog {
  const context = base.context("change_logs", organization_id, i);
  const timestamp = -(i + 1) * HOUR_MS;
  return makeChangeLog({ timestamp, ...record.given(entry, base), organization_id }, context);
}

/**
 * The newest entries that a number asks for (G40): what the histories of the organization's assistants tell of (G31),
 * and between them what became of others. A log that is too short for all of it begins later.
 */
function invented({ organization_id, base }: Place, count: number): ChangeLog[] {
  const context = base.context("change_logs", organization_id, "invented");
  const own = [...base.world.all(assistantHistory)]
    .filter((entry) => entry.organization_id === organization_id)
    .sort((a, b) => b.timestamp - a.timestamp);
  const others = Math.min(count, Math.max(EVERY_KIND, count - own.length));
  const kept = own.slice(0, count - others);
  const omitted = own[kept.length]?.timestamp;
  const span = omitted === undefined ? (others + 1) * GAP_MS : Math.max(others + 1, -omitted);
  const entries = [
    ...kept.map(({ metadata: _metadata, ...entry }) => ({ ...entry, id: context.newId("log_") })),
    ...inventChanges({ context, organization_id, span, count: others }),
  ];
  return entries.sort((a, b) => b.timestamp - a.timestamp);
}
