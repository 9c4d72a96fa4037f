import type { FactoryContext } from "../../contract/factory.ts";
import { inventEmail, inventJob, inventName, inventTeam, inventTitle } from "../../contract/invent.ts";
import { DAY_MS, HOUR_MS } from "../../state/clock.ts";
import type { Random } from "../../state/random.ts";
import type { Department } from "../departments/schema.ts";
import { hasAdministratorRole, SYSTEM_USER_ID } from "../organizations/access.ts";
import type { User } from "../users/schema.ts";
import type { VectorStore } from "../vector-stores/schema.ts";
import { interleave, type Lifecycle, type LifecycleContext } from "./lifecycles.ts";
import {
  type AuditChange,
  makeAccountChange,
  makeAssignmentSteps,
  makeCapabilityChange,
  makeChange,
  makeGrantSteps,
  makeMembershipSteps,
  makeMove,
  makeUpdate,
  type NamedObject,
} from "./log-changes.ts";
import { toAuditLog } from "./rules.ts";
import type { AuditLog, EntityType } from "./schema.ts";

const HALF_YEAR_MS = 180 * DAY_MS;
const MAX_GAP_MS = 3 * HOUR_MS;
const MAX_TRIES = 8;

/** The organization as the fixture describes it: the state at the end of its log (G40). */
export interface FinalState {
  organization_id: string;
  people: readonly User[];
  departments: readonly Department[];
  stores: readonly VectorStore[];
}

interface LogEvent {
  at: number;
  change: AuditChange;
  /** The actor, if the created record names one. */
  creator?: User | undefined;
}

/**
 * Generates the newest `count` entries of an organization's log, newest first. An object that exists at the end is created at
 * its own instant. The other entries are complete lifecycles: an object is created and deleted, or a change is made and
 * reverted. So the log leads to the current state, wherever it begins. The newest `givenCount` entries are the fixture's own;
 * only their instants are returned, in milliseconds from the sandbox's origin.
 */
export function generateLog(
  finalState: FinalState,
  context: FactoryContext,
  { count, givenCount, makeId }: { count: number; givenCount: number; makeId: (n: number) => string },
): { instantsOfGiven: readonly number[]; generatedEntries: AuditLog[] } {
  const { random } = context;
  const { organization_id, people } = finalState;
  const firstCreation = people.reduce((earliest, { created_at }) => Math.min(earliest, created_at), 0);
  const span = firstCreation < 0 ? Math.min(HALF_YEAR_MS, -firstCreation) : HALF_YEAR_MS;
  const interval = Math.max(1, Math.min(MAX_GAP_MS, Math.floor(span / count)));
  const instants = Array.from({ length: count }, (_, n) => -(n * interval + random.int(1, interval)));
  const generatedInstants = instants.slice(givenCount);
  const finalEvents = listFinalEvents(finalState, random, -(count + 1) * interval);
  const drawLifecycle = createLifecycleGenerator(finalState, context);
  const lifecycleChanges = interleave(
    Math.max(0, generatedInstants.length - finalEvents.length),
    ({ earliest, ...limits }) => drawLifecycle(generatedInstants[earliest]!, limits),
  );
  const lifecycleEvents = lifecycleChanges
    .map((change, position): LogEvent => ({ at: generatedInstants[position]!, change }))
    .reverse();
  // The sort is stable: at one instant, existing objects come first, parents before their children.
  const events = [...finalEvents, ...lifecycleEvents].sort((a, b) => a.at - b.at);
  const log = events.slice(events.length - generatedInstants.length);
  const administrators = sortByAge(
    people.filter((user) => user.account === "active" && hasAdministratorRole(user, organization_id)),
  );
  const generatedEntries = log.reverse().map(({ at, change, creator }, n) => {
    const actor = creator ?? pickAdministrator(administrators, random, { at, excluded: change.entity.id });
    const id = makeId(givenCount + n);
    return toAuditLog(change, { id, organization_id, timestamp: at, actor });
  });
  return { instantsOfGiven: instants.slice(0, givenCount), generatedEntries };
}

