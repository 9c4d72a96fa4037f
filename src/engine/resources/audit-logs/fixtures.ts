import { Type } from "typebox";
import type { Factory } from "../../contract/factory.ts";
import {
  createEntryFormat,
  type FixtureEntry,
  readByOrganization,
  toFreeId,
} from "../../contract/fixture-entry.ts";
import type { BaseBuilder, FixtureReader } from "../../contract/resource.ts";
import { departments } from "../departments/schema.ts";
import { chooseOrganization } from "../organizations/access.ts";
import { ByOrganization } from "../organizations/schema.ts";
import { users } from "../users/schema.ts";
import { vectorStores } from "../vector-stores/schema.ts";
import { makeChange } from "./log-changes.ts";
import { type FinalState, generateLog, toLogId } from "./log-generator.ts";
import { findActorId, toAuditLog, toPerson } from "./rules.ts";
import { AuditLog, auditLogs } from "./schema.ts";

const entryFormat = createEntryFormat(AuditLog, { omit: ["organization_id"] });

const COUNT = Type.Integer({ minimum: 0, maximum: 2_000_000 });

export const auditLogFixture: FixtureReader = {
  keys: {
    audit_log: ByOrganization(Type.Union([COUNT, Type.Array(entryFormat.schema)]), {
      description: "By organization: entries of its audit log, or how many to generate",
    }),
  },
  generate: { audit_log: ByOrganization(COUNT) },
  dependsOnSettings: ["locale"],
  addRecords(fixture, base) {
    const readLogs = () => readByOrganization(fixture, "audit_log", entryFormat);
    const makeLogs = () => {
      const logs = readLogs();
      const taken = new Set(logs.flatMap(({ entries }) => entries.map(({ id }) => id)));
      return logs.flatMap((log) => makeEntries({ base, taken, ...log }));
    };
    base.fill(
      auditLogs,
      makeLogs,
      // Counts without creating entries: each new world counts its records, and most worlds never list their log.
      () => readLogs().reduce((sum, { count }) => sum + count, 0),
    );
  },
};

interface RequestedLog {
  base: BaseBuilder;
  /** The ids that entries of the fixture have. */
  taken: ReadonlySet<string | undefined>;
  organization_id: string;
  entries: readonly FixtureEntry<typeof entryFormat>[];
  /** Number of entries in all, with the given ones. */
  count: number;
}

/** Makes the entries newest first, as the index orders them. */
function makeEntries({ base, taken, organization_id, entries, count }: RequestedLog): AuditLog[] {
  const context = base.createContext("audit_log", organization_id);
  const makeId = (n: number) => toFreeId(toLogId(organization_id, n), taken, context);
  const options = { count, givenCount: entries.length, makeId };
  const log = generateLog(readFinalState(base, organization_id), context, options);
  const givenEntries = log.instantsOfGiven.map((timestamp, n) => {
    const fields = entryFormat.toFields(entries[n]!, base);
    const id = fields.id ?? makeId(n);
    return makeAuditLog({ timestamp, ...fields, id, organization_id }, context);
  });
  return [...givenEntries, ...log.generatedEntries];
}

function readFinalState({ world }: BaseBuilder, organization_id: string): FinalState {
  return {
    organization_id,
    people: [...world.index(users, "by_organization", organization_id)],
    departments: [...world.index(departments, "by_organization", organization_id)],
    stores: [...world.all(vectorStores)].filter((store) => store.organization_id === organization_id),
  };
}

/** Makes an entry for a fixture or a state call. The user and the object that it names do not change. */
export const makeAuditLog: Factory<AuditLog> = (fields, context) => {
  const { world, now } = context;
  const organization_id = chooseOrganization(context, fields.organization_id);
  const actor_id = findActorId(world, fields.actor_id ?? context.actor_id, organization_id);
  const actor = toPerson(world, actor_id);
  const { id = context.createNewestFirstId("log_"), timestamp = now, entity_type = "user" } = fields;
  const { entity_id = entity_type === "user" ? actor_id : context.createId("obj_") } = fields;
  const record = world.get(departments, entity_id) ?? world.get(vectorStores, entity_id);
  // The entity's type and the action are those of `fields`, if they are given.
  const change = makeChange("user", "updated", record ?? toPerson(world, entity_id));
  return { ...toAuditLog(change, { id, organization_id, timestamp, actor }), ...fields };
};
