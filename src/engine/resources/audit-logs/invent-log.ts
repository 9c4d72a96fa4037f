import type { Random } from "../../state/random.ts";
import { SYSTEM_USER_ID } from "../organizations/people.ts";
import { HAPPENINGS } from "./happenings.ts";
import { Past, type Person, type Present, type Told } from "./past.ts";
import type { AuditLog } from "./schema.ts";
import { setAccount, unmakeDepartment, unmakePerson, unmakeThing } from "./undo.ts";

const HALF_YEAR_MS = 180 * 86_400_000;
const MAX_GAP_MS = 3 * 3_600_000;
const MAX_TRIES = 20;

/** Something that is there today, and began at an instant that the log reaches back to. */
interface Birth {
  at: number;
  /** What began at the same instant comes about in this order. */
  rank: number;
  creator?: string;
  undo: (past: Past) => Told[];
}

/**
 * The newest entries of an organization's log, newest first: a walk back from the present through operations that
 * were legal (G40). Who is there today was created when their record says; all others came and went. The newest are
 * `given` by the fixture, which needs but their instants, in milliseconds of the sandbox's origin.
 */
export function inventLog(
  present: Present,
  random: Random,
  { count, given }: { count: number; given: number },
): { given: readonly number[]; invented: AuditLog[] } {
  const past = new Past(present);
  const gap = Math.max(1, Math.min(MAX_GAP_MS, Math.floor(spanOf(present) / count)));
  const instant = (n: number) => -(n * gap + random.int(1, gap));
  const instants = Array.from({ length: given }, (_, n) => instant(n));
  const births = birthsOf(present, -(count + 1) * gap);
  const entries: AuditLog[] = [];
  const { organization_id } = present;
  const telling = { past, random, organization_id, given, entries };
  for (let n = given; entries.length < count - given; n++) {
    const timestamp = instant(n);
    while (entries.length < count && (births.at(-1)?.at ?? Number.NEGATIVE_INFINITY) >= timestamp) {
      const birth = births.pop()!;
      const { at } = birth;
      const creator = past.people.get(birth.creator ?? "");
      // Whoever is out of service by now was not yet when they made it.
      if (creator && creator.account !== "active") tell(telling, at, [setAccount(past, creator, "active")]);
      tell(telling, at, birth.undo(past), creator);
    }
    tell(telling, timestamp, latest(past, random, n - given));
  }
  return { given: instants, invented: entries.slice(0, count - given) };
}

/** Nobody was there to do anything before the first of today's people. */
function spanOf({ people }: Present): number {
  const oldest = people.reduce((least, { created_at }) => Math.min(least, created_at), 0);
  return oldest < 0 ? Math.min(HALF_YEAR_MS, -oldest) : HALF_YEAR_MS;
}

/** Those since an instant, the oldest first. */
function birthsOf({ people, departments, stores }: Present, since: number): Birth[] {
  const births: Birth[] = [];
  const recent = <T extends { created_at: number }>(list: readonly T[]) =>
    list.filter(({ created_at }) => created_at >= since);
  for (const { id, created_at } of recent(people))
    births.push({ at: created_at, rank: 0, undo: (past) => unmakePerson(past, past.people.get(id)!) });
  for (const { id, created_at, created_by, depth } of recent(departments))
    births.push({
      at: created_at,
      rank: 1 + depth,
      creator: created_by,
      undo: (past) => unmakeDepartment(past, past.departments.get(id)!),
    });
  for (const { id, created_at } of recent(stores))
    births.push({ at: created_at, rank: 1, undo: (past) => storeCreated(past, id) });
  return births.sort((a, b) => a.at - b.at || a.rank - b.rank);
}

function storeCreated(past: Past, id: string): Told[] {
  return unmakeThing(past, "vector_store", { thing: past.stores.get(id)!, roster: past.stores });
}

/** The first entries go through all kinds in turn; what cannot have been gives way to something that can. */
function latest(past: Past, random: Random, n: number): Told[] {
  let told = HAPPENINGS[n]?.(past, random) ?? [];
  for (let tries = 0; told.length === 0 && tries < MAX_TRIES; tries++)
    told = random.pick(HAPPENINGS)(past, random);
  return told;
}

interface Telling {
  past: Past;
  random: Random;
  organization_id: string;
  /** How many newer ones the fixture gives. */
  given: number;
  entries: AuditLog[];
}

function tell(telling: Telling, at: number, told: readonly Told[], creator?: Person): void {
  const { past, random, organization_id, given, entries } = telling;
  for (const { entity_type, action, entity, target, department_id, previous_value, new_value } of told) {
    // Once it is undone: whoever acted was there before it, too.
    const actor = creator ?? anActor(past, random, entity.id);
    entries.push({
      id: logId(organization_id, given + entries.length),
      organization_id,
      timestamp: at,
      entity_type,
      entity_id: entity.id,
      entity_name: entity.name,
      action,
      actor_id: actor.id,
      actor_name: actor.name,
      actor_email: actor.email,
      target_id: target?.id ?? null,
      target_name: target?.name ?? null,
      department_id: department_id ?? null,
      previous_value: previous_value ?? null,
      new_value: new_value ?? null,
    });
  }
}

/** Of the n-th newest entry, counted from 0. */
export function logId(organization_id: string, n: number): string {
  return `log_${organization_id.slice("org_".length)}_${String(n + 1).padStart(6, "0")}`;
}

const SYSTEM = { id: SYSTEM_USER_ID, name: "System", email: "" };

/** Owners and admins are those who administer; before there were any, the service itself. */
function anActor(past: Past, random: Random, entity_id: string) {
  return past.administrators.pick(random, ({ id }) => id !== entity_id) ?? SYSTEM;
}