/** The id of the n-th newest entry, counted from 0. */
export function toLogId(organization_id: string, n: number): string {
  return `log_${organization_id.slice("org_".length)}_${String(n + 1).padStart(6, "0")}`;
}

/** Lists the events since an instant that follow from the records of the final state, unordered. */
function listFinalEvents(
  { people, departments, stores }: FinalState,
  random: Random,
  since: number,
): LogEvent[] {
  const users = new Map(people.map((user) => [user.id, user]));
  const departmentsById = new Map(departments.map((department) => [department.id, department]));
  const lastCreations = new Map<string, number>();
  const events = people.map(
    (user): LogEvent => ({ at: user.created_at, change: makeChange("user", "created", user) }),
  );
  for (const department of departments.toSorted((a, b) => a.depth - b.depth)) {
    const { created_at: at, created_by, parent_id } = department;
    const user = users.get(created_by);
    const creator = user && user.created_at <= at ? user : undefined;
    if (creator) lastCreations.set(creator.id, Math.max(at, lastCreations.get(creator.id) ?? at));
    events.push({ at, creator, change: makeChange("department", "created", department) });
    const parent = departmentsById.get(parent_id ?? "");
    // The department was top-level until its parent existed.
    if (parent && parent.created_at > at)
      events.push({ at: parent.created_at, change: makeMove(department, null, parent) });
  }
  for (const store of stores)
    events.push({ at: store.created_at, change: makeChange("vector_store", "created", store) });
  for (const user of people.filter(({ account }) => account !== "active")) {
    const earliest = Math.max(since, user.created_at, lastCreations.get(user.id) ?? since);
    const at = earliest + Math.floor(-earliest * random.float());
    events.push({ at, change: makeAccountChange(user, "active", user.account) });
  }
  return events.filter(({ at }) => at >= since);
}

/** Picks an owner or admin who existed before `at` and is not the changed object itself; if none is found, the service itself. */
function pickAdministrator(
  byAge: readonly User[],
  random: Random,
  { at, excluded }: { at: number; excluded: string },
): Pick<User, "id" | "name" | "email"> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const candidate = pickBefore(byAge, random, at);
    if (candidate === undefined) break;
    if (candidate.id !== excluded) return candidate;
  }
  return { id: SYSTEM_USER_ID, name: "System", email: "" };
}

/** Draws a lifecycle that begins at `at` or later. */
type DrawLifecycle = (at: number) => Lifecycle<AuditChange> | undefined;

const CAPABILITIES = ["report-create", "store-manage", "member-invite"];

/**
 * Draws lifecycles, each kind in turn: of objects that were deleted, and of changes to existing objects that were
 * reverted. A lifecycle refers only to records that were created before `at`.
 */
