import type { Resource } from "../../contract/resource.ts";
import { retrieveUsageLimits } from "./operations.ts";
import { usage } from "./schema.ts";
import { usageFixture } from "./seed.ts";
import { usageRules } from "./state.ts";

export const usageResource: Resource = {
  name: "usage",
  collections: [usage],
  operations: [retrieveUsageLimits],
  fixture: usageFixture,
  state: { usage: usageRules },
};
