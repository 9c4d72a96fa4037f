import Type, { type Static } from "typebox";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import { Id, Timestamp, UserId } from "../../contract/schema.ts";
import type { Random } from "../../state/random.ts";
import { type Actor, actorsOfFixture } from "../change-logs/actor.ts";
import { firstOrganization, ownerOf } from "../organizations/of-fixture.ts";
import { type Assistant, assistantHistory, assistants, type HistoryEntry } from "./schema.ts";
import { ASSISTANT_NAMES, TUNED, tuned } from "./words.ts";

const HOUR = 3_600_000;
const Count = Type.Integer({ minimum: 0, maximum: 1_000_000 });

const AssistantEntry = Type.Object(
  {
    id: Id("asst_"),
    organization_id: Type.Optional(Id("org_")),
    name: Type.Optional(Type.String({ minLength: 1 })),
    description: Type.Optional(Type.String()),
    instructions: Type.Optional(Type.String()),
    model: Type.Optional(Type.String({ minLength: 1 })),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
    created_by: Type.Optional(UserId()),
    created_at: Type.Optional(Timestamp()),
    history: Type.Optional(
      Type.Object(
        { created: Type.Optional(Count), updated: Type.Optional(Count), deleted: Type.Optional(Count) },
        { additionalProperties: false, description: "How many entries of each action to generate" },
      ),
    ),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof AssistantEntry>;

export const assistantsFixture: FixtureReader = {
  keys: { assistants: Type.Array(AssistantEntry) },
  generate: { assistants: Count },
  seed(fixture, base) {
    // Both collections tell one story, so they are made together when either is first read.
    let made: Story[] | undefined;
    const stories = () => {
      made ??= entriesOf(fixture).map((entry) => story(entry, fixture, base));
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

function entriesOf(fixture: FixtureData): Entry[] {
  const given = (fixture["assistants"] ?? []) as Entry[];
  const missing = Math.max(0, Number(fixture.generate?.["assistants"] ?? 0) - given.length);
  const generated = Array.from({ length: missing }, (_, i) => ({
    id: `asst_gen${String(i).padStart(7, "0")}`,
  }));
  return [...given, ...generated];
}

/**
 * An assistant with its history, one entry an hour up to an hour before the epoch: created, then each
 * update from the value that the one before left, and last what became of it. The assistant stands as
 * its latest entry left it.
 */
function story(entry: Entry, fixture: FixtureData, base: BaseBuilder): Story {
  const random = base.random("assistants", entry.id);
  const organization_id = entry.organization_id ?? firstOrganization(fixture);
  const { created = 1, updated = 0, deleted = 0 } = entry.history ?? {};
  const count = created + updated + deleted;
  const born = entry.created_at ? base.instant(entry.created_at) : -count * HOUR;
  const hourOf = (position: number) =>
    position === 0 ? Math.min(born, -count * HOUR) : -(count - position) * HOUR;
  let assistant: Assistant = {
    id: entry.id,
    organization_id,
    name: entry.name ?? random.pick(ASSISTANT_NAMES),
    ...tuned(random),
    created_by: entry.created_by ?? ownerOf(fixture, organization_id),
    created_at: born,
    deleted_at: deleted > 0 ? hourOf(count - 1) : null,
  };
  const actors = actorsOfFixture(fixture, base, organization_id);
  const creator = actors.find(({ user_id }) => user_id === assistant.created_by) ?? actors[0]!;
  const history: HistoryEntry[] = [];
  for (let position = 0; position < count; position++) {
    const action = position < created ? "created" : position < created + updated ? "updated" : "deleted";
    const change = action === "updated" ? retuned(assistant, random) : undefined;
    if (change) assistant = { ...assistant, [change.field]: change.new_value };
    const actor = action === "created" ? creator : random.pick(actors);
    const changes = change ? [change] : [];
    history.push(written(assistant, { timestamp: hourOf(position), action, actor, changes, random }));
  }
  return { assistant: asGiven(assistant, entry, history), history };
}

function written(
  { id, organization_id, name }: Assistant,
  {
    timestamp,
    action,
    actor,
    changes,
    random,
  }: Pick<HistoryEntry, "timestamp" | "action" | "changes"> & {
    actor: Actor;
    random: Random;
  },
): HistoryEntry {
  return {
    id: `log_${random.letters(20)}`,
    organization_id,
    timestamp,
    resource_type: "assistant",
    resource_id: id,
    resource_name: name,
    action,
    ...actor,
    changes,
    metadata: {
      // Addresses of the documentation range (RFC 5737).
      ip_address: `203.0.113.${random.int(1, 254)}`,
      user_agent: random.pick([
        "Mozilla/5.0 (X11; Linux x86_64)",
        "Mozilla/5.0 (Macintosh)",
        "python-sdk/2.4",
      ]),
      source: random.pick(["web", "api"]),
    },
  };
}

function retuned(assistant: Assistant, random: Random) {
  const field = random.pick(Object.keys(TUNED) as (keyof typeof TUNED)[]);
  const others = (TUNED[field] as readonly unknown[]).filter((value) => value !== assistant[field]);
  return { field, old_value: assistant[field], new_value: random.pick(others) };
}

/** What the fixture says of the assistant is how it stands now; its latest change of that field led there. */
function asGiven(assistant: Assistant, entry: Entry, history: readonly HistoryEntry[]): Assistant {
  const given: Record<string, unknown> = {};
  for (const field of Object.keys(TUNED) as (keyof typeof TUNED)[]) {
    if (entry[field] === undefined) continue;
    given[field] = entry[field];
    const last = history.findLast(({ changes }) => changes[0]?.field === field);
    if (last) last.changes = [{ ...last.changes[0]!, new_value: entry[field] }];
  }
  return { ...assistant, ...given };
}
