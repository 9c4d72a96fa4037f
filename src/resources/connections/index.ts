import type { Resource } from "../../contract/resource.ts";
import { connections } from "./schema.ts";
import { connectionsFixture } from "./seed.ts";
import { connectionRules } from "./state.ts";

export const connectionsResource: Resource = {
  name: "connections",
  collections: [connections],
  operations: [],
  fixture: connectionsFixture,
  state: { connections: connectionRules },
};
