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
const NAMES = [
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
    const known = new Map(entriesOf(fixture).map(({ entry }) => [entry.id, entry]));
    for (const { entry, path } of entriesOf(fixture)) {
      const parent = entry.parent_id == null ? undefined : known.get(entry.parent_id);
      if (entry.parent_id != null && parent === undefined) {
        report([...path, "parent_id"], `there is no department ${entry.parent_id}`);
      } else if (parent && parent.organization_id !== entry.organization_id) {
        report([...path, "parent_id"], `${parent.id} belongs to another organization`);
      } else if (parent && ancestors(entry, known).includes(entry.id)) {
        report([...path, "parent_id"], `${entry.id} would be its own ancestor`);
      }
    }
  },
  seed(fixture, base) {
    base.fill(departments, () => {
      const entries = entriesOf(fixture).map(({ entry }) => entry);
      const records = new Map<string, Department>();
      const known = new Map(entries.map((entry) => [entry.id, entry]));
      for (const entry of entries) {
        for (const id of [...ancestors(entry, known).reverse(), entry.id]) {
          if (!records.has(id)) records.set(id, complete(known.get(id)!, records, { fixture, base }));
        }
      }
      return [...records.values(), ...generated(fixture, base, records.size)];
    });
  },
};

type Placed = Entry & { organization_id: string };

function entriesOf(fixture: FixtureData): { entry: Placed; path: (string | number)[] }[] {
  const read = (key: string, organization_id: string) =>
    ((fixture[key] ?? []) as Entry[]).map((entry, position) => ({
      entry: { organization_id, ...entry },
      path: [key, position],
    }));
  return [...read("departments", firstOrganization(fixture)), ...read("globex_departments", "org_globex")];
}

/** Ids above an entry, nearest first; ends where a chain closes on itself. */
function ancestors(entry: Placed, known: ReadonlyMap<string, Placed>): string[] {
  const chain: string[] = [];
  for (let id = entry.parent_id; id != null && !chain.includes(id); id = known.get(id)?.parent_id)
    chain.push(id);
  return chain;
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
