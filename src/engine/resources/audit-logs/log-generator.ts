import type { FactoryContext } from "../../contract/factory.ts";
import type { Random } from "../../state/random.ts";
import { SYSTEM_USER_ID } from "../organizations/access.ts";
import type { User } from "../users/schema.ts";
import {
  accountChange,
  administers,
  byAge,
  type Change,
  change,
  interleave,
  lifeDrawer,
  moved,
  type Present,
  pickBefore,
} from "./lives.ts";
import type { AuditLog } from "./schema.ts";

const HALF_YEAR_MS = 180 * 86_400_000;
const MAX_GAP_MS = 3 * 3_600_000;
const MAX_TRIES = 8;

interface Event {
  at: number;
  change: Change;
  /** The actor, if a record names one. */
  creator?: User | undefined;
}

/**
 * The newest entries of an organization's log, newest first. Each thing of the present that began within the log is
 * created at its instant; between these entries stand whole lives: of things that are gone today, and of changes that
 * were reverted. So the log ends in the present wherever it begins. The newest `given` entries are the fixture's, and
 * only their instants are needed, in milliseconds of the sandbox's origin.
 */
export function generateLog(
  present: Present,
  context: FactoryContext,
  { count, given }: { count: number; given: number },
): { given: readonly number[]; generated: AuditLog[] } {
  const { random } = context;
  const { organization_id, people } = present;
  const oldest = people.reduce((least, { created_at }) => Math.min(least, created_at), 0);
  const span = oldest < 0 ? Math.min(HALF_YEAR_MS, -oldest) : HALF_YEAR_MS;
  const gap = Math.max(1, Math.min(MAX_GAP_MS, Math.floor(span / count)));
  const instants = Array.from({ length: count }, (_, n) => -(n * gap + random.int(1, gap)));
  const fixed = fixedEvents(present, random, -(count + 1) * gap);
  const free: number[] = [];
  for (let n = given, passed = 0; free.length + passed < count - given; n++) {
    free.push(instants[n]!);
    while (passed < fixed.length && fixed.at(-1 - passed)!.at >= instants[n]!) passed++;
  }
  const nextLife = lifeDrawer(present, context);
  const changes = interleave(free.length, random, ({ oldest, isFree }) => nextLife(free[oldest]!, isFree));
  const events: Event[] = changes.map((change, place) => ({ at: free[place]!, change })).reverse();
  // The sort is stable: of one instant, what was fixed comes first, parents before their children.
  const all = [...fixed, ...events].sort((a, b) => a.at - b.at);
  const log = all.slice(all.length - Math.min(all.length, count - given));
  const isActor = (user: User) => user.account === "active" && administers(user, organization_id);
  const actors = byAge(people.filter(isActor));
  const generated = log.reverse().map(({ at, change, creator }, n) => {
    const { entity, target, ...values } = change;
    const actor = creator ?? pickActor(actors, random, { at, not: entity.id });
    return {
      id: logId(organization_id, given + n),
      organization_id,
      timestamp: at,
      entity_type: values.entity_type,
      entity_id: entity.id,
      entity_name: entity.name,
      action: values.action,
      actor_id: actor.id,
      actor_name: actor.name,
      actor_email: actor.email,
      target_id: target?.id ?? null,
      target_name: target?.name ?? null,
      department_id: values.department_id ?? null,
      previous_value: values.previous_value ?? null,
      new_value: values.new_value ?? null,
    };
  });
  return { given: instants.slice(0, given), generated };
}

/** Of the n-th newest entry, counted from 0. */
export function logId(organization_id: string, n: number): string {
  return `log_${organization_id.slice("org_".length)}_${String(n + 1).padStart(6, "0")}`;
}

/** Lists the events since an instant that the records of the present prove, the oldest first. */
function fixedEvents({ people, departments, stores }: Present, random: Random, since: number): Event[] {
  const users = new Map(people.map((user) => [user.id, user]));
  const places = new Map(departments.map((department) => [department.id, department]));
  const lastActs = new Map<string, number>();
  const findCreator = (id: string, at: number) => {
    const user = users.get(id);
    if (user === undefined || user.created_at > at) return undefined;
    lastActs.set(id, Math.max(at, lastActs.get(id) ?? at));
    return user;
  };
  const events: Event[] = people.map((user) => ({
    at: user.created_at,
    change: change("user", "created", user),
  }));
  for (const department of [...departments].sort((a, b) => a.depth - b.depth)) {
    const { id, created_at: at, created_by, parent_id } = department;
    const creator = findCreator(created_by, at);
    events.push({ at, creator, change: change("department", "created", department, { department_id: id }) });
    const parent = places.get(parent_id ?? "");
    // It was at the top until its parent was there.
    if (parent && parent.created_at > at)
      events.push({ at: parent.created_at, change: moved(department, null, parent) });
  }
  for (const store of stores)
    events.push({ at: store.created_at, change: change("vector_store", "created", store) });
  for (const user of people) {
    if (user.account === "active") continue;
    const latest = Math.max(since, user.created_at, lastActs.get(user.id) ?? since);
    const at = latest + Math.floor(-latest * random.float());
    events.push({ at, change: accountChange(user, "active", user.account) });
  }
  return events.filter(({ at }) => at >= since).sort((a, b) => a.at - b.at);
}

const SYSTEM = { id: SYSTEM_USER_ID, name: "System", email: "" };

/** An owner or admin who was there by then; the service itself before there was one. */
function pickActor(
  sorted: readonly User[],
  random: Random,
  { at, not }: { at: number; not: string },
): Pick<User, "id" | "name" | "email"> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = pickBefore(sorted, random, at);
    if (found === undefined) return SYSTEM;
    if (found.id !== not) return found;
  }
  return SYSTEM;
}
