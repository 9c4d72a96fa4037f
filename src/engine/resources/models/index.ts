import type { Resource } from "../../contract/resource.ts";
import { makeModel } from "./make.ts";
import { listModels, listModelsV2, listOrganizationModels } from "./operations.ts";
import { models } from "./schema.ts";
import { modelsFixture } from "./seed.ts";
import { modelRules } from "./state.ts";

export const modelsResource = {
  name: "models",
  collections: [models],
  operations: [listOrganizationModels, listModels, listModelsV2],
  factories: { models: makeModel },
  fixture: modelsFixture,
  state: { models: modelRules },
} satisfies Resource;
