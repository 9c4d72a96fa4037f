import Type from "typebox";
import { type EntryOf, entriesOf, fixtureRecord } from "../../contract/fixture-record.ts";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import type { Random } from "../../state/random.ts";
import { type Actor, pickActor } from "../change-logs/record.ts";
import type { Change } from "../change-logs/schema.ts";
import { type User, users } from "../users/schema.ts";
import { makeAssistant, makeHistoryEntry } from "./make.ts";
import { TUNED } from "./sample-text.ts";
import { Assistant, assistantHistory, assistants, type HistoryEntry } from "./schema.ts";

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
