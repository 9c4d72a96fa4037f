import type { Resource } from "../../contract/resource.ts";
import { organizations } from "./schema.ts";
import { organizationsFixture } from "./seed.ts";
import { organizationState } from "./state.ts";

export const organizationsResource: Resource = {
  name: "organizations",
  collections: [organizations],
  operations: [],
  fixture: organizationsFixture,
  state: { organizations: organizationState },
};
