import { type Static, Type } from "typebox";
import { chooseCreation, type Factory } from "../contract/factory.ts";
import { createEntryFormat, createListReader } from "../contract/fixture-entry.ts";
import { inventTeam } from "../contract/invent.ts";
import { belongsTo, requireSameOrganization } from "../contract/references.ts";
import type { Resource, StateRules } from "../contract/resource.ts";
import { Id, Instant, Nullable } from "../contract/schema.ts";
import { DAY_MS } from "../state/clock.ts";
import { collection } from "../state/collection.ts";
import { connectorJobs, toJobGroup } from "./connector-jobs/schema.ts";
import { chooseOrganization } from "./organizations/access.ts";

/** A source that connector jobs sync from; no endpoint of the reference shows one. */
export const Connection = Type.Object({
  id: Id("conn_"),
  organization_id: Id("org_", belongsTo("organizations")),
  name: Type.String({ minLength: 1 }),
  toolkit: Type.String({ minLength: 1 }),
  created_at: Instant(),
  failure_rate: Nullable(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: "The share of its jobs that fail; null: as `connector_failure_rate` says",
    }),
  ),
});
export type Connection = Static<typeof Connection>;

export const connections = collection({
  name: "connections",
  schema: Connection,
});

const TOOLKITS = ["drive", "wiki", "tickets", "mail", "chat", "crm", "notes", "calendar"] as const;

const makeConnection: Factory<Connection> = (fields, context) => {
  const { random } = context;
  // For example, `conn_drive` connects to Drive.
  const toolkitInId = TOOLKITS.find((toolkit) => fields.id?.includes(toolkit));
  const toolkit = fields.toolkit ?? toolkitInId ?? random.pick(TOOLKITS);
  return {
    id: fields.id ?? context.createId("conn_"),
    organization_id: chooseOrganization(context, fields.organization_id),
    name: fields.name ?? `${inventTeam(context)} ${toolkit}`,
    toolkit,
    created_at: fields.created_at ?? chooseCreation(context, () => random.int(10, 200) * DAY_MS),
    failure_rate: fields.failure_rate ?? null,
  };
};

const connectionStateRules: StateRules<Connection> = {
  update(tx, before, after) {
    const group = toJobGroup(before.organization_id, { connection_id: before.id });
    requireSameOrganization(before, after, {
      name: "jobs",
      records: tx.index(connectorJobs, "-start_time", group),
    });
    return tx.put(connections, after);
  },
};

export const connectionsResource = {
  name: "connections",
  collections: [connections],
  operations: [],
  factories: { connections: makeConnection },
  state: { connections: connectionStateRules },
  fixture: createListReader(connections, {
    entryFormat: createEntryFormat(Connection, { required: ["id"] }),
    factory: makeConnection,
    dependsOnSettings: ["locale"],
  }),
} satisfies Resource;
