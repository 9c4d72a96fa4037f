import { invalidInput } from "../../contract/errors.ts";
import type { Resource, StateRules } from "../../contract/resource.ts";
import type { Transaction } from "../../state/transaction.ts";
import { makeModel, modelsFixture } from "./fixtures.ts";
import { listModels, listModelsV2, listOrganizationModels } from "./operations.ts";
import { type Model, models } from "./schema.ts";

const modelState: StateRules<Model> = {
  insert: (tx, record) => tx.insert(models, requireUniqueKey(tx, record)),
  update: (tx, _before, after) => tx.put(models, requireUniqueKey(tx, after)),
};

/** Requests name a model by its key. @throws ApiError INVALID_INPUT if another model has the key */
function requireUniqueKey(tx: Transaction, model: Model): Model {
  for (const other of tx.index(models, "by_key", model.key)) {
    if (other.id !== model.id) throw invalidInput("key", model.key, `${other.id} has this key`);
  }
  return model;
}

export const modelsResource = {
  name: "models",
  collections: [models],
  operations: [listOrganizationModels, listModels, listModelsV2],
  factories: { models: makeModel },
  fixture: modelsFixture,
  state: { models: modelState },
} satisfies Resource;
