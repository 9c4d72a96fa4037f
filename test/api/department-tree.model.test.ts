import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createStateContext } from "../../src/engine/contract/factory.ts";
import { removeWithDependents } from "../../src/engine/contract/removal.ts";
import type { StateRules } from "../../src/engine/contract/resource.ts";
import { DEFAULT_SETTINGS } from "../../src/engine/contract/settings.ts";
import { buildBase } from "../../src/engine/fixtures/fixture.ts";
import { makeDepartment } from "../../src/engine/resources/departments/fixtures.ts";
import { reparentDepartment } from "../../src/engine/resources/departments/operations.ts";
import { departmentStateRules } from "../../src/engine/resources/departments/rules.ts";
import { type Department, departments } from "../../src/engine/resources/departments/schema.ts";
import { RESOURCES } from "../../src/engine/resources/index.ts";
import { makeClock } from "../../src/engine/state/clock.ts";
import type { Root } from "../../src/engine/state/tables.ts";
import { World } from "../../src/engine/state/world.ts";

/** The tree as a map from each department to its parent. */
type Model = Map<string, string | null>;

const FIXTURE = {
  organizations: [{ id: "org_one" }],
  users: [{ id: "usr_owner", memberships: { org_one: "owner" } }],
  departments: [
    { id: "dept_0" },
    { id: "dept_1", parent_id: "dept_0" },
    { id: "dept_2", parent_id: "dept_1" },
  ],
};
const rules = departmentStateRules as Required<StateRules<Department>>;
const ACTOR = { user_id: undefined, silent: true, settings: DEFAULT_SETTINGS };

type Command =
  | { kind: "move" | "patch"; id: string; parent: string | null }
  | { kind: "create"; id: string; parent: string | null }
  | { kind: "delete"; id: string };

const id = fc.integer({ min: 0, max: 11 }).map((n) => `dept_${n}`);
const parent = fc.option(id, { nil: null, freq: 5 });
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constantFrom("move" as const, "patch" as const), id, parent }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("create" as const), id, parent }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), id }) },
);

let root: Root;
let worlds: World[] = [];
beforeEach(() => {
  root = buildBase(FIXTURE, 1, RESOURCES);
});
afterEach(() => {
  for (const world of worlds) world.close();
  worlds = [];
});

function makeWorld(): World {
  const world = new World({
    root,
    clock: makeClock("frozen", 0, 0),
    origin: 0,
    seed: 1,
    secretKey: "model",
    wallClock: () => 0,
    parts: { timerHandlers: {}, onEmit: () => {}, onCommit: () => {} },
  });
  worlds.push(world);
  return world;
}

function listChain(model: Model, start: string): string[] {
  const chain = [];
  for (let at: string | null | undefined = start; at != null; at = model.get(at)) chain.unshift(at);
  return chain;
}

/** Applies the command to the model if it is valid, and returns whether it is. */
function applyToModel(model: Model, command: Command): boolean {
  const { kind, id } = command;
  if (kind === "delete") {
    if (!model.has(id)) return false;
    const doomed = [...model.keys()].filter((other) => listChain(model, other).includes(id));
    for (const other of doomed) model.delete(other);
    return true;
  }
  const { parent } = command;
  if (parent !== null && !model.has(parent)) return false;
  if (kind === "create" ? model.has(id) : !model.has(id)) return false;
  if (kind !== "create" && parent !== null && listChain(model, parent).includes(id)) return false;
  model.set(id, parent);
  return true;
}

/** Applies the command to the world: by the operation itself, or by the rules of the state calls. */
function applyToWorld(world: World, command: Command): boolean {
  const { kind, id } = command;
  try {
    world.transact((tx) => {
      const found = tx.get(departments, id);
      if (kind === "create") {
        if (found !== undefined) throw new Error("in use");
        const fields = { id, parent_id: command.parent, organization_id: "org_one" };
        const making = createStateContext(tx, { random: tx.random("model"), settings: DEFAULT_SETTINGS });
        return rules.insert(tx, makeDepartment(fields, making), ACTOR);
      }
      if (kind === "delete") {
        if (found === undefined) throw new Error("unknown");
        rules.beforeRemove(tx, found, ACTOR);
        return removeWithDependents(tx, departments, found.id);
      }
      if (kind === "patch") {
        if (found === undefined) throw new Error("unknown");
        const given = { parent_id: command.parent };
        return rules.update(tx, found, { ...found, ...given }, ACTOR, given);
      }
      const call = {
        params: { organization_id: "org_one", department_id: id },
        body: { new_parent_id: command.parent },
        principal: { user_id: "usr_owner" },
        world: tx,
      } as unknown as Parameters<typeof reparentDepartment.handle>[0];
      return reparentDepartment.handle(call, reparentDepartment.access!(call), undefined);
    });
    return true;
  } catch {
    return false;
  }
}

function expectSame(world: World, model: Model): void {
  const actual = [...world.read().all(departments)].map(({ id, parent_id, path, depth }) => [
    id,
    parent_id,
    path,
    depth,
  ]);
  const expected = [...model.keys()].sort().map((id) => {
    const chain = listChain(model, id);
    return [id, model.get(id), chain.join("/"), chain.length - 1];
  });
  expect(actual).toEqual(expected);
}

it("the department tree equals a simple model in 1,000 sequences of up to 40 commands [3.5]", () => {
  fc.assert(
    fc.property(fc.array(command, { minLength: 1, maxLength: 40, size: "max" }), (commands) => {
      const world = makeWorld();
      const model: Model = new Map(FIXTURE.departments.map(({ id, parent_id = null }) => [id, parent_id]));
      for (const command of commands) {
        const before = world.root;
        const accepted = applyToModel(model, command);
        expect(applyToWorld(world, command)).toBe(accepted);
        // A refusal must not make a new version, even an equal one.
        if (!accepted) expect(world.root).toBe(before);
      }
      expectSame(world, model);
    }),
    { numRuns: 1000 },
  );
});
