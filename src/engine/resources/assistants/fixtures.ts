import Type from "typebox";
import type { Factory } from "../../contract/factory.ts";
import { type EntryOf, entriesOf, fixtureRecord } from "../../contract/fixture-record.ts";
import { firstRecord } from "../../contract/references.ts";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import type { Random } from "../../state/random.ts";
import { type Actor, findActor, pickActor } from "../change-logs/record.ts";
import type { Change } from "../change-logs/schema.ts";
import { authorOf } from "../organizations/access.ts";
import { organizations } from "../organizations/schema.ts";
import { type User, users } from "../users/schema.ts";
import { Assistant, assistantHistory, assistants, type HistoryEntry } from "./schema.ts";

export const ASSISTANT_NAMES = [
  "Onboarding Guide",
  "Release Notes",
  "Contract Reader",
  "Support Triage",
  "Travel Desk",
  "Data Steward",
  "Meeting Scribe",
];

/** What people tune in an assistant, with values between which it is tuned. */
export const TUNED = {
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

export function tuned(random: Random): Pick<Assistant, keyof typeof TUNED> {
  return {
    description: random.pick(TUNED.description),
    instructions: random.pick(TUNED.instructions),
    model: random.pick(TUNED.model),
    temperature: random.pick(TUNED.temperature),
  };
}

export const makeAssistant: Factory<Assistant> = (given, context) => {
  const { random, world, now } = context;
  const organization_id = given.organization_id ?? firstRecord(world, organizations, "organization_id").id;
  const name = given.name ?? random.pick(ASSISTANT_NAMES);
  const drawn = tuned(random);
  return {
    id: given.id ?? context.newId("asst_"),
    organization_id,
    name,
    description: given.description ?? drawn.description,
    instructions: given.instructions ?? drawn.instructions,
    model: given.model ?? drawn.model,
    temperature: given.temperature ?? drawn.temperature,
    created_by: given.created_by ?? authorOf(world, organization_id),
    created_at: given.created_at ?? now,
    deleted_at: given.deleted_at ?? null,
  };
};

/** An entry that no change has written, such as a history longer than anybody would click together. */
export const makeHistoryEntry: Factory<HistoryEntry> = (given, context) => {
  const { world, past, now } = context;
  const resource_id = given.resource_id ?? firstRecord(world, assistants, "resource_id").id;
  const assistant = past ? undefined : world.get(assistants, resource_id);
  const organization_id =
    given.organization_id ??
    assistant?.organization_id ??
    firstRecord(world, organizations, "organization_id").id;
  const actor = findActor(world, given.user_id, organization_id);
  return {
    id: given.id ?? context.newId("log_"),
    organization_id,
    timestamp: given.timestamp ?? now,
    resource_type: "assistant",
    resource_id,
    resource_name: given.resource_name ?? assistant?.name ?? context.random.pick(ASSISTANT_NAMES),
    action: given.action ?? "updated",
    user_id: actor.user_id,
    user_name: given.user_name ?? actor.user_name,
    user_email: given.user_email ?? actor.user_email,
    changes: given.changes ?? [],
    metadata: given.metadata ?? (past ? somewhere(context.random) : STATE_CALL),
  };
};

/** State calls reach the world from the machine it runs on. */
export const STATE_CALL: HistoryEntry["metadata"] = {
  ip_address: "127.0.0.1",
  user_agent: "understudy-control",
  source: "api",
};

const AGENTS = ["Mozilla/5.0 (X11; Linux x86_64)", "Mozilla/5.0 (Macintosh)", "python-sdk/2.4"];

function somewhere(random: Random): HistoryEntry["metadata"] {
  return {
    // Addresses of the documentation range (RFC 5737).
    ip_address: `203.0.113.${random.int(1, 254)}`,
    user_agent: random.pick(AGENTS),
    source: random.pick(["web", "api"]),
  };
}

const HOUR_MS = 3_600_000;
const TUNED_FIELDS = Object.keys(TUNED) as (keyof typeof TUNED)[];
const Count = Type.Integer({ minimum: 0, maximum: 1_000_000 });

/** It is created once, and a deletion is the last that its history tells of. */
const Once = Type.Integer({ minimum: 0, maximum: 1 });

const record = fixtureRecord(Assistant, {
  needs: ["id"],
  omit: ["deleted_at"],
  more: {
    history: Type.Optional(
      Type.Object(
        { created: Type.Optional(Once), updated: Type.Optional(Count), deleted: Type.Optional(Once) },
        { additionalProperties: false, description: "How many entries of each action to generate" },
      ),
    ),
  },
});
type Entry = EntryOf<typeof record>;

export const assistantsFixture: FixtureReader = {
  keys: { assistants: Type.Array(record.schema) },
  generate: { assistants: Count },
  seed(fixture, base) {
    // Both collections tell one story, so they are made together when either is first read.
    let made: Story[] | undefined;
    const stories = () => {
      made ??= all(fixture).map((entry) => story(entry, base));
      return made;
    };
    base.fill(assistants, () => stories().map(({ assistant }) => assistant));
    base.fill(assistantHistory, () => stories().flatMap(({ history }) => history));
  },
};

interface Story {
  assistant: Assistant;
  history: HistoryEntry[];
}

function all(fixture: FixtureData): Entry[] {
  const given = entriesOf(fixture, "assistants", record);
  const missing = Math.max(0, Number(fixture.generate?.["assistants"] ?? 0) - given.length);
  const generated = Array.from({ length: missing }, (_, i) => ({
    id: `asst_gen${String(i).padStart(7, "0")}`,
  }));
  return [...given, ...generated];
}

/**
 * An assistant as it stands, with the history that led there: created, each update from the value that the one
 * before left, and last perhaps deleted (G40). One entry an hour up to an hour before the epoch, closer together where
 * whoever made it has not been there for that long.
 */
function story(entry: Entry, base: BaseBuilder): Story {
  const context = base.context("assistants", entry.id);
  const { random, world } = context;
  const { created = 1, updated = 0, deleted = 0 } = entry.history ?? {};
  const count = created + updated + deleted;
  const given = record.given(entry, base);
  const drawn = makeAssistant({ ...given, deleted_at: null }, context);
  const { id, organization_id, name, created_by } = drawn;
  const creator = world.get(users, created_by);
  const age = -(given.created_at ?? creator?.created_at ?? Number.NEGATIVE_INFINITY);
  const gap = Math.max(0, Math.min(HOUR_MS, Math.floor(age / Math.max(1, count))));
  const born = given.created_at ?? -count * gap;
  const timeOf = (position: number) => (position < created ? born : -(count - position) * gap);
  const assistant = { ...drawn, created_at: born, deleted_at: deleted > 0 ? timeOf(count - 1) : null };
  const values: Tuned = { ...assistant };
  const history = Array.from({ length: count }, (_, newer) => {
    const position = count - 1 - newer;
    const timestamp = timeOf(position);
    const action = position < created ? "created" : position < created + updated ? "updated" : "deleted";
    const actor =
      action === "created"
        ? asCreator(created_by, creator)
        : pickActor(world, { organization_id, at: timestamp }, random);
    const changes = action === "updated" ? [untuned(values, random)] : [];
    const of = { organization_id, resource_id: id, resource_name: name };
    return makeHistoryEntry({ ...of, timestamp, action, ...actor, changes }, context);
  });
  return { assistant, history };
}

type Tuned = Record<keyof typeof TUNED, unknown>;

/** Undoes a change that led to what stands there. */
function untuned(values: Tuned, random: Random): Change {
  const field = random.pick(TUNED_FIELDS);
  const new_value = values[field];
  const old_value = random.pick((TUNED[field] as readonly unknown[]).filter((value) => value !== new_value));
  values[field] = old_value;
  return { field, old_value, new_value };
}

function asCreator(user_id: string, user: User | undefined): Actor {
  return { user_id, user_name: user?.name ?? user_id, user_email: user?.email ?? "" };
}
