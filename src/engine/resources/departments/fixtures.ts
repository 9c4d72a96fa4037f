import { Type } from "typebox";
import type { Factory } from "../../contract/factory.ts";
import {
  createEntryFormat,
  type FixtureEntry,
  generateIds,
  readEntries,
} from "../../contract/fixture-entry.ts";
import { inventTeam } from "../../contract/invent.ts";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import { DAY_MS } from "../../state/clock.ts";
import { chooseOrganization, findAuthor } from "../organizations/access.ts";
import { users } from "../users/schema.ts";
import { derivePath } from "./rules.ts";
import { Department, departments } from "./schema.ts";

/** Path and depth follow from the parent; a fixture's reader passes both, since its world has no parents yet. */
export const makeDepartment: Factory<Department> = (fields, context) => {
  const { random, world, isFixture, now } = context;
  const id = fields.id ?? context.createId("dept_");
  const needsParent = fields.path === undefined && fields.parent_id != null;
  const parent = needsParent ? world.get(departments, fields.parent_id!) : undefined;
  const position = derivePath(id, parent);
  const organization_id = fields.organization_id ?? parent?.organization_id ?? chooseOrganization(context);
  const name = fields.name ?? inventTeam(context);
  const member_count = fields.member_count ?? (isFixture ? random.int(1, 30) : 0);
  const created_by = fields.created_by ?? context.actor_id ?? findAuthor(world, organization_id);
  return {
    id,
    name,
    description: fields.description ?? `${name} at a glance: people, plans and knowledge of the department.`,
    parent_id: fields.parent_id ?? null,
    path: fields.path ?? position.path,
    depth: fields.depth ?? position.depth,
    organization_id,
    member_count,
    is_active: fields.is_active ?? true,
    is_default: fields.is_default ?? false,
    color: fields.color ?? null,
    created_by,
    // A department is no older than the user who created it.
    created_at:
      fields.created_at ??
      (isFixture
        ? Math.max(-random.int(30, 300) * DAY_MS, world.get(users, created_by)?.created_at ?? -Infinity)
        : now),
  };
};

const entryFormat = createEntryFormat(Department, { required: ["id"], omit: ["path", "depth"] });
type Entry = FixtureEntry<typeof entryFormat>;

export const departmentsFixture: FixtureReader = {
  dependsOnSettings: ["locale"],
  keys: {
    departments: Type.Array(entryFormat.schema),
    // The reference world uses this key.
    globex_departments: Type.Array(entryFormat.schema, {
      description: "Shorthand for departments of org_globex",
    }),
  },
  generate: { departments: Type.Integer({ minimum: 0, maximum: 2_000_000 }) },
  check(fixture, report) {
    const entries = readDepartmentEntries(fixture);
    const entriesById = new Map(entries.map(({ entry }) => [entry.id, entry]));
    const withoutCycle = new Set<string>();
    for (const { entry, path } of entries) {
      const parent = entry.parent_id == null ? undefined : entriesById.get(entry.parent_id);
      if (parent && parent.organization_id !== entry.organization_id) {
        report([...path, "parent_id"], `${parent.id} belongs to another organization`);
      } else if (isOwnAncestor(entry, entriesById, withoutCycle)) {
        report([...path, "parent_id"], `${entry.id} would be its own ancestor`);
      }
    }
  },
  addRecords(fixture, base) {
    base.fill(departments, () => {
      const entries = readDepartmentEntries(fixture).map(({ entry }) => entry);
      const records = new Map<string, Department>();
      const entriesById = new Map(entries.map((entry) => [entry.id, entry]));
      for (const entry of entries) {
        const chain = [entry];
        // Climbs only up to a department that is already made, so that a long chain is walked once.
        for (let id = entry.parent_id; id != null && !records.has(id); id = chain.at(-1)!.parent_id) {
          chain.push(entriesById.get(id)!);
        }
        for (const ancestor of chain.reverse()) {
          if (!records.has(ancestor.id)) records.set(ancestor.id, toDepartment(ancestor, records, base));
        }
      }
      return [...records.values(), ...generateDepartments(fixture, base, entries)];
    });
  },
};

/** Lists the departments that the fixture names, with their paths in the document. */
function readDepartmentEntries(fixture: FixtureData): { entry: Entry; path: (string | number)[] }[] {
  const [first] = (fixture["organizations"] ?? []) as { id: string }[];
  return Object.entries({ departments: first?.id, globex_departments: "org_globex" }).flatMap(
    ([key, organization_id]) =>
      readEntries(fixture, key, entryFormat).map((entry, position) => ({
        entry: { organization_id, ...entry },
        path: [key, position],
      })),
  );
}

/** Whether the chain above an entry leads back to it; `withoutCycle` contains entries whose chain ends. */
function isOwnAncestor(
  entry: Entry,
  entriesById: ReadonlyMap<string, Entry>,
  withoutCycle: Set<string>,
): boolean {
  const chain = new Set<string>([entry.id]);
  let id = entry.parent_id;
  while (id != null && !withoutCycle.has(id)) {
    if (id === entry.id) return true;
    // A cycle further up is reported for its members.
    if (chain.has(id)) return false;
    chain.add(id);
    id = entriesById.get(id)?.parent_id;
  }
  for (const checkedId of chain) withoutCycle.add(checkedId);
  return false;
}

function toDepartment(
  entry: Entry,
  departmentsById: ReadonlyMap<string, Department>,
  base: BaseBuilder,
): Department {
  const parent = entry.parent_id == null ? undefined : departmentsById.get(entry.parent_id);
  const fields = { ...entryFormat.toFields(entry, base), ...derivePath(entry.id, parent) };
  const department = makeDepartment(fields, base.createContext("departments", entry.id));
  return fields.created_at === undefined ? limitAge(parent, department) : department;
}

/** Makes a department no older than its parent. */
function limitAge(parent: Department | undefined, department: Department): Department {
  if (parent === undefined || department.created_at >= parent.created_at) return department;
  return { ...department, created_at: parent.created_at };
}

/** The departments that `generate:` adds: a tree with eight children per node, in the first organization. */
function generateDepartments(
  fixture: FixtureData,
  base: BaseBuilder,
  entries: readonly Entry[],
): Department[] {
  const missingCount = Number(fixture.generate?.["departments"] ?? 0) - entries.length;
  const generated: Department[] = [];
  if (missingCount <= 0) return generated;
  const organization_id = chooseOrganization(base);
  for (const [i, id] of generateIds("dept_", missingCount, entries).entries()) {
    const parent = i === 0 ? undefined : generated[Math.floor((i - 1) / 8)];
    const fields = { id, parent_id: parent?.id ?? null, organization_id, ...derivePath(id, parent) };
    generated.push(limitAge(parent, makeDepartment(fields, base.createContext("departments", id))));
  }
  return generated;
}
