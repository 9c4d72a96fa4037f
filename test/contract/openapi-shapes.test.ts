import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CATALOGUE } from "../../src/engine/contract/errors.ts";
import { listErrorCodes } from "../../src/engine/contract/operation.ts";
import { RESOURCES } from "../../src/engine/resources/index.ts";
import { type Api, startReference } from "../support/harness.ts";
import { FreshWorld } from "../support/openapi/fresh-world.ts";
import { RECIPES } from "../support/openapi/recipes.ts";
import { findRefusalRecipe } from "../support/openapi/refusals.ts";

/** Checks the fields of section 2 in responses of the reference world: exactly these. */
const OPERATIONS = RESOURCES.flatMap(({ operations }) => operations);

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

async function getAnswer(id: string, index = 0) {
  const operation = OPERATIONS.find((candidate) => candidate.id === id)!;
  const world = await FreshWorld.create(api);
  const request = await RECIPES[id]![index]!.request(world);
  const { body } = await world.call(operation.path, operation.method, request);
  await world.delete();
  return body;
}

describe("the fields of resources [section 2]", () => {
  it.each([
    ["org_", "users.set_current_organization", "organization.id"],
    ["dept_", "departments.reparent", "id"],
    ["usr_", "departments.reparent", "created_by"],
    ["file_", "files.upload", "id"],
    ["mbsess_", "meeting_sessions.stop", "session_id"],
    ["trans_", "transcriptions.list_sentences", "data.transcription_id"],
    ["mcoll_", "music_collections.list_tracks", "collection_id"],
    ["mtrack_", "music_collections.list_tracks", "items.0.track_id"],
    ["dsh_", "share_links.resolve", "dashboard_id"],
    ["slink_", "share_links.resolve", "link_id"],
    ["log_", "assistants.list_history", "audit_logs.0.id"],
    ["asst_", "assistants.list_history", "audit_logs.0.resource_id"],
    ["log_", "change_logs.list", "logs.0.id"],
    ["thread_", "threads.delete", "threadId"],
    ["wh_", "webhooks.create", "data.webhook_id"],
    ["whsec_", "webhooks.create", "data.secret"],
    ["del_", "webhooks.test", "data.delivery_id"],
    ["apikey_", "usage.retrieve_limits", "api_key_limits.0.api_key_id"],
    ["conn_", "connector_jobs.trigger", "connection_id"],
  ])("begin with the prefix %s in the answer of %s at %s [2.1]", async (prefix, id, path) => {
    const value = path.split(".").reduce((part, key) => part[key], await getAnswer(id));
    expect(value).toMatch(new RegExp(`^${prefix}[A-Za-z0-9_-]+$`));
  });

  it("of a department are those of the reference and no others [2.2]", async () => {
    const department = await getAnswer("departments.reparent");
    expect(department).toEqual({
      id: "dept_ml",
      name: "ML",
      description: expect.any(String),
      parent_id: "dept_ops",
      path: "dept_acme/dept_ops/dept_ml",
      depth: 2,
      organization_id: "org_acme",
      member_count: 7,
      is_active: true,
      is_default: false,
      color: "#4f46e5",
      created_by: expect.stringMatching(/^(usr|uid)_/),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
    });
  });

  it("of a processing status are those of the reference and no others, in each of its states [2.9]", async () => {
    const [completed, processing, failed] = await Promise.all(
      [0, 1, 2].map((index) => getAnswer("store_files.retrieve_status", index)),
    );
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
    expect(completed).toEqual({
      status: "completed",
      progress_percent: 100,
      current_step: null,
      error_message: null,
      started_at: timestamp,
      completed_at: timestamp,
    });
    expect(processing).toEqual({
      status: "processing",
      progress_percent: expect.any(Number),
      current_step: "embedding",
      error_message: null,
      started_at: timestamp,
      completed_at: null,
    });
    expect(processing.progress_percent).toBeLessThan(100);
    expect(failed).toMatchObject({
      status: "failed",
      current_step: null,
      error_message: "unsupported file type",
      completed_at: timestamp,
    });
  });

  it("of the organization's summary and the file object are those of the reference [2.14, G13, G27]", async () => {
    const { organization } = await getAnswer("users.set_current_organization");
    expect(organization).toEqual({ id: "org_initech", name: "Initech", type: "personal" });
    expect(Object.keys(await getAnswer("files.upload")).sort()).toEqual(
      [
        "created_at",
        "created_by",
        "filename",
        "file_size",
        "gcs_path",
        "id",
        "mime_type",
        "object",
        "organization_id",
        "status",
      ].sort(),
    );
  });
});

describe("a 404 [G27]", () => {
  /** Operations that name the object in a query parameter, a body field or a setting. */
  const NAMED_ELSEWHERE = new Map([
    ["uploads.put", "upload_id"],
    ["uploads.cancel", "upload_id"],
    ["departments.reparent", "new_parent_id"],
    ["connector_jobs.trigger", "connection_id"],
    ["store_files.attach", "file_id"],
    ["model_responses.create", "file_id"],
  ]);
  const found = OPERATIONS.filter(
    (operation) =>
      operation.envelope !== "B" &&
      !operation.id.startsWith("models.") &&
      listErrorCodes(operation).includes("RESOURCE_NOT_FOUND"),
  );

  it.each(found.map((operation) => [operation.id, operation] as const))(
    "of %s names the missing object by its parameter [G27]",
    async (id, operation) => {
      const world = await FreshWorld.create(api);
      const valid = await RECIPES[id]![0]!.request(world);
      const spoiled = await findRefusalRecipe(operation, "RESOURCE_NOT_FOUND")!({ world, operation, valid });
      if ("status" in spoiled) throw new Error("a request was expected");
      const { status, body } = await world.call(operation.path, operation.method, spoiled);
      expect(status).toBe(CATALOGUE.RESOURCE_NOT_FOUND.status);
      const last = /\{(\w+)\}[^{]*$/.exec(operation.path)?.[1];
      expect(Object.keys(body.error.details)).toEqual([NAMED_ELSEWHERE.get(id) ?? last]);
      await world.delete();
    },
  );
});
