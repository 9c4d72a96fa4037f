import { Type } from "typebox";
import type { Factory, FactoryContext } from "../../contract/factory.ts";
import { createEntryFormat, type FixtureEntry, readByOrganization } from "../../contract/fixture-entry.ts";
import { inventJob, inventName, inventTitle } from "../../contract/invent.ts";
import type { BaseBuilder, FixtureReader } from "../../contract/resource.ts";
import { HOUR_MS } from "../../state/clock.ts";
import { assistantHistory } from "../assistants/schema.ts";
import { interleave, type Lifecycle, type LifecycleContext } from "../audit-logs/lifecycles.ts";
import { findActor, pickActor } from "../audit-logs/rules.ts";
import { chooseOrganization } from "../organizations/access.ts";
import { ByOrganization } from "../organizations/schema.ts";
import { ChangeLog, changeLogs, clearChangesOfCreation, RESOURCE_TYPES } from "./schema.ts";

const INTERVAL_MS = 4 * HOUR_MS;
const Count = Type.Integer({ minimum: 0, maximum: 2_000_000 });

const entryFormat = createEntryFormat(ChangeLog, { omit: ["organization_id", "user_name", "user_email"] });
type Entry = FixtureEntry<typeof entryFormat>;

export const changeLogsFixture: FixtureReader = {
  keys: {
    dashboard_change_logs: ByOrganization(Type.Union([Count, Type.Array(entryFormat.schema)]), {
      description: "By organization: entries, or how many to generate",
    }),
  },
  dependsOnSettings: ["locale"],
  generate: { dashboard_change_logs: ByOrganization(Count) },
  check(fixture, report) {
    for (const { organization_id, entries } of readByOrganization(
      fixture,
      "dashboard_change_logs",
      entryFormat,
    ))
      for (const [i, { action, changes = [] }] of entries.entries())
        if (action === "created" && changes.length > 0)
          report(
            ["dashboard_change_logs", organization_id, i, "changes"],
            "changes contradicts the action created: omit it, or give another action",
          );
  },
  addRecords(fixture, base) {
    base.fill(changeLogs, () =>
      readByOrganization(fixture, "dashboard_change_logs", entryFormat).flatMap(
        ({ organization_id, entries, count }) => [
          ...entries.map((entry, i) => makeGivenEntry(entry, i, { organization_id, base })),
          ...generateChanges({ organization_id, base }, count - entries.length),
        ],
      ),
    );
  },
};

interface LogContext {
  organization_id: string;
  base: BaseBuilder;
}

/** Makes the i-th newest entry, counted from 0, with the fields that the fixture gives. */
function makeGivenEntry(entry: Entry, i: number, { organization_id, base }: LogContext): ChangeLog {
  const context = base.createContext("change_logs", organization_id, i);
  const timestamp = -(i + 1) * HOUR_MS;
  return makeChangeLog({ timestamp, ...entryFormat.toFields(entry, base), organization_id }, context);
}

/**
 * Generates `count` entries (G40): the newest ones in the histories of the organization's assistants (G31), and invented
 * ones of deleted objects, at least `MIN_FOR_ALL_KINDS` if `count` allows. An assistant's entry is left out only if all
 * invented ones are newer.
 */
function generateChanges({ organization_id, base }: LogContext, count: number): ChangeLog[] {
  const context = base.createContext("change_logs", organization_id, "invented");
  const assistantEntries = [...base.world.all(assistantHistory)]
    .filter((entry) => entry.organization_id === organization_id)
    .sort((a, b) => b.timestamp - a.timestamp);
  const inventedCount = Math.min(count, Math.max(MIN_FOR_ALL_KINDS, count - assistantEntries.length));
  const copiedCount = count - inventedCount;
  const newestOmitted = assistantEntries[copiedCount];
  const interval = newestOmitted ? Math.max(1, -newestOmitted.timestamp / (inventedCount + 1)) : INTERVAL_MS;
  const { random, world } = context;
  const drawLifecycle = createLifecycleGenerator(context);
  const entries = [
    ...assistantEntries.slice(0, copiedCount).map(({ metadata: _metadata, ...entry }) => ({
      ...entry,
      id: context.createId("log_"),
    })),
    ...interleave(inventedCount, drawLifecycle).map((step, n) => {
      const timestamp = -Math.floor((n + random.float()) * interval) - 1;
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
  invent: (context: FactoryContext) => string;
  /** Fields that people change, with their values. */
  fields: Readonly<Record<string, readonly string[]>>;
}

const SUBJECTS: Record<ResourceType, Subject> = {
  organization_user: {
    prefix: "usr_",
    invent: inventName,
    fields: { role: ["member", "admin"], account: ["active", "suspended"] },
  },
  assistant: {
    prefix: "asst_",
    invent: inventJob,
    fields: {
      model: ["atlas-large", "comet-mini"],
      description: ["Answers questions.", "Cites its sources."],
    },
  },
  rule: {
    prefix: "rule_",
    invent: inventTitle,
    fields: { severity: ["info", "warning", "blocking"], scope: ["all assistants", "customer-facing"] },
  },
  document: {
    prefix: "doc_",
    invent: inventTitle,
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
const MIN_FOR_ALL_KINDS = (2 + EPISODES.flat().length) * RESOURCE_TYPES.length;

/**
 * Draws the lifecycles of objects, of each type in turn: the first of each type has all kinds of changes, later ones
 * some.
 */
function createLifecycleGenerator(context: FactoryContext): (limits: LifecycleContext) => Lifecycle<Step> {
  const { random } = context;
  let drawnCount = 0;
  return ({ maxSteps }) => {
    // A single step leaves an object that exists, so its type must be one that no endpoint lists: a rule.
    const resource_type = maxSteps === 1 ? "rule" : RESOURCE_TYPES[drawnCount % RESOURCE_TYPES.length]!;
    const hasAllKinds = drawnCount < RESOURCE_TYPES.length;
    const { prefix, invent, fields } = SUBJECTS[resource_type];
    const object = {
      resource_type,
      resource_id: `${prefix}former-${++drawnCount}`,
      resource_name: invent(context),
    };
    const episodes = EPISODES.filter(() => hasAllKinds || random.chance(0.5));
    while (2 + episodes.flat().length > maxSteps && episodes.length > 0) episodes.pop();
    const actions = (["created", ...episodes.flat(), "deleted"] as const).slice(0, maxSteps);
    const steps = actions.map((action) => ({
      ...object,
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

/** Makes an entry alone, for a fixture or a state call: the object that it names does not change. */
export const makeChangeLog: Factory<ChangeLog> = (partial, context) => {
  const { random, world, isFixture, now } = context;
  const organization_id = chooseOrganization(context, partial.organization_id);
  const id = partial.id ?? context.createNewestFirstId("log_");
  const resource_type = partial.resource_type ?? "assistant";
  const action = partial.action ?? "updated";
  const { prefix, invent, fields } = SUBJECTS[resource_type];
  const resource_name = partial.resource_name ?? invent(context);
  const actor =
    isFixture && partial.user_id === undefined
      ? pickActor(world, { organization_id, at: partial.timestamp ?? now }, random)
      : findActor(world, partial.user_id ?? context.actor_id, organization_id);
  return clearChangesOfCreation({
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
  });
};
