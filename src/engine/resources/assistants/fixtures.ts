import { Type } from "typebox";
import type { Factory } from "../../contract/factory.ts";
import { createEntryFormat, type FixtureEntry, readOrGenerate } from "../../contract/fixture-entry.ts";
import { inventJob } from "../../contract/invent.ts";
import { requireFirstRecord } from "../../contract/references.ts";
import type { BaseBuilder, FixtureReader } from "../../contract/resource.ts";
import { computeOnce } from "../../maps.ts";
import { HOUR_MS } from "../../state/clock.ts";
import type { Random } from "../../state/random.ts";
import { findActor, pickActor } from "../audit-logs/rules.ts";
import { clearChangesOfCreation, type FieldChange } from "../change-logs/schema.ts";
import { chooseOrganization, findAuthor } from "../organizations/access.ts";
import { users } from "../users/schema.ts";
import { Assistant, assistantHistory, assistants, type HistoryEntry } from "./schema.ts";

/** The settings that a generated history changes, with their values. */
const VARIED_SETTINGS = {
  description: [
    "Answers questions of new colleagues.",
    "Answers from the handbook and says where it read it.",
    "Helps with policies, travel and expenses.",
    "First stop for questions about how we work.",
  ],
  instructions: [
    "Be brief and cite the document you used.",
    "Answer in the language of the question. Cite your sources.",
    "Ask back when the question is unclear. Never guess figures.",
    "Answer in at most five sentences and link the policy.",
  ],
  model: ["atlas-large", "comet-mini", "breeze-chat"],
  temperature: [0, 0.2, 0.4, 0.7, 1],
} as const;

export const makeAssistant: Factory<Assistant> = (fields, context) => {
  const { random, world, now } = context;
  const organization_id = chooseOrganization(context, fields.organization_id);
  const name = fields.name ?? inventJob(context);
  const settings = {
    description: random.pick(VARIED_SETTINGS.description),
    instructions: random.pick(VARIED_SETTINGS.instructions),
    model: random.pick(VARIED_SETTINGS.model),
    temperature: random.pick(VARIED_SETTINGS.temperature),
  };
  return {
    id: fields.id ?? context.createId("asst_"),
    organization_id,
    name,
    description: fields.description ?? settings.description,
    instructions: fields.instructions ?? settings.instructions,
    model: fields.model ?? settings.model,
    temperature: fields.temperature ?? settings.temperature,
    created_by: fields.created_by ?? context.actor_id ?? findAuthor(world, organization_id),
    created_at: fields.created_at ?? now,
    deleted_at: fields.deleted_at ?? null,
  };
};

/** Makes an entry of a history without changing the assistant, for example for a very long history. */
export const makeHistoryEntry: Factory<HistoryEntry> = (fields, context) => {
  const { world, isFixture, now } = context;
  const resource_id =
    fields.resource_id ?? requireFirstRecord(context, assistants, "resource_id", fields.organization_id).id;
  // A fixture makes an assistant together with its entries, so that it is not in the world yet.
  const assistant = isFixture ? undefined : world.get(assistants, resource_id);
  const organization_id = fields.organization_id ?? assistant?.organization_id ?? chooseOrganization(context);
  const actor = findActor(world, fields.user_id ?? context.actor_id, organization_id);
  return clearChangesOfCreation({
    id: fields.id ?? context.createNewestFirstId("log_"),
    organization_id,
    timestamp: fields.timestamp ?? now,
    resource_type: "assistant",
    resource_id,
    resource_name: fields.resource_name ?? assistant?.name ?? inventJob(context),
    action: fields.action ?? "updated",
    user_id: actor.user_id,
    user_name: fields.user_name ?? actor.user_name,
    user_email: fields.user_email ?? actor.user_email,
    changes: fields.changes ?? [],
    metadata: fields.metadata ?? (isFixture ? pickOrigin(context.random) : STATE_CALL_ORIGIN),
  });
};

/** The origin of a state call: the machine that the server runs on. */
export const STATE_CALL_ORIGIN: HistoryEntry["metadata"] = {
  ip_address: "127.0.0.1",
  user_agent: "understudy-control",
  source: "api",
};

const USER_AGENTS = ["Mozilla/5.0 (X11; Linux x86_64)", "Mozilla/5.0 (Macintosh)", "python-sdk/2.4"];

