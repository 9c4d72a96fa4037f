import { Type } from "typebox";
import { ApiError, invalidInput } from "../../contract/errors.ts";
import { operation } from "../../contract/operation.ts";
import type { Resource, StateRules } from "../../contract/resource.ts";
import { Id } from "../../contract/schema.ts";
import type { Transaction, WorldReader } from "../../state/transaction.ts";
import {
  CURRENT_MEMBER_ERRORS,
  explainRefusal,
  isMember,
  requireCurrentMember,
} from "../organizations/access.ts";
import { organizations } from "../organizations/schema.ts";
import { makeModel, modelsFixture } from "./fixtures.ts";
import { type Model, ModelBody, models, renderModel } from "./schema.ts";

const MODEL_LIST_FIELDS = { models: Type.Array(ModelBody), total_count: Type.Integer() };

/** Lists the active models, which are available to all organizations (G21). */
function listActiveModels(world: WorldReader) {
  const active = world.index(models, "active", "");
  return { models: Array.from(active, (model) => renderModel(model, world)), total_count: active.size };
}

const listOrganizationModels = operation({
  id: "models.list_for_organization",
  section: "4.18",
  assumptions: ["G21", "G22"],
  assumed: { endpoint: "G22" },
  route: "GET /v1/organizations/{organization_id}/models",
  summary: "List the models available to an organization",
  description:
    "The service has announced this endpoint, but it is not in production, and its fields may change. It answers 404 until you switch on the setting `preview`.",
  params: Type.Object({ organization_id: Id("org_") }),
  errors: [
    "ORGANIZATION_NOT_FOUND",
    { code: "INSUFFICIENT_PERMISSIONS", details: ["organization_id"] },
    "RESOURCE_NOT_FOUND",
  ],
  success: { status: 200, schema: Type.Object({ organization_id: Id("org_"), ...MODEL_LIST_FIELDS }) },
  access(call) {
    const { organization_id } = call.params;
    if (call.settings.preview === "off") {
      throw new ApiError("RESOURCE_NOT_FOUND", {
        message: "This endpoint has been announced and is not available yet.",
        system_message:
          "Use GET /v1/models until it is, or switch the sandbox's setting `preview` on to try the intended behaviour.",
        details: { organization_id },
      });
    }
    if (call.world.get(organizations, organization_id) === undefined)
      throw new ApiError("ORGANIZATION_NOT_FOUND", { details: { organization_id } });
    // This endpoint has a 403 of its own for non-members (G22).
    if (!isMember(call, organization_id))
      throw new ApiError("INSUFFICIENT_PERMISSIONS", {
        details: { organization_id },
        reason: explainRefusal(call, organization_id),
      });
  },
  handle: ({ params: { organization_id }, world }) => ({ organization_id, ...listActiveModels(world) }),
});

export const listModels = operation({
  id: "models.list",
  section: "4.18",
  assumptions: ["G21", "G37"],
  assumed: { envelope: "G21", body: "G21" },
  route: "GET /v1/models",
  summary: "List the models",
  description: "Only active models are listed, ordered by `order`, then by title.",
  errors: CURRENT_MEMBER_ERRORS,
  success: { status: 200, schema: Type.Object(MODEL_LIST_FIELDS) },
  access: requireCurrentMember,
  handle: ({ world }) => listActiveModels(world),
});

const listModelsV2 = operation({
  id: "models.list_v2",
  section: "4.18",
  assumptions: ["G21", "G37"],
  assumed: { endpoint: "G21" },
  route: "GET /v2/models",
  summary: "List the models, under the version prefix `/v2`",
  description:
    "The answer is the same as that of `/v1/models`. If the setting `v2_models` is off, it is a 404.",
  errors: [
    { code: "RESOURCE_NOT_FOUND", details: { path: { always: "/v2/models" } } },
    ...CURRENT_MEMBER_ERRORS,
  ],
  success: { status: 200, schema: Type.Object(MODEL_LIST_FIELDS) },
  access(call) {
    if (call.settings.v2_models === "off") {
      throw new ApiError("RESOURCE_NOT_FOUND", {
        message: "There is no such endpoint.",
        system_message: "The sandbox's setting `v2_models` is off; use /v1/models.",
        details: { path: "/v2/models" },
      });
    }
    requireCurrentMember(call);
  },
  handle: ({ world }) => listActiveModels(world),
});

const modelStateRules: StateRules<Model> = {
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
  state: { models: modelStateRules },
} satisfies Resource;
