import { Type } from "typebox";
import type { Factory, FactoryContext } from "../../contract/factory.ts";
import { type FixtureEntry, fixtureRecord, readByOrganization } from "../../contract/fixture-record.ts";
import { inventJob, inventName, inventTitle } from "../../contract/invent.ts";
import type { BaseBuilder, FixtureReader } from "../../contract/resource.ts";
import { assistantHistory } from "../assistants/schema.ts";
import { interleave, type Lifecycle, type LifecycleContext } from "../audit-logs/lifecycles.ts";
import { chooseOrganization } from "../organizations/access.ts";
import { ByOrganization } from "../organizations/schema.ts";
import { findActor, pickActor } from "./rules.ts";
import { ChangeLog, changeLogs, RESOURCE_TYPES } from "./schema.ts";

const HOUR_MS = 3_600_000;
const GAP_MS = 4 * HOUR_MS;
const Count = Type.Integer({ minimum: 0, maximum: 2_000_000 });

const record = fixtureRecord(ChangeLog, { omit: ["organization_id", "user_name", "user_email"] });
type Entry = FixtureEntry<typeof record>;

export const changeLogsFixture: FixtureReader = {
  keys: {
    dashboard_change_logs: ByOrganization(Type.Union([Count, Type.Array(record.schema)]), {
      description: "By organization: entries, or how many to generate",
    }),
  },
  dependsOn: ["locale"],
  generate: { dashboard_change_logs: ByOrganization(Count) },
  seed(fixture, base) {
    const readCounts = () => readByOrganization(fixture, "dashboard_change_logs", record);
    base.fill(changeLogs, () =>
      readCounts().flatMap(({ organization_id, entries, count }) => [
        ...entries.map((entry, i) => makeGivenEntry(entry, i, { organization_id, base })),
        ...generateChanges({ organization_id, base }, count - entries.length),
      ]),
    );
  },
};

interface Place {
  organization_id: string;
  base: BaseBuilder;
}

/** The i-th newest entry; the given fields are the fixture's. */
function makeGivenEntry(entry: Entry, i: number, { organization_id, base }: Place): ChangeLog {
  const context = base.createContext("change_logs", organization_id, i);
  const timestamp = -(i + 1) * HOUR_MS;
  return makeChangeLog({ timestamp, ...record.toFields(entry, base), organization_id }, context);
}

/**
 * The newest entries, for a number in the fixture (G40): the histories of the organization's assistants (G31), and
 * between their entries the lifecycles of deleted objects. A log that is too short for all of it begins later.
 */
function generateChanges({ organization_id, base }: Place, count: number): ChangeLog[] {
  const context = base.createContext("change_logs", organization_id, "invented");
  const own = [...base.world.all(assistantHistory)]
    .filter((entry) => entry.organization_id === organization_id)
    .sort((a, b) => b.timestamp - a.timestamp);
  const others = Math.min(count, Math.max(EVERY_KIND, count - own.length));
  const included = own.slice(0, count - others);
  const omitted = own[included.length]?.timestamp;
  const span = omitted === undefined ? (others + 1) * GAP_MS : Math.max(others + 1, -omitted);
  const gap = span / (others + 1);
  const { random, world } = context;
  const drawLife = createDraw(context);
  const entries = [
    ...included.map(({ metadata: _metadata, ...entry }) => ({ ...entry, id: context.createId("log_") })),
    ...interleave(others, drawLife).map((step, n) => {
      const timestamp = -Math.floor((n + random.float()) * gap) - 1;
      const actor = pickActor(world, { organization_id, at: timestamp }, random);
      return { id: context.createId("log_"), organization_id, timestamp, ...step, ...actor };
    }),
  ];
  return entries.sort((a, b) => b.timestamp - a.timestamp);
}

type ResourceType = ChangeLog["resource_type"];
type Step = Pick<ChangeLog, "resource_type" | "resource_id" | "resource_name" | "action" | "changes">;