function pickOrigin(random: Random): HistoryEntry["metadata"] {
  return {
    // Addresses of the documentation range (RFC 5737).
    ip_address: `203.0.113.${random.int(1, 254)}`,
    user_agent: random.pick(USER_AGENTS),
    source: random.pick(["web", "api"]),
  };
}

const VARIED_FIELDS = Object.keys(VARIED_SETTINGS) as (keyof typeof VARIED_SETTINGS)[];
const Count = Type.Integer({ minimum: 0, maximum: 1_000_000 });

/** A history begins with at most one creation and ends with at most one deletion. */
const ZeroOrOne = Type.Integer({ minimum: 0, maximum: 1 });

const entryFormat = createEntryFormat(Assistant, {
  required: ["id"],
  omit: ["deleted_at"],
  more: {
    history: Type.Optional(
      Type.Object(
        {
          created: Type.Optional(ZeroOrOne),
          updated: Type.Optional(Count),
          deleted: Type.Optional(ZeroOrOne),
        },
        { additionalProperties: false, description: "How many entries of each action to generate" },
      ),
    ),
  },
});
type Entry = FixtureEntry<typeof entryFormat>;

export const assistantsFixture: FixtureReader = {
  dependsOnSettings: ["locale"],
  keys: { assistants: Type.Array(entryFormat.schema) },
  generate: { assistants: Count },
  addRecords(fixture, base) {
    const getAssistants = computeOnce(() =>
      readOrGenerate(fixture, "assistants", entryFormat, "asst_").map((entry) =>
        generateWithHistory(entry, base),
      ),
    );
    base.fill(assistants, () => getAssistants().map(({ assistant }) => assistant));
    base.fill(assistantHistory, () => getAssistants().flatMap(({ history }) => history));
  },
};

/**
 * Generates an assistant and the history that leads to it: created, then updates whose values chain, and last perhaps
 * deleted (G40). Entries are an hour apart, the last one an hour before the epoch; they are closer together if the
 * assistant or its creator has existed for less time.
 */
function generateWithHistory(entry: Entry, base: BaseBuilder) {
  const context = base.createContext("assistants", entry.id);
  const { random, world } = context;
  const { created: creations = 1, updated: updates = 0, deleted: deletions = 0 } = entry.history ?? {};
  const count = creations + updates + deletions;
  const fields = entryFormat.toFields(entry, base);
  const initial = makeAssistant({ ...fields, deleted_at: null }, context);
  const { id, organization_id, name, created_by } = initial;
  const creator = world.get(users, created_by);
  const age = -(fields.created_at ?? creator?.created_at ?? Number.NEGATIVE_INFINITY);
  const interval = Math.max(0, Math.min(HOUR_MS, Math.floor(age / Math.max(1, count))));
  const createdAt = fields.created_at ?? -count * interval;
  const getTimestamp = (position: number) =>
    position < creations ? createdAt : -(count - position) * interval;
  const assistant = {
    ...initial,
    created_at: createdAt,
    deleted_at: deletions > 0 ? getTimestamp(count - 1) : null,
  };
  const values: SettingValues = { ...assistant };
  // The newest first, since only the last values are given.
  const history = [...Array(count).keys()].reverse().map((position) => {
    const timestamp = getTimestamp(position);
    const action = position < creations ? "created" : position < creations + updates ? "updated" : "deleted";
    const actor =
      action === "created"
        ? findActor(world, created_by, organization_id)
        : pickActor(world, { organization_id, at: timestamp }, random);
    const changes = action === "updated" ? [revertSetting(values, random)] : [];
    const subject = { organization_id, resource_id: id, resource_name: name };
    return makeHistoryEntry({ ...subject, timestamp, action, ...actor, changes }, context);
  });
  return { assistant, history };
}

type SettingValues = Record<keyof typeof VARIED_SETTINGS, unknown>;

/** Goes one change back in time: replaces a value by a former one, and returns the change between the two. */
function revertSetting(values: SettingValues, random: Random): FieldChange {
  const field = random.pick(VARIED_FIELDS);
  const new_value = values[field];
  const old_value = random.pick(
    (VARIED_SETTINGS[field] as readonly unknown[]).filter((value) => value !== new_value),
  );
  values[field] = old_value;
  return { field, old_value, new_value };
}
