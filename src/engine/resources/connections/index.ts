import { fixtureRecord, listReader } from "../../contract/fixture-record.ts";
import type { Resource } from "../../contract/resource.ts";
import { makeConnection } from "./fixtures.ts";
import { Connection, connections } from "./schema.ts";

export const connectionsResource = {
  name: "connections",
  collections: [connections],
  operations: [],
  factories: { connections: makeConnection },
  fixture: listReader(connections, {
    record: fixtureRecord(Connection, { needs: ["id"] }),
    factory: makeConnection,
    follows: ["locale"],
  }),
} satisfies Resource;
