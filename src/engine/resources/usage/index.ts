import type { Resource } from "../../contract/resource.ts";
import { makeUsage, usageFixture } from "./fixtures.ts";
import { retrieveUsageLimits } from "./operations.ts";
import { usage } from "./schema.ts";
import { usageRules } from "./state.ts";

export const usageResource = {
  name: "usage",
  collections: [usage],
  operations: [retrieveUsageLimits],
  factories: { usage: makeUsage },
  fixture: usageFixture,
  state: { usage: usageRules },
} satisfies Resource;
