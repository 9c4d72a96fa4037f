import Type, { type Static } from "typebox";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import { Id, Timestamp, UserId, Words } from "../../contract/schema.ts";
import { type Actor, actorsOfFixture } from "./actor.ts";
import { CHANGE_ACTIONS, Change, type ChangeLog, changeLogs, RESOURCE_TYPES } from "./schema.ts";

const HOUR = 3_600_000;

const ChangeLogEntry = Type.Object(
  {
    id: Type.Optional(Id("log_")),
    timestamp: Type.Optional(Timestamp()),
    resource_type: Type.Optional(Words(RESOURCE_TYPES)),
    resource_id: Type.Optional(Type.String({ minLength: 1 })),
    resource_name: Type.Optional(Type.String()),
    action: Type.Optional(Words(CHANGE_ACTIONS)),
    user_id: Type.Optional(UserId()),
    changes: Type.Optional(Type.Array(Change)),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof ChangeLogEntry>;

const Count = Type.Integer({ minimum: 0, maximum: 2_000_000 });

/** What stands in the log, by type: id prefix, names, and fields that people change. */
const SUBJECTS: Record<
  ChangeLog["resource_type"],
  { prefix: string; names: readonly string[]; fields: Readonly<Record<string, readonly string[]>> }
> = {
  organization_user: {
    prefix: "usr_",
    names: ["Ines Duarte", "Omar Farah", "Lena Vogel", "Tomas Novak", "Aiko Mori"],
    fields: { role: ["member", "admin"], account: ["active", "suspended"] },
  },
  assistant: {
    prefix: "asst_",
    names: ["Onboarding guide", "Release notes", "Contract reader", "Support triage", "Travel desk"],
    fields: {
      description: ["Answers questions of new colleagues", "Answers from the handbook alone"],
      model: ["atlas-large", "comet-mini"],
    },
  },
  rule: {
    prefix: "rule_",
    names: ["No personal data", "Cite your sources", "Reply in the reader's language", "Escalate refunds"],
    fields: { severity: ["info", "warning", "blocking"], scope: ["all assistants", "customer-facing"] },
  },
  document: {
    prefix: "doc_",
    names: ["Expense policy", "Security handbook", "Travel guide", "Price list", "Incident playbook"],
    fields: { title: ["Draft", "Final"], visibility: ["team", "organization"] },
  },
};

export const changeLogsFixture: FixtureReader = {
  keys: {
    dashboard_change_logs: Type.Record(
      Type.String({ pattern: "^org_" }),
      Type.Union([Count, Type.Array(ChangeLogEntry)]),
      { description: "By organization: entries, or how many to generate" },
    ),
  },
  generate: { dashboard_change_logs: Type.Record(Type.String({ pattern: "^org_" }), Count) },
  seed(fixture, base) {
    base.fill(changeLogs, () => {
      const given = (fixture["dashboard_change_logs"] ?? {}) as Record<string, number | Entry[]>;
      const wanted = (fixture.generate?.["dashboard_change_logs"] ?? {}) as Record<string, number>;
      const organizations = new Set([...Object.keys(given), ...Object.keys(wanted)]);
      return [...organizations].flatMap((organization_id) => {
        const entries = given[organization_id] ?? 0;
        const listed = typeof entries === "number" ? [] : entries;
        const total = Math.max(
          typeof entries === "number" ? entries : entries.length,
          wanted[organization_id] ?? 0,
        );
        return seeded({ organization_id, listed, total, fixture, base });
      });
    });
  },
};

function seeded({
  organization_id,
  listed,
  total,
  fixture,
  base,
}: {
  organization_id: string;
  listed: readonly Entry[];
  total: number;
  fixture: FixtureData;
  base: BaseBuilder;
}): ChangeLog[] {
  const actors = actorsOfFixture(fixture, base, organization_id);
  const made: ChangeLog[] = [];
  for (let i = 0; i < total; i++) made.push(complete(listed[i] ?? {}, i, { organization_id, actors, base }));
  return made;
}

/** The i-th newest entry; types and actions alternate so that every pair of them occurs. */
function complete(
  entry: Entry,
  i: number,
  { organization_id, actors, base }: { organization_id: string; actors: readonly Actor[]; base: BaseBuilder },
): ChangeLog {
  const random = base.random("change_logs", organization_id, i);
  const id = entry.id ?? `log_${random.letters(20)}`;
  const resource_type = entry.resource_type ?? RESOURCE_TYPES[i % RESOURCE_TYPES.length]!;
  const action =
    entry.action ?? CHANGE_ACTIONS[Math.floor(i / RESOURCE_TYPES.length) % CHANGE_ACTIONS.length]!;
  const { prefix, names, fields } = SUBJECTS[resource_type];
  const name = random.pick(names);
  const actor =
    actors.find(({ user_id }) => user_id === entry.user_id) ??
    (entry.user_id
      ? { user_id: entry.user_id, user_name: entry.user_id, user_email: "" }
      : random.pick(actors));
  const field = random.pick(Object.keys(fields));
  const [old_value, new_value] = random.sample(fields[field]!, 2);
  return {
    id,
    organization_id,
    timestamp: entry.timestamp ? base.instant(entry.timestamp) : -(i * 4 + 1) * HOUR - random.int(0, HOUR),
    resource_type,
    resource_id: entry.resource_id ?? `${prefix}${name.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`,
    resource_name: entry.resource_name ?? name,
    action,
    ...actor,
    changes: entry.changes ?? (action === "updated" ? [{ field, old_value, new_value }] : []),
  };
}
