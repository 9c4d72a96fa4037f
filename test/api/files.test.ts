import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { storeFiles } from "../../src/engine/resources/vector-stores/schema.ts";
import { collectEmittedEvents } from "../support/collect-emitted-events.ts";
import { type Api, startReference } from "../support/harness.ts";
import { getStateRules } from "../support/state-rules.ts";
import {
  announce,
  createPrivateTempFolder,
  expectInvalid,
  put,
  uploadFile,
} from "../support/upload-setup.ts";

const FILES = "/v1/organizations/org_acme/files";

let api: Api;
let temporary: ReturnType<typeof createPrivateTempFolder>;
beforeEach(async () => {
  temporary = createPrivateTempFolder();
  api = await startReference();
});
afterEach(async () => {
  await api.close();
  temporary.remove();
});

describe("registering a file [4.6]", () => {
  it("answers 201 with the file object the first time, then 200 with the same file [4.6, G13]", async () => {
    const { announced, upload_url, gcs_path } = await announce(api);
    await put(upload_url, "0123456789");
    const events = collectEmittedEvents(api);
    const first = await api.call("dan", "POST", FILES, { ...announced, gcs_path });
    expect(first.status, first.text).toBe(201);
    expect(first.body).toEqual({
      id: expect.stringMatching(/^file_\w{20}$/),
      object: "file",
      filename: "notes.txt",
      mime_type: "text/plain",
      file_size: 10,
      organization_id: "org_acme",
      status: "uploaded",
      gcs_path,
      created_at: "2026-03-15T12:00:00.000Z",
      created_by: "usr_dan",
    });
    const again = await api.call("ben", "POST", FILES, { ...announced, gcs_path });
    expect([again.status, again.body]).toEqual([200, first.body]);
    const { id, ...rest } = (await api.call("dan", "POST", FILES, { ...announced, gcs_path })).body;
    expect(events).toEqual([
      { event: "file.uploaded", organization_id: "org_acme", data: { file_id: id, ...rest } },
    ]);
    expect(temporary.files()).toEqual([]);
  });

  it("creates one file for many concurrent registrations [G13]", async () => {
    const { announced, upload_url, gcs_path } = await announce(api);
    await put(upload_url, "0123456789");
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => api.call("dan", "POST", FILES, { ...announced, gcs_path })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  it.each([
    ["filename", "other.txt"],
    ["file_size", 9],
    ["mime_type", "text/markdown"],
    ["gcs_path", "gs://uploads/org_acme/none/notes.txt"],
  ])("answers 422 with the field to another %s than announced [G13]", async (field, value) => {
    const { announced, upload_url, gcs_path } = await announce(api);
    await put(upload_url, "0123456789");
    expectInvalid(
      await api.call("dan", "POST", FILES, { ...announced, gcs_path, [field]: value }),
      field,
      value,
    );
    expect((await api.call("dan", "POST", FILES, { ...announced, gcs_path })).status).toBe(201);
  });

  it("answers 422 gcs_path to an incomplete or foreign upload [G13]", async () => {
    const { announced, upload_url, gcs_path } = await announce(api);
    const body = { ...announced, gcs_path };
    expectInvalid(await api.call("dan", "POST", FILES, body), "gcs_path", gcs_path);
    await put(upload_url, "01234");
    expectInvalid(await api.call("dan", "POST", FILES, body), "gcs_path", gcs_path);
    await put(upload_url, "0123456789");
    expectInvalid(
      await api.call("ada", "POST", "/v1/organizations/org_initech/files", body),
      "gcs_path",
      gcs_path,
    );
    expect((await api.call("dan", "POST", FILES, body)).status).toBe(201);
  });

  it("makes the file usable in stores at once [4.6]", async () => {
    const file = await uploadFile(api, "Hello.");
    const path = "/v1/organizations/org_acme/stores/vs_empty/files";
    expect((await api.call("dan", "POST", path, { file_id: file.id })).status).toBe(202);
  });

  it.each([
    [{ filename: "", file_size: 1, mime_type: "text/plain" }, "filename", ""],
    [{ file_size: 1, mime_type: "text/plain" }, "filename", null],
    [{ filename: "a", file_size: -1, mime_type: "text/plain" }, "file_size", -1],
    [{ filename: "a", file_size: 1.5, mime_type: "text/plain" }, "file_size", 1.5],
    [{ filename: "a", file_size: "1", mime_type: "text/plain" }, "file_size", "1"],
    [{ filename: "a", file_size: 1, mime_type: "text" }, "mime_type", "text"],
    [{ filename: "a", file_size: 1 }, "mime_type", null],
  ])("refuses %j as the request for an upload URL does [G08]", async (body, field, value) => {
    expectInvalid(await api.call("dan", "POST", `${FILES}/upload-url`, body), field, value);
    const registration = { ...body, gcs_path: "gs://uploads/x" };
    expectInvalid(await api.call("dan", "POST", FILES, registration), field, value);
  });

  it("checks the organization first [G03]", async () => {
    const body = { filename: "a", file_size: 1, mime_type: "text/plain", gcs_path: "gs://x" };
    for (const tail of ["/files", "/files/upload-url"]) {
      const foreign = await api.call("dan", "POST", `/v1/organizations/org_globex${tail}`, body);
      expect([foreign.status, foreign.body.error.code]).toEqual([403, "ORGANIZATION_ACCESS_DENIED"]);
      const unknown = await api.call("dan", "POST", `/v1/organizations/org_none${tail}`, body);
      expect([unknown.status, unknown.body.error.code]).toEqual([404, "ORGANIZATION_NOT_FOUND"]);
    }
  });
});

describe("files in state calls [G18]", () => {
  it("are complete when created, and emit file.uploaded [G18]", () => {
    const { record, emitted } = getStateRules(api, "files").post({ filename: "plan.md" });
    expect(record).toMatchObject({
      object: "file",
      filename: "plan.md",
      mime_type: "text/markdown",
      organization_id: "org_acme",
      status: "uploaded",
      created_by: "usr_ada",
    });
    expect(emitted).toEqual([
      expect.objectContaining({
        event: "file.uploaded",
        organization_id: "org_acme",
        data: expect.objectContaining({ file_id: record.id, filename: "plan.md" }),
      }),
    ]);
    expect(getStateRules(api, "files").post({}, { silent: true }).emitted).toEqual([]);
  });

  it("have a name and a type that match [G18]", () => {
    const { post } = getStateRules(api, "files");
    const inferType = (filename: string) => post({ filename }).record.mime_type;
    expect([
      inferType("a.png"),
      inferType("B.JPG"),
      inferType("c.zip"),
      inferType("d.unknown"),
      inferType("e"),
    ]).toEqual([
      "image/png",
      "image/jpeg",
      "application/zip",
      "application/octet-stream",
      "application/octet-stream",
    ]);
    const name = (mime_type: string) => post({ mime_type }).record.filename;
    expect([name("image/png"), name("text/csv"), name("model/obj")]).toEqual([
      expect.stringMatching(/\.png$/),
      expect.stringMatching(/\.csv$/),
      expect.stringMatching(/\.bin$/),
    ]);
  });

  it("emit file.deleted when deleted, and leave their stores [G25]", () => {
    const { emitted } = getStateRules(api, "files").remove("file_policies");
    expect(emitted).toEqual([
      expect.objectContaining({
        event: "file.deleted",
        data: expect.objectContaining({ file_id: "file_policies", filename: "policies.md" }),
      }),
    ]);
    const { world } = api.understudy.sandboxes.get("default")!;
    expect(world.read().get(storeFiles, "vs_handbook:file_policies")).toBeUndefined();
    expect(world.listPending().filter(({ kind }) => kind === "file.step")).toEqual([]);
  });

  it("cannot be registered again after deletion: 422 gcs_path [G13]", async () => {
    const file = await uploadFile(api, "0123456789");
    getStateRules(api, "files").remove(file.id);
    const { filename, file_size, mime_type, gcs_path } = file;
    const answer = await api.call("dan", "POST", FILES, { filename, file_size, mime_type, gcs_path });
    expectInvalid(answer, "gcs_path", gcs_path);
  });
});
