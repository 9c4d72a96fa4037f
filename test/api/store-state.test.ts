import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { auditLogs } from "../../src/engine/resources/audit-logs/schema.ts";
import { storeFiles } from "../../src/engine/resources/vector-stores/schema.ts";
import { collectEmittedEvents, type Emitted } from "../support/collect-emitted-events.ts";
import { type Api, type ApiResponse, type Caller, startReference } from "../support/harness.ts";

const STORES = "/v1/organizations/org_acme/stores";
const STATE = "/_control/sandboxes/default/state";

let api: Api;
let emitted: Emitted[];
beforeEach(async () => {
  api = await startReference();
  emitted = collectEmittedEvents(api);
});
afterEach(() => api.close());

const fetchStatus = (file_id: string, { store = "vs_handbook", who = "dan" as Caller } = {}) =>
  api.call(who, "GET", `${STORES}/${store}/files/${file_id}/status`);
const callState = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, `${STATE}/${path}`, body);
const listFileEvents = () => emitted.filter(({ event }) => event === "file.processed");

function expectRefusal(answer: ApiResponse, code: number, name: string, details: object): void {
  expect(answer.status, answer.text).toBe(code);
  expect(answer.body.error).toMatchObject({ code: name, details });
}

describe("state calls on stores [interfaces 4]", () => {
  const row = "store_files/vs_handbook:file_policies";

  it("show the current progress and no internal fields in store_files [interfaces 4]", async () => {
    await api.advance(3_000);
    expect((await callState("GET", row)).body).toEqual({
      id: "vs_handbook:file_policies",
      store_id: "vs_handbook",
      file_id: "file_policies",
      status: "processing",
      progress_percent: 50,
      current_step: "embedding",
      error_message: null,
      started_at: "2026-03-15T11:59:33.000Z",
      completed_at: null,
    });
    expect((await callState("GET", "store_files")).body.total).toBe(3);
    expect((await callState("GET", "store_files?status=failed")).body.items[0].file_id).toBe("file_broken");
  });

  it("create a file in the middle of its processing, which then continues [G11, interfaces 4]", async () => {
    const fields = {
      store_id: "vs_empty",
      file_id: "file_loose",
      status: "processing",
      progress_percent: 50,
    };
    const { status: code, body } = await callState("POST", "store_files", fields);
    expect([code, body.progress_percent, body.current_step]).toEqual([201, 50, "embedding"]);
    const path = "store_files/vs_empty:file_loose";
    await api.advance(29_999);
    expect((await callState("GET", path)).body).toMatchObject({ status: "processing", progress_percent: 99 });
    await api.advance(1);
    expect((await callState("GET", path)).body).toMatchObject({ status: "completed", progress_percent: 100 });
  });

  it("let a failed file continue at a given progress, also at that at which it failed [G11, interfaces 4]", async () => {
    const failed = await callState("PATCH", row, { status: "failed", progress_percent: 45 });
    expect(failed.body).toMatchObject({ status: "failed", progress_percent: 45 });
    const again = await callState("PATCH", row, { status: "processing", progress_percent: 45 });
    expect(again.body).toMatchObject({ status: "processing", progress_percent: 45 });
    await callState("PATCH", row, { status: "failed" });
    const begun = await callState("PATCH", row, { status: "processing" });
    expect(begun.body).toMatchObject({ status: "processing", progress_percent: 0 });
  });

  it("keep the progress and remove the timer for a PATCH to failed [G11]", async () => {
    const { status: code, body } = await callState("PATCH", row, {
      status: "failed",
      error_message: "disk on fire",
    });
    expect(code).toBe(200);
    expect(body).toMatchObject({
      status: "failed",
      progress_percent: 45,
      current_step: null,
      error_message: "disk on fire",
      completed_at: "2026-03-15T12:00:00.000Z",
    });
    await api.advance(60_000);
    expect((await fetchStatus("file_policies")).body.status).toBe("failed");
    expect(listFileEvents()).toEqual([]);
  });

  it("emit file.processed for a PATCH to completed, unless it is silent [G11]", async () => {
    const { body } = await callState("PATCH", row, { status: "completed" });
    expect(body).toMatchObject({ status: "completed", progress_percent: 100, current_step: null });
    expect(listFileEvents()).toHaveLength(1);
    await callState("PATCH", row, { status: "completed" });
    expect(listFileEvents()).toHaveLength(1);
    await callState("PATCH", "store_files/vs_handbook:file_broken?silent=true", { status: "completed" });
    expect(listFileEvents()).toHaveLength(1);
    expect((await fetchStatus("file_broken")).body).toMatchObject({
      status: "completed",
      error_message: null,
    });
  });

  it("refuse a PATCH after which a file would be neither complete nor failed with a message [3.1, G11]", async () => {
    const completed = "store_files/vs_handbook:file_handbook";
    const failed = "store_files/vs_handbook:file_broken";
    for (const [path, field, value] of [
      [completed, "progress_percent", 5],
      [completed, "completed_at", null],
      [completed, "error_message", "disk on fire"],
      [failed, "error_message", null],
      [failed, "completed_at", null],
    ] as const) {
      const { status: code, body } = await callState("PATCH", path, { [field]: value });
      expect([code, body.field]).toEqual([422, field]);
    }
    const { body } = await callState("PATCH", completed, { status: "failed" });
    expect(body).toMatchObject({ status: "failed", error_message: "unsupported file type" });
    expect(listFileEvents()).toEqual([]);
  });

  it("restart for a PATCH to processing, from the given progress if there is one [G11]", async () => {
    const again = await callState("PATCH", "store_files/vs_handbook:file_handbook", { status: "processing" });
    expect(again.body).toMatchObject({
      status: "processing",
      progress_percent: 0,
      current_step: "parsing",
      started_at: "2026-03-15T12:00:00.000Z",
      completed_at: null,
    });
    const moved = await callState("PATCH", row, { progress_percent: 90 });
    expect(moved.body).toMatchObject({ progress_percent: 90, current_step: "embedding" });
    await api.advance(6_000);
    expect((await fetchStatus("file_policies")).body.status).toBe("completed");
    expect((await fetchStatus("file_handbook")).body.progress_percent).toBe(10);
  });

  it("set the progress that a file began with, and fail it there [G11]", async () => {
    await api.advance(6_000);
    const moved = await callState("PATCH", row, { progress_percent: 45 });
    expect([moved.status, moved.body.progress_percent]).toEqual([200, 45]);
    await api.advance(6_000);
    const failed = await callState("PATCH", row, { status: "failed", progress_percent: 45 });
    expect([failed.status, failed.body.progress_percent]).toEqual([200, 45]);
  });

  it("add a file to a store in any status, and refuse an unknown reference with 422 [interfaces 4]", async () => {
    const made = await callState("POST", "store_files", {
      store_id: "vs_empty",
      file_id: "file_loose",
      status: "failed",
      progress_percent: 33,
    });
    expect(made.status, made.text).toBe(201);
    expect(made.body).toMatchObject({ id: "vs_empty:file_loose", progress_percent: 33, current_step: null });
    expect((await fetchStatus("file_loose", { store: "vs_empty" })).body.error_message).toBeTruthy();
    const twice = await callState("POST", "store_files", { store_id: "vs_empty", file_id: "file_loose" });
    expect(twice.status).toBe(409);
    for (const [field, body] of [
      ["store_id", { store_id: "vs_none", file_id: "file_loose" }],
      ["file_id", { store_id: "vs_empty", file_id: "file_none" }],
    ] as const) {
      const answer = await callState("POST", "store_files", body);
      expect([answer.status, answer.text.includes(field)]).toEqual([422, true]);
    }
    const moved = await callState("PATCH", row, { store_id: "vs_empty" });
    expect(moved.status).toBe(422);
    const processing = await callState("POST", "store_files", {
      store_id: "vs_empty",
      file_id: "file_policies",
    });
    expect(processing.body).toMatchObject({ status: "processing", progress_percent: 0 });
    await api.advance(60_000);
    expect((await fetchStatus("file_policies", { store: "vs_empty" })).body.status).toBe("completed");
  });

  it("invent a start before a given end [3.1]", async () => {
    const completed_at = "2026-03-01T00:00:00.000Z";
    const file = { store_id: "vs_empty", file_id: "file_loose", completed_at };
    const { body } = await callState("POST", "store_files", file);
    expect(body).toMatchObject({ status: "completed", started_at: "2026-02-28T23:59:00.000Z", completed_at });
  });

  it.each([
    ["POST", "store_files", { store_id: "vs_empty", file_id: "file_loose" }],
    ["PATCH", "store_files/vs_handbook:file_handbook", {}],
  ])("refuse an end before the start: %s %s [2.9]", async (method, path, ids) => {
    const times = { started_at: "2026-03-15T11:00:00Z", completed_at: "2026-03-15T10:00:00Z" };
    const { status, body } = await callState(method, path, { ...ids, ...times });
    expect([status, body.field]).toEqual([422, "completed_at"]);
  });

  it("complete a file that starts later not before its start [2.9]", async () => {
    const started_at = "2026-03-15T13:00:00.000Z";
    await callState("PATCH", row, { started_at });
    const { body } = await callState("PATCH", row, { status: "completed" });
    expect(body).toMatchObject({ started_at, completed_at: started_at });
  });

  it("choose a store and a file of the same organization for a POST [interfaces 4]", async () => {
    const store_id = (await callState("POST", "vector_stores", { organization_id: "org_globex" })).body.id;
    const none = await callState("POST", "store_files", { store_id });
    expect([none.status, none.body.field]).toEqual([422, "file_id"]);
    const file_id = (await callState("POST", "files", { organization_id: "org_globex" })).body.id;
    const byFile = await callState("POST", "store_files", { file_id });
    expect(byFile.body).toMatchObject({ store_id, file_id, status: "processing" });
    const found = new Set<string>();
    for (let n = 0; n < 5; n++) {
      const made = await callState("POST", "store_files", {});
      expect(made.status, made.text).toBe(201);
      found.add(made.body.id);
    }
    expect(found.size).toBe(5);
    // Acme has four files and two stores; three pairs of them exist from the start.
    const full = await callState("POST", "store_files", {});
    expect([full.status, full.body.field]).toEqual([422, "store_id"]);
  });

  it("delete the files and timers of a deleted store [interfaces 4]", async () => {
    expect((await callState("DELETE", "vector_stores/vs_handbook")).status).toBe(204);
    expectRefusal(await fetchStatus("file_policies"), 404, "FILE_NOT_IN_STORE", {});
    const { world } = api.understudy.sandboxes.get("default")!;
    expect(world.read().all(storeFiles).size).toBe(0);
    expect(world.listPending().filter(({ kind }) => kind === "file.step")).toEqual([]);
    expect((await callState("GET", "files/file_policies")).status).toBe(200);
  });

  it("write the creation, update and deletion of a store to the audit log, with the user [G31]", async () => {
    const listEntries = () =>
      [...api.understudy.sandboxes.get("default")!.world.read().all(auditLogs)].filter(
        ({ timestamp, entity_type }) => timestamp === 0 && entity_type === "vector_store",
      );
    const { body } = await callState("POST", "vector_stores?actor=usr_ben", { name: "Manuals" });
    await callState("PATCH", `vector_stores/${body.id}`, { name: "All manuals" });
    await callState("PATCH", `vector_stores/${body.id}`, { name: "All manuals" });
    await callState("DELETE", `vector_stores/${body.id}`);
    await callState("POST", "vector_stores?silent=true", { name: "Quiet" });
    const found = listEntries().map(({ action, entity_id, entity_name, actor_id }) => ({
      action,
      entity_id,
      entity_name,
      actor_id,
    }));
    const entity_id = body.id;
    expect(found).toHaveLength(3);
    expect(found).toEqual(
      expect.arrayContaining([
        { action: "created", entity_id, entity_name: "Manuals", actor_id: "usr_ben" },
        { action: "updated", entity_id, entity_name: "All manuals", actor_id: "usr_ada" },
        { action: "deleted", entity_id, entity_name: "All manuals", actor_id: "usr_ada" },
      ]),
    );
  });
});
