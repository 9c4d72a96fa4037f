import { Type } from "typebox";
import { toMilliseconds } from "../../contract/duration.ts";
import { ApiError, resourceNotFound } from "../../contract/errors.ts";
import { operation } from "../../contract/operation.ts";
import { Reply } from "../../contract/reply.ts";
import type { Resource } from "../../contract/resource.ts";
import { Id } from "../../contract/schema.ts";
import { files } from "../files/schema.ts";
import { MEMBER_ERRORS, requireMember } from "../organizations/access.ts";
import { makeStoreFile, makeVectorStore, vectorStoresFixture } from "./fixtures.ts";
import {
  advanceFile,
  renderStatus,
  scheduleStep,
  storeFileStateRules,
  vectorStoreStateRules,
} from "./rules.ts";
import { ProcessingStatus, storeFiles, toStoreFileId, vectorStores } from "./schema.ts";

const retrieveFileStatus = operation({
  id: "store_files.retrieve_status",
  section: "4.9",
  assumptions: ["G02", "G03", "G11", "G34"],
  assumed: { values: { "/current_step": "G11", "/status": "G11" } },
  route: "GET /v1/organizations/{organization_id}/stores/{store_id}/files/{file_id}/status",
  summary: "Follow the processing of a file in a store",
  description: "An unknown store is a 404 `FILE_NOT_IN_STORE`.",
  params: Type.Object({ organization_id: Id("org_"), store_id: Id("vs_"), file_id: Id("file_") }),
  errors: [...MEMBER_ERRORS, "FILE_NOT_IN_STORE"],
  success: { status: 200, schema: ProcessingStatus },
  access(call) {
    const { organization_id, store_id, file_id } = call.params;
    requireMember(call, organization_id);
    const store = call.world.get(vectorStores, store_id);
    const file =
      store?.organization_id === organization_id
        ? call.world.get(storeFiles, toStoreFileId(store_id, file_id))
        : undefined;
    if (file === undefined) throw new ApiError("FILE_NOT_IN_STORE", { details: { file_id, store_id } });
    return file;
  },
  handle: ({ world }, file) => renderStatus(file, world),
});

const attachFile = operation({
  id: "store_files.attach",
  section: "G12",
  assumptions: ["G03", "G11", "G12", "G34"],
  route: "POST /v1/organizations/{organization_id}/stores/{store_id}/files",
  summary: "Put a file into a store",
  description: "Processing begins at once.",
  params: Type.Object({ organization_id: Id("org_"), store_id: Id("vs_") }),
  body: { kind: "json", schema: Type.Object({ file_id: Id("file_") }) },
  errors: [...MEMBER_ERRORS, "RESOURCE_NOT_FOUND", { code: "RESOURCE_NOT_FOUND", details: ["file_id"] }],
  success: [
    { status: 202, schema: ProcessingStatus },
    {
      status: 200,
      schema: ProcessingStatus,
      description: "The file was there already, and its processing goes on",
    },
  ],
  access(call) {
    const { organization_id, store_id } = call.params;
    const { file_id } = call.body;
    requireMember(call, organization_id);
    const store = call.world.get(vectorStores, store_id);
    if (store?.organization_id !== organization_id) throw resourceNotFound("store_id", store_id);
    const file = call.world.get(files, file_id);
    if (file?.organization_id !== organization_id) throw resourceNotFound("file_id", file_id);
  },
  handle({ params: { store_id }, body: { file_id }, world, settings }) {
    const existing = world.get(storeFiles, toStoreFileId(store_id, file_id));
    if (existing !== undefined) return new Reply(200, renderStatus(existing, world));
    const file = world.insert(storeFiles, {
      id: toStoreFileId(store_id, file_id),
      store_id,
      file_id,
      status: "processing",
      progress_percent: 0,
      current_step: "parsing",
      error_message: null,
      started_at: world.now,
      completed_at: null,
      processing_ms: toMilliseconds(settings.processing_seconds),
    });
    scheduleStep(world, file, world.now);
    return new Reply(202, renderStatus(file, world));
  },
});

export const vectorStoresResource = {
  name: "vector_stores",
  collections: [vectorStores, storeFiles],
  operations: [retrieveFileStatus, attachFile],
  factories: { vector_stores: makeVectorStore, store_files: makeStoreFile },
  fixture: vectorStoresFixture,
  state: { vector_stores: vectorStoreStateRules, store_files: storeFileStateRules },
  timers: { "file.step": advanceFile },
} satisfies Resource;
