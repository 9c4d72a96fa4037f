import { expect } from "vitest";
import type { Assistant, HistoryEntry } from "../../src/engine/resources/assistants/schema.ts";
import type { ChangeLog } from "../../src/engine/resources/change-logs/schema.ts";
import type { User } from "../../src/engine/resources/users/schema.ts";

type Values = Record<string, unknown>;

/**
 * Replays an assistant's history (newest first) from its creation and compares the result with the assistant.
 * @throws at the first entry that cannot have happened
 */
export function replayHistory(entries: readonly HistoryEntry[], assistant: Assistant, people: People): void {
  const values = replay([...entries].reverse(), people);
  const [oldest] = entries.slice(-1);
  expect(oldest?.action, assistant.id).toBe("created");
  expect([oldest!.timestamp, oldest!.user_id]).toEqual([assistant.created_at, assistant.created_by]);
  expect(assistant, assistant.id).toMatchObject(values.get(assistant.id)!.values);
  const [newest] = entries;
  expect(assistant.deleted_at).toBe(newest!.action === "deleted" ? newest!.timestamp : null);
}

/**
 * Replays a change log. Entries about existing assistants must equal those in their histories, in the log's period;
 * all other assistants must be deleted.
 */
export function replayChanges(
  entries: readonly ChangeLog[],
  {
    people,
    assistants,
    histories,
  }: { people: People; assistants: ReadonlySet<string>; histories: readonly HistoryEntry[] },
): void {
  const subjects = replay([...entries].reverse(), people);
  for (const [id, { alive, type }] of subjects)
    if (!assistants.has(id) && type === "assistant") expect(alive, id).toBe(false);
  const oldest = entries.at(-1)?.timestamp ?? 0;
  const toSortedEntries = (list: readonly (HistoryEntry | ChangeLog)[]) =>
    list
      .filter(({ resource_id, timestamp }) => assistants.has(resource_id) && timestamp >= oldest)
      .map(({ resource_id, timestamp, action, user_id, changes }) =>
        JSON.stringify({ timestamp, resource_id, action, user_id, changes }),
      )
      .sort();
  expect(toSortedEntries(entries)).toEqual(toSortedEntries(histories));
}

export type People = ReadonlyMap<string, User>;

interface Subject {
  type: string;
  alive: boolean | undefined;
  added?: boolean;
  attached?: boolean;
  values: Values;
}

function replay(log: readonly (HistoryEntry | ChangeLog)[], people: People): Map<string, Subject> {
  const subjects = new Map<string, Subject>();
  for (const entry of log) {
    const { action, resource_id, resource_type, changes, timestamp } = entry;
    const what = `${entry.id} ${resource_type} ${action} ${resource_id}`;
    const subject = subjects.get(resource_id) ?? { type: resource_type, alive: undefined, values: {} };
    const first = !subjects.has(resource_id);
    subjects.set(resource_id, subject);
    requireActor(entry, people, what);
    if (action === "created") {
      if (!first) throw new Error(`${what}: is there already`);
      subject.alive = true;
    } else if (action === "restored") {
      if (subject.alive === true) throw new Error(`${what}: was not deleted`);
      subject.alive = true;
    } else {
      if (subject.alive === false) throw new Error(`${what}: is gone`);
      subject.alive = action !== "deleted";
    }
    if (action === "added" || action === "removed")
      setFlag(subject, "added", { value: action === "added", what });
    if (action === "entity_attached" || action === "entity_detached")
      setFlag(subject, "attached", { value: action === "entity_attached", what });
    expect(changes.length > 0, what).toBe(action === "updated");
    for (const { field, old_value, new_value } of changes) {
      if (field in subject.values) expect(subject.values[field], what).toBe(old_value);
      expect(new_value, what).not.toBe(old_value);
      subject.values[field] = new_value;
    }
    expect(timestamp, what).toBeLessThanOrEqual(0);
  }
  return subjects;
}

function setFlag(
  subject: Subject,
  flag: "added" | "attached",
  { value, what }: { value: boolean; what: string },
): void {
  if (subject[flag] === value) throw new Error(`${what}: it is so already`);
  subject[flag] = value;
}

function requireActor(
  { user_id, user_name, timestamp }: HistoryEntry | ChangeLog,
  people: People,
  what: string,
): void {
  if (user_id === "usr_system") return;
  const user = people.get(user_id);
  expect(user?.name, what).toBe(user_name);
  expect(user!.created_at, what).toBeLessThanOrEqual(timestamp);
}