function createLifecycleGenerator(finalState: FinalState, context: FactoryContext) {
  const { random } = context;
  const { organization_id } = finalState;
  const departments = sortByAge(finalState.departments);
  const people = sortByAge(finalState.people);
  const pick = <T extends { created_at: number }>(list: readonly T[], at: number) =>
    pickBefore(list, random, at);
  const sometimes = (changes: AuditChange[]) => (random.chance(0.6) ? changes : []);
  let lastNumber = 0;
  const inventObject = (prefix: string, name: string): NamedObject => ({
    id: `${prefix}former_${organization_id.slice("org_".length)}_${++lastNumber}`,
    name,
  });

  const drawUser: DrawLifecycle = (at) => {
    const user = inventObject("usr_", inventName(context));
    const email = inventEmail(user.name, user.id, context);
    const department = pick(departments, at);
    return {
      steps: [
        makeChange("user", "invited", user),
        makeChange("user", "created", user),
        ...sometimes([makeUpdate("user", user, { email }, { email: email.replace("@", ".2@") })]),
        ...sometimes(department ? makeMembershipSteps(department, user) : []),
        ...sometimes([
          makeAccountChange(user, "active", "disabled"),
          makeAccountChange(user, "disabled", "active"),
        ]),
        makeChange("user", random.pick(["deleted", "removed"]), user),
      ],
    };
  };
  const drawDepartment: DrawLifecycle = (at) => {
    const department = inventObject("dept_", inventTeam(context));
    const [oldParent, newParent, user] = [pick(departments, at), pick(departments, at), pick(people, at)];
    // If both are the same, the department was top-level before.
    const previousId = oldParent && oldParent !== newParent ? oldParent.id : null;
    const [before, after] = [{ description: "Being set up." }, { description: department.name }];
    return {
      steps: [
        makeChange("department", "created", department),
        ...sometimes([makeUpdate("department", department, before, after)]),
        ...(newParent ? [makeMove(department, previousId, newParent)] : []),
        ...sometimes(user ? makeMembershipSteps(department, user) : []),
        makeChange("department", "deleted", department),
      ],
    };
  };
  /** An object that is created, added to another one and removed from it, and deleted. */
  const drawObject = (
    [entity_type, prefix]: [EntityType, string],
    attach: (entity: NamedObject, at: number) => AuditChange[] = () => [],
  ): DrawLifecycle => {
    return (at) => {
      const entity = inventObject(prefix, entity_type === "role" ? inventJob(context) : inventTitle(context));
      const draft = { id: entity.id, name: `${entity.name} (draft)` };
      return {
        steps: [
          makeChange(entity_type, "created", draft),
          makeUpdate(entity_type, entity, { name: draft.name }, { name: entity.name }),
          ...attach(entity, at),
          makeChange(entity_type, "deleted", entity),
        ],
      };
    };
  };
  const drawMembership: DrawLifecycle = (at) => {
    const [department, user] = [pick(departments, at), pick(people, at)];
    if (department === undefined || user === undefined) return undefined;
    return { key: `member ${department.id} ${user.id}`, steps: makeMembershipSteps(department, user) };
  };
  const drawPermission: DrawLifecycle = (at) => {
    const user = pick(people, at);
    const name = random.pick(CAPABILITIES);
    // Owners and admins have every capability (G02), so it is granted to others.
    if (user === undefined || hasAdministratorRole(user, organization_id)) return undefined;
    const isGranted = user.capabilities[organization_id]?.includes(name) ?? false;
    return {
      key: `permission ${name} ${user.id}`,
      steps: [makeCapabilityChange(name, user, !isGranted), makeCapabilityChange(name, user, isGranted)],
    };
  };
  const drawMove: DrawLifecycle = (at) => {
    const department = pick(departments, at);
    const parent = finalState.departments.find(({ id }) => id === department?.parent_id);
    if (department === undefined || parent === undefined || parent.created_at >= at) return undefined;
    return {
      key: `parent ${department.id}`,
      steps: [makeMove(department, parent.id, undefined), makeMove(department, null, parent)],
    };
  };
  const kinds: readonly DrawLifecycle[] = [
    drawUser,
    drawMembership,
    drawDepartment,
    drawPermission,
    drawObject(["role", "role_"], (role, at) => makeAssignmentSteps(role, pick(people, at))),
    drawObject(["knowledge_slice", "kslice_"], (slice, at) => makeGrantSteps(slice, pick(departments, at))),
    drawMove,
    drawObject(["vector_store", "vs_"]),
    drawObject(["knowledge_composite", "kcomp_"]),
  ];
  let nextKind = 0;
  return (at: number, { maxSteps, isFree }: Omit<LifecycleContext, "earliest">): Lifecycle<AuditChange> => {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const lifecycle = kinds[nextKind++ % kinds.length]!(at);
      const isUsable = lifecycle?.key === undefined || isFree(lifecycle.key);
      if (lifecycle !== undefined && isUsable && lifecycle.steps.length <= maxSteps) return lifecycle;
    }
    // If no lifecycle fits: an invitation that was not accepted.
    return { steps: [makeChange("user", "invited", inventObject("usr_", inventName(context)))] };
  };
}

function sortByAge<T extends { created_at: number }>(records: readonly T[]): readonly T[] {
  return records.toSorted((a, b) => a.created_at - b.created_at);
}

/** Picks a record that existed before an instant; `records` are sorted by age. */
function pickBefore<T extends { created_at: number }>(
  records: readonly T[],
  random: Random,
  at: number,
): T | undefined {
  let [low, high] = [0, records.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (records[middle]!.created_at < at) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? undefined : records[random.int(0, low - 1)];
}
