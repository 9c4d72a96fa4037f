import { describe, expect, it } from "vitest";
import { useReference } from "../support/use-reference.ts";

const api = useReference();

interface Entry {
  what: string;
  action: string;
  timestamp: string;
}

/** Actions that undo another action, with that action. */
const UNDOES: Readonly<Record<string, string>> = {
  restored: "deleted",
  removed: "added",
  entity_detached: "entity_attached",
  reactivated: "deactivated",
  unassigned: "assigned",
  membership_removed: "membership_added",
};

/** Entries that undo an action which has not happened, or concern a missing object, oldest first. */
function findImpossible(sortNewestFirst: readonly Entry[], isPresent: (what: string) => boolean): string[] {
  const done = new Map<string, string[]>();
  const impossible: string[] = [];
  for (const { what, action } of sortNewestFirst.toReversed()) {
    const before = done.get(what) ?? [];
    const undone = UNDOES[action];
    const isGone = before.at(-1) === "deleted" && action !== "restored";
    const isBorn = before.includes("created") || isPresent(what);
    if (action === "created" || action === "invited") {
      if (before.includes("created")) impossible.push(`${what} is created twice`);
    } else if (isGone || !isBorn || (undone !== undefined && before.at(-1) === action))
      impossible.push(`${what} is ${action} after ${before.join(", ") || "nothing"}`);
    else if (undone !== undefined && !before.includes(undone))
      impossible.push(`${what} is ${action} without ${undone}`);
    done.set(what, [...before, action]);
  }
  return impossible;
}

const SIZES = [1, 2, 3, 5, 8, 13, 35, 36, 37, 60, 130];

describe("a generated log", () => {
  it.each(Array.from({ length: 50 }, (_, seed) => seed + 1))(
    "has no entry that undoes an action which has not happened, with seed %i [G40]",
    async (seed) => {
      const size = SIZES[seed % SIZES.length]!;
      const name = `logs-${seed}`;
      const fixture = {
        organizations: [{ id: "org_a" }],
        users: 4,
        departments: 5,
        vector_stores: 2,
        assistants: [
          { id: "asst_old", history: { created: 1, updated: 6, deleted: 1 } },
          { id: "asst_now", history: { created: 1, updated: 3 } },
        ],
        audit_log: { org_a: size },
        dashboard_change_logs: { org_a: size },
      };
      const created = await api.call(undefined, "POST", "/_control/sandboxes", { name, fixture, seed });
      expect(created.status, created.text).toBe(201);
      const list = async (collection: string) =>
        (await api.call(undefined, "GET", `/_control/sandboxes/${name}/state/${collection}`)).body.items;
      const listIds = async (...collections: string[]) =>
        new Set((await Promise.all(collections.map(list))).flat().map(({ id }) => id));

      const changes: Record<string, string>[] = await list("change_logs");
      expect(changes).toHaveLength(size);
      const assistants = await listIds("assistants");
      const changed = changes.map(({ resource_id, action, timestamp }) => ({
        ...{ what: resource_id!, action: action!, timestamp: timestamp! },
      }));
      expect(findImpossible(sortNewestFirst(changed), (id) => assistants.has(id))).toEqual([]);

      const audited: Record<string, string>[] = await list("audit_logs");
      expect(audited).toHaveLength(size);
      const present = await listIds("users", "departments", "vector_stores");
      const entries = audited.map(({ entity_type, entity_id, action, timestamp, target_id }) => {
        const isTie = ["role_assignment", "department_membership", "permission", "knowledge_grant"];
        const what = isTie.includes(entity_type!) ? `${entity_type} ${entity_id} ${target_id}` : entity_id!;
        const renamed = entity_type === "knowledge_grant" && action === "removed" ? "deleted" : action!;
        const isEnd = entity_type === "user" && action === "removed";
        return { what, action: isEnd ? "deleted" : renamed, timestamp: timestamp! };
      });
      const isTie = (what: string) => what.includes(" ") && !what.startsWith("knowledge_grant");
      expect(findImpossible(sortNewestFirst(entries), (what) => present.has(what) || isTie(what))).toEqual(
        [],
      );

      await api.call(undefined, "DELETE", `/_control/sandboxes/${name}`);
    },
  );
});

/** Sorts by time. Entries of one instant keep their order. */
function sortNewestFirst(entries: readonly Entry[]): Entry[] {
  return entries.toSorted((a, b) => b.timestamp.localeCompare(a.timestamp));
}
