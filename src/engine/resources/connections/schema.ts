import Type, { type Static } from "typebox";
import { belongsTo } from "../../contract/references.ts";
import { Id, Instant, Nullable } from "../../contract/schema.ts";
import { collection } from "../../state/collection.ts";

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
      description: "The share of its jobs that fail; null: the setting's",
    }),
  ),
});
export type Connection = Static<typeof Connection>;

export const connections = collection({
  name: "connections",
  prefix: "conn_",
  idField: "id",
  schema: Connection,
});
