import Type, { type Static } from "typebox";
import type { BaseBuilder, FixtureData, FixtureReader } from "../../contract/resource.ts";
import { Id, Nullable, Timestamp, UserId } from "../../contract/schema.ts";
import { firstOrganization, ownerOf } from "../organizations/of-fixture.ts";
import { placeUnder } from "./rules.ts";
import { type Department, departments } from "./schema.ts";

const DepartmentEntry = Type.Object(
  {
    id: Id("dept_"),
    name: Type.Optional(Type.String({ minLength: 1 })),
    description: Type.Optional(Type.String()),
    parent_id: Type.Optional(Nullable(Id("dept_"))),
    organization_id: Type.Optional(Id("org_")),
    member_count: Type.Optional(Type.Integer({ minimum: 0 })),
    is_active: Type.Optional(Type.Boolean()),
    is_default: Type.Optional(Type.Boolean()),
    color: Type.Optional(Nullable(Type.String({ pattern: "^#[0-9a-f]{6}$" }))),
    created_by: Type.Optional(UserId()),
    created_at: Type.Optional(Timestamp()),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof DepartmentEntry>;

const DAY = 86_400_000;
export const NAMES = [
  "Support",
  "Design",
  "Research",
  "Legal",
  "Finance",
  "Field",
  "Data",
  "Security",
  "People",
  "Growth",
];

export const departmentsFixture: FixtureReader = {
  keys: {
    departments: Type.Array(DepartmentEntry),
    globex_departments: Type.Array(DepartmentEntry, {
      description: "Shorthand for departments of org_globex",
    }),
  },
  generate: { departments: Type.Integer({ minimum: 0, maximum: 2_000_000 }) },
  check(fixture, report) {
    const known = new Map(departmentEntries(fixture).map(({ entry }) => [entry.id, entry]));
    const sound = new Set<string>();
    for (const { entry, path } of departmentEntries(fixture)) {
      const parent = entry.parent_id == null ? undefined : known.get(entry.parent_id);
      if (entry.parent_id != null && parent === undefined) {
        report([...path, "parent_id"], `there is no department ${entry.parent_id}`);
      } else if (parent && parent.organization_id !== entry.organization_id) {
        report([...path, "parent_id"], `${parent.id} belongs to another organization`);
      } else if (isOwnAncestor(entry, known, sound)) {
        report([...path, "parent_id"], `${entry.id} would be its own ancestor`);
      }
    }
  },
  seed(fixture, base) {
    base.fill(departments, () => {
      const entries = departmentEntries(fixture).map(({ entry }) => entry);
      const records = new Map<string, Department>();
      const known = new Map(entries.map((entry) => [entry.id, entry]));
      for (const entry of entries) {
        const missing = [entry];
        // Climbs only to what is there already, so that a long chain costs its length once.
        for (let id = entry.parent_id; id != null && !records.has(id); id = missing.at(-1)!.parent_id) {
          missing.push(known.get(id)!);
        }
        for (const next of missing.reverse()) {
          if (!records.has(next.id)) records.set(next.id, complete(next, records, { fixture, base }));
        }
      }
      return [...records.values(), ...generated(fixture, base, records.size)];
    });
  },
};

type Placed = Entry & { organization_id: string };

/** What the fixture names one by one, with where it stands there. */
export function departmentEntries(fixture: FixtureData): { entry: Placed; path: (string | number)[] }[] {
  const read = (key: string, organization_id: string) =>
    ((fixture[key] ?? []) as Entry[]).map((entry, position) => ({
      entry: { organization_id, ...entry },
      path: [key, position],
    }));
  return [...read("departments", firstOrganization(fixture)), ...read("globex_departments", "org_globex")];
}

/** Whether the chain above an entry comes back to it; `sound` remembers those whose chain ends. */
function isOwnAncestor(entry: Placed, known: ReadonlyMap<string, Placed>, sound: Set<string>): boolean {
  const chain = new Set<string>([entry.id]);
  let id = entry.parent_id;
  while (id != null && !sound.has(id)) {
    if (id === entry.id) return true;
    // A ring further up is reported for those who are in it.
    if (chain.has(id)) return false;
    chain.add(id);
    id = known.get(id)?.parent_id;
  }
  for (const passed of chain) sound.add(passed);
  return false;
}

function complete(
  entry: Placed,
  records: ReadonlyMap<string, Department>,
  { fixture, base }: { fixture: FixtureData; base: BaseBuilder },
): Department {
  const random = base.random("departments", entry.id);
  const name = entry.name ?? random.pick(NAMES);
  return {
    id: entry.id,
    name,
    description: entry.description ?? `${name} at a glance: people, plans and knowledge of the department.`,
    parent_id: entry.parent_id ?? null,
    ...placeUnder(entry.id, entry.parent_id == null ? undefined : records.get(entry.parent_id)),
    organization_id: entry.organization_id,
    member_count: entry.member_count ?? random.int(1, 30),
    is_active: entry.is_active ?? true,
    is_default: entry.is_default ?? false,
    color: entry.color ?? null,
    created_by: entry.created_by ?? ownerOf(fixture, entry.organization_id),
    created_at: entry.created_at ? base.instant(entry.created_at) : -random.int(30, 300) * DAY,
  };
}

/** Departments that `generate:` asks for beyond those given: a tree eight wide, in the first organization. */
function generated(fixture: FixtureData, base: BaseBuilder, present: number): Department[] {
  const wanted = Number(fixture.generate?.["departments"] ?? 0) - present;
  const made: Department[] = [];
  const organization_id = firstOrganization(fixture);
  for (let i = 0; i < wanted; i++) {
    const parent = i === 0 ? undefined : made[Math.floor((i - 1) / 8)];
    const id = `dept_gen${String(i).padStart(7, "0")}`;
    const placed = { id, parent_id: parent?.id ?? null, organization_id };
    const records = new Map(parent ? [[parent.id, parent]] : []);
    made.push(complete(placed, records, { fixture, base }));
  }
  return made;
}
