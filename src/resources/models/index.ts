import type { Resource } from "../../contract/resource.ts";
import { listModels, listModelsV2, listOrganizationModels } from "./operations.ts";
import { models } from "./schema.ts";
import { modelsFixture } from "./seed.ts";
import { modelRules } from "./state.ts";

export const modelsResource: Resource = {
  name: "models",
  collections: [models],
  operations: [listOrganizationModels, listModels, listModelsV2],
  fixture: modelsFixture,
  state: { models: modelRules },
};