interface Subject {
  prefix: string;
  inventName: (context: FactoryContext) => string;
  /** Fields that people change, with their values. */
  fields: Readonly<Record<string, readonly string[]>>;
}

const SUBJECTS: Record<ResourceType, Subject> = {
  organization_user: {
    prefix: "usr_",
    inventName,
    fields: { role: ["member", "admin"], account: ["active", "suspended"] },
  },
  assistant: {
    prefix: "asst_",
    inventName: inventJob,
    fields: {
      model: ["atlas-large", "comet-mini"],
      description: ["Answers questions.", "Cites its sources."],
    },
  },
  rule: {
    prefix: "rule_",
    inventName: inventTitle,
    fields: { severity: ["info", "warning", "blocking"], scope: ["all assistants", "customer-facing"] },
  },
  document: {
    prefix: "doc_",
    inventName: inventTitle,
    fields: { title: ["Draft", "Final"], visibility: ["team", "organization"] },
  },
};

/** The changes that can happen between creation and deletion, in a legal order. */
const EPISODES = [
  ["updated"],
  ["added", "removed"],
  ["entity_attached", "entity_detached"],
  ["deleted", "restored"],
] as const satisfies ChangeLog["action"][][];

/** With at least this many entries, every kind of change to every type occurs. */
const EVERY_KIND = (2 + EPISODES.flat().length) * RESOURCE_TYPES.length;

/**
 * Draws the lifecycles of objects, of each type in turn: the first of each type has all kinds of changes, later ones
 * some.
 */
function createDraw(context: FactoryContext): (place: LifecycleContext) => Lifecycle<Step> {
  const { random } = context;
  let drawn = 0;
  return ({ room }) => {
    // Objects that are not deleted must be of a type that no endpoint lists: rules.
    const resource_type = room === 1 ? "rule" : RESOURCE_TYPES[drawn % RESOURCE_TYPES.length]!;
    const isFull = drawn < RESOURCE_TYPES.length;
    const { prefix, inventName, fields } = SUBJECTS[resource_type];
    const thing = {
      resource_type,
      resource_id: `${prefix}former-${++drawn}`,
      resource_name: inventName(context),
    };
    const episodes = EPISODES.filter(() => isFull || random.chance(0.5));
    while (2 + episodes.flat().length > room && episodes.length > 0) episodes.pop();
    const life = (["created", ...episodes.flat(), "deleted"] as const).slice(0, room);
    const steps = life.map((action) => ({
      ...thing,
      action,
      changes: action === "updated" ? [drawChange(fields, random)] : [],
    }));
    return { steps };
  };
}

function drawChange(fields: Subject["fields"], random: FactoryContext["random"]) {
  const field = random.pick(Object.keys(fields));
  const values = fields[field]!;
  const old_value = random.pick(values);
  return { field, old_value, new_value: random.pick(values.filter((value) => value !== old_value)) };
}

/** An entry that no change has written; it has no other effect. */
export const makeChangeLog: Factory<ChangeLog> = (partial, context) => {
  const { random, world, past, now } = context;
  const organization_id = chooseOrganization(world, partial.organization_id);
  const id = partial.id ?? context.createId("log_");
  const resource_type = partial.resource_type ?? "assistant";
  const action = partial.action ?? "updated";
  const { prefix, inventName, fields } = SUBJECTS[resource_type];
  const resource_name = partial.resource_name ?? inventName(context);
  const actor =
    past && partial.user_id === undefined
      ? pickActor(world, { organization_id, at: partial.timestamp ?? now }, random)
      : findActor(world, partial.user_id, organization_id);
  return {
    id,
    organization_id,
    timestamp: partial.timestamp ?? now,
    resource_type,
    resource_id: partial.resource_id ?? random.id(prefix),
    resource_name,
    action,
    user_id: actor.user_id,
    user_name: partial.user_name ?? actor.user_name,
    user_email: partial.user_email ?? actor.user_email,
    changes: partial.changes ?? (action === "updated" ? [drawChange(fields, random)] : []),
  };
};
