import Type from "typebox";
import { type EntryOf, entriesOf, fixtureRecord } from "../../contract/fixture-record.ts";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import type { Random } from "../../state/random.ts";
import { actorsOfFixture } from "../change-logs/actor.ts";
import { makeAssistant, makeHistoryEntry } from "./make.ts";
import { TUNED } from "./sample-text.ts";
import { Assistant, assistantHistory, assistants, type HistoryEntry } from "./schema.ts";

const HOUR_MS = 3_600_000;
const TUNED_FIELDS = Object.keys(TUNED) as (keyof typeof TUNED)[];
const Count = Type.Integer({ minimum: 0, maximum: 1_000_000 });

const record = fixtureRecord(Assistant, {
  needs: ["id"],
  omit: ["deleted_at"],
  more: {
    history: Type.Optional(
      Type.Object(
        { created: Type.Optional(Count), updated: Type.Optional(Count), deleted: Type.Optional(Count) },
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
 * An assistant with its history, one entry an hour up to an hour before the epoch: created, then each
 * update from the value that the one before left, and last what became of it. The assistant stands as
 * its latest entry left it.
 */
function story(entry: Entry, base: BaseBuilder): Story {
  const making = base.making("assistants", entry.id);
  const { random } = making;
  const { created = 1, updated = 0, deleted = 0 } = entry.history ?? {};
  const count = created + updated + deleted;
  const given = record.given(entry, base);
  const born = given.created_at ?? -count * HOUR_MS;
  const hourOf = (position: number) =>
    position === 0 ? Math.min(born, -count * HOUR_MS) : -(count - position) * HOUR_MS;
  const untuned = { ...given };
  for (const field of TUNED_FIELDS) delete untuned[field];
  const deleted_at = deleted > 0 ? hourOf(count - 1) : null;
  let assistant = makeAssistant({ ...untuned, created_at: born, deleted_at }, making);
  const { id, organization_id, name } = assistant;
  const actors = actorsOfFixture(base.world, organization_id);
  const creator = actors.find(({ user_id }) => user_id === assistant.created_by) ?? actors[0]!;
  const history: HistoryEntry[] = [];
  for (let position = 0; position < count; position++) {
    const action = position < created ? "created" : position < created + updated ? "updated" : "deleted";
    const change = action === "updated" ? retuned(assistant, random) : undefined;
    if (change) assistant = { ...assistant, [change.field]: change.new_value };
    const actor = action === "created" ? creator : random.pick(actors);
    const changes = change ? [change] : [];
    const of = { organization_id, resource_id: id, resource_name: name };
    history.push(makeHistoryEntry({ ...of, timestamp: hourOf(position), action, ...actor, changes }, making));
  }
  return { assistant: asGiven(assistant, given, history), history };
}

function retuned(assistant: Assistant, random: Random) {
  const field = random.pick(TUNED_FIELDS);
  const others = (TUNED[field] as readonly unknown[]).filter((value) => value !== assistant[field]);
  return { field, old_value: assistant[field], new_value: random.pick(others) };
}

/** What the fixture says of the assistant is how it stands now; its latest change of that field led there. */
function asGiven(
  assistant: Assistant,
  entry: Partial<Assistant>,
  history: readonly HistoryEntry[],
): Assistant {
  const given: Record<string, unknown> = {};
  for (const field of TUNED_FIELDS) {
    if (entry[field] === undefined) continue;
    given[field] = entry[field];
    const last = history.findLast(({ changes }) => changes[0]?.field === field);
    if (last) last.changes = [{ ...last.changes[0]!, new_value: entry[field] }];
  }
  return { ...assistant, ...given };
}
