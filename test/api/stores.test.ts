import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { collectEmittedEvents, type Emitted } from "../support/collect-emitted-events.ts";
import { type Api, type ApiResponse, type Caller, startReference } from "../support/harness.ts";
import { createFileForm, uploadFile } from "../support/upload-setup.ts";

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
const attach = (file_id: string, { store = "vs_empty", who = "dan" as Caller } = {}) =>
  api.call(who, "POST", `${STORES}/${store}/files`, { file_id });
const callState = (method: string, path: string, body?: unknown) =>
  api.call(undefined, method, `${STATE}/${path}`, body);
const listFileEvents = () => emitted.filter(({ event }) => event === "file.processed");

function expectRefusal(answer: ApiResponse, code: number, name: string, details: object): void {
  expect(answer.status, answer.text).toBe(code);
  expect(answer.body.error).toMatchObject({ code: name, details });
}

describe("processing status [4.9]", () => {
  it("is 100 percent without a step for a completed file [4.9, 3.1]", async () => {
    expect((await fetchStatus("file_handbook")).body).toEqual({
      status: "completed",
      progress_percent: 100,
      current_step: null,
      error_message: null,
      started_at: "2026-03-14T09:00:00.000Z",
      completed_at: "2026-03-14T09:01:00.000Z",
    });
  });

  it("is 45 percent and the step embedding after 27 of 60 seconds [4.9, G11]", async () => {
    expect((await fetchStatus("file_policies")).body).toEqual({
      status: "processing",
      progress_percent: 45,
      current_step: "embedding",
      error_message: null,
      started_at: "2026-03-15T11:59:33.000Z",
      completed_at: null,
    });
  });

  it("keeps the progress of a failed file and has its message [4.9, G11]", async () => {
    const { body } = await fetchStatus("file_broken");
    expect(body).toMatchObject({
      status: "failed",
      current_step: null,
      error_message: "unsupported file type",
    });
    expect(body.progress_percent).toBe(15);
    expect(Date.parse(body.completed_at)).toBeGreaterThan(Date.parse(body.started_at));
  });

  it("of a file of the fixture follows the clock and completes to the second [3.1]", async () => {
    await api.advance(32_999);
    expect((await fetchStatus("file_policies")).body).toMatchObject({
      status: "processing",
      progress_percent: 99,
    });
    await api.advance(1);
    expect((await fetchStatus("file_policies")).body).toMatchObject({
      status: "completed",
      progress_percent: 100,
      current_step: null,
      completed_at: "2026-03-15T12:00:33.000Z",
    });
    expect(listFileEvents()).toHaveLength(1);
  });

  it.each([
    ["a file that is elsewhere", "vs_handbook", "file_loose"],
    ["a file that does not exist", "vs_handbook", "file_none"],
    ["a store that does not exist", "vs_none", "file_handbook"],
  ])("is 404 FILE_NOT_IN_STORE for %s [4.9]", async (_what, store, file_id) => {
    const answer = await fetchStatus(file_id, { store });
    expectRefusal(answer, 404, "FILE_NOT_IN_STORE", { file_id, store_id: store });
  });

  it("is 422 with the parameter for malformed ids [4.9, G08]", async () => {
    expectRefusal(await fetchStatus("handbook"), 422, "INVALID_INPUT", {
      field: "file_id",
      value: "handbook",
    });
    expectRefusal(await fetchStatus("file_handbook", { store: "handbook" }), 422, "INVALID_INPUT", {
      field: "store_id",
    });
  });

  it("is refused to a non-member, and 404 for a store of another organization [G03]", async () => {
    expectRefusal(await fetchStatus("file_handbook", { who: "eve" }), 403, "ORGANIZATION_ACCESS_DENIED", {});
    const path = "/v1/organizations/org_initech/stores/vs_handbook/files/file_handbook/status";
    expectRefusal(await api.call("ada", "GET", path), 404, "FILE_NOT_IN_STORE", {});
  });
});

describe("attaching a file [G12]", () => {
  it("answers 202, and the file goes through parsing, chunking and embedding [G12, G11]", async () => {
    const first = await attach("file_loose");
    expect(first.status).toBe(202);
    expect(first.body).toEqual({
      status: "processing",
      progress_percent: 0,
      current_step: "parsing",
      error_message: null,
      started_at: "2026-03-15T12:00:00.000Z",
      completed_at: null,
    });
    const seen: unknown[] = [];
    for (const step of [8_999, 1, 14_999, 1, 35_999, 1]) {
      await api.advance(step);
      const { body } = await fetchStatus("file_loose", { store: "vs_empty" });
      seen.push([body.status, body.progress_percent, body.current_step]);
    }
    expect(seen).toEqual([
      ["processing", 14, "parsing"],
      ["processing", 15, "chunking"],
      ["processing", 39, "chunking"],
      ["processing", 40, "embedding"],
      ["processing", 99, "embedding"],
      ["completed", 100, null],
    ]);
  });

  it("answers 200 for a file that the store has, and does not restart it [G12]", async () => {
    await attach("file_loose");
    await api.advance(30_000);
    const again = await attach("file_loose");
    expect([again.status, again.body.progress_percent]).toEqual([200, 50]);
    await api.advance(30_000);
    const after = await attach("file_loose");
    expect([after.status, after.body.status]).toEqual([200, "completed"]);
    expect((await attach("file_broken", { store: "vs_handbook" })).body.status).toBe("failed");
  });

  it("reaches the same state by one advance of 400 days as by many small ones [G11]", async () => {
    await attach("file_loose");
    const { world } = api.understudy.sandboxes.get("default")!;
    const ran = await world.advance((now) => now + 400 * 86_400_000);
    const mine = ran.filter(({ kind, subject }) => kind === "file.step" && subject === "file_loose");
    expect(mine.map(({ at }) => at)).toEqual([
      "2026-03-15T12:00:09.000Z",
      "2026-03-15T12:00:24.000Z",
      "2026-03-15T12:01:00.000Z",
    ]);
    expect((await fetchStatus("file_loose", { store: "vs_empty" })).body.completed_at).toBe(
      "2026-03-15T12:01:00.000Z",
    );
    expect(world.listPending()).toEqual([]);
  });

  it("ends a step at once if its timer is run early [interfaces 4]", async () => {
    await attach("file_loose");
    const { world } = api.understudy.sandboxes.get("default")!;
    const steps = [];
    for (let n = 0; n < 3; n += 1) {
      await world.runEarly("file.step", "file_loose");
      steps.push((await fetchStatus("file_loose", { store: "vs_empty" })).body.current_step);
    }
    expect(steps).toEqual(["chunking", "embedding", null]);
    expect((await fetchStatus("file_loose", { store: "vs_empty" })).body).toMatchObject({
      status: "completed",
      completed_at: "2026-03-15T12:00:00.000Z",
    });
  });

  it("emits file.processed with the store and the status at the end [G25]", async () => {
    await attach("file_loose");
    await api.advance(60_000);
    expect(listFileEvents().find(({ data }) => data["store_id"] === "vs_empty")?.data).toEqual({
      file_id: "file_loose",
      object: "file",
      filename: "loose.txt",
      mime_type: "text/plain",
      file_size: 1290,
      organization_id: "org_acme",
      status: "completed",
      gcs_path: expect.stringMatching(/^gs:\/\/uploads\/org_acme\//),
      created_at: expect.any(String),
      created_by: "usr_ada",
      store_id: "vs_empty",
    });
  });

  it("fails for an unsupported type at the end of parsing, without an event [G11]", async () => {
    expect((await attach("file_broken")).status).toBe(202);
    await api.advance(9_000);
    expect((await fetchStatus("file_broken", { store: "vs_empty" })).body).toEqual({
      status: "failed",
      progress_percent: 15,
      current_step: null,
      error_message: "unsupported file type",
      started_at: "2026-03-15T12:00:00.000Z",
      completed_at: "2026-03-15T12:00:09.000Z",
    });
    await api.advance(60_000);
    expect(listFileEvents().filter(({ data }) => data["store_id"] === "vs_empty")).toEqual([]);
  });

  it.each([
    ["an empty file", "empty.txt", "text/plain", "", 15, "the file is empty"],
    ["a PDF that is none", "a.pdf", "application/pdf", "no PDF", 15, "the PDF cannot be read"],
    [
      "text in another encoding",
      "a.txt",
      "text/plain",
      Buffer.from("Grüezi", "latin1"),
      15,
      "the text is not valid UTF-8; save it as UTF-8, or name its encoding in the Content-Type, as in text/plain; charset=windows-1252",
    ],
    [
      "text with a byte order mark and half a character",
      "a.txt",
      "text/plain",
      Buffer.concat([Buffer.from("\ufeffGrüezi", "utf16le"), Buffer.from([0x41])]),
      15,
      "the text is not valid utf-16le, the encoding that its byte order mark names; save it as UTF-8",
    ],
    [
      "text in a charset that does not exist",
      "a.txt",
      "text/plain; charset=none-such",
      "words",
      15,
      "the text is not valid none-such, the encoding that its Content-Type names; save it as UTF-8",
    ],
    [
      "JSON that is none",
      "a.json",
      "application/json",
      "{broken",
      15,
      "the file cannot be read as application/json",
    ],
    [
      "a document that is not an archive",
      "a.docx",
      "application/octet-stream",
      "words",
      15,
      "the file cannot be read as",
    ],
    ["a picture", "a.png", "image/png", "no matter", 15, "unsupported file type"],
    ["blanks", "a.md", "text/markdown", " \n\t\n", 40, "the file holds no text"],
    ["a page without text", "a.html", "text/html", "<p><script>1</script></p>", 40, "the file holds no text"],
    ["signs without words", "a.csv", "text/csv", "--,!?\n..,--", 99, "the text holds no words"],
  ] as const)(
    "fails for %s at its step, with a message [G34]",
    async (_what, name, type, content, progress_percent, message) => {
      const form = createFileForm(content, { name, type });
      const { body } = await api.call("dan", "POST", "/v1/organizations/org_acme/files/upload", form);
      expect((await attach(body.id)).status).toBe(202);
      const end = { 15: 9_000, 40: 24_000, 99: 60_000 }[progress_percent];
      await api.advance(end - 1);
      expect((await fetchStatus(body.id, { store: "vs_empty" })).body.status).toBe("processing");
      await api.advance(1);
      expect((await fetchStatus(body.id, { store: "vs_empty" })).body).toMatchObject({
        status: "failed",
        progress_percent,
        current_step: null,
        error_message: expect.stringContaining(message),
      });
      await api.advance(60_000);
      expect(listFileEvents().filter(({ data }) => data["file_id"] === body.id)).toEqual([]);
    },
  );

  it.each([
    ["notes.md", "application/octet-stream", "Words."],
    ["utf16.txt", "text/plain", Buffer.from("\ufeffWords.", "utf16le")],
    ["old.doc", "application/msword", Buffer.from("d0cf11e0a1b11ae1", "hex")],
  ])("completes for %s as %s [G34]", async (name, type, content) => {
    const form = createFileForm(content, { name, type });
    const { body } = await api.call("dan", "POST", "/v1/organizations/org_acme/files/upload", form);
    await attach(body.id);
    await api.advance(60_000);
    expect((await fetchStatus(body.id, { store: "vs_empty" })).body.status).toBe("completed");
  });

  it("processes one file separately in two stores [G11]", async () => {
    await attach("file_loose");
    await api.advance(20_000);
    await attach("file_loose", { store: "vs_handbook" });
    await api.advance(40_000);
    expect((await fetchStatus("file_loose", { store: "vs_empty" })).body.status).toBe("completed");
    expect((await fetchStatus("file_loose")).body.progress_percent).toBe(66);
    await api.advance(20_000);
    expect((await fetchStatus("file_loose")).body.status).toBe("completed");
  });

  it.each([
    [10, 5_000, 50],
    [0.5, 250, 50],
    [86_400, 8_640_000, 10],
  ])(
    "takes as long as the setting processing_seconds %d [G11]",
    async (processing_seconds, after, percent) => {
      api.understudy.sandboxes.get("default")!.configure({ processing_seconds });
      await attach("file_loose");
      await api.advance(after);
      expect((await fetchStatus("file_loose", { store: "vs_empty" })).body.progress_percent).toBe(percent);
      // A change of the setting applies only to later files.
      api.understudy.sandboxes.get("default")!.configure({ processing_seconds: 1 });
      await api.advance(processing_seconds * 1000 - after);
      expect((await fetchStatus("file_loose", { store: "vs_empty" })).body.status).toBe("completed");
    },
  );

  it("is complete at the next request on a frozen clock if it takes 0 seconds [G11]", async () => {
    api.understudy.sandboxes.get("default")!.configure({ processing_seconds: 0 });
    expect((await attach("file_loose")).body.status).toBe("processing");
    expect((await fetchStatus("file_loose", { store: "vs_empty" })).body).toMatchObject({
      status: "completed",
      completed_at: "2026-03-15T12:00:00.000Z",
    });
  });

  it("answers 404 RESOURCE_NOT_FOUND for an unknown store or file, or one of another organization [G12]", async () => {
    expectRefusal(await attach("file_loose", { store: "vs_none" }), 404, "RESOURCE_NOT_FOUND", {
      store_id: "vs_none",
    });
    expectRefusal(await attach("file_none"), 404, "RESOURCE_NOT_FOUND", { file_id: "file_none" });
    const foreign = await callState("POST", "files", { id: "file_globex", organization_id: "org_globex" });
    expect(foreign.status, foreign.text).toBe(201);
    expectRefusal(await attach("file_globex"), 404, "RESOURCE_NOT_FOUND", { file_id: "file_globex" });
    const path = "/v1/organizations/org_initech/stores/vs_empty/files";
    expectRefusal(await api.call("ada", "POST", path, { file_id: "file_loose" }), 404, "RESOURCE_NOT_FOUND", {
      store_id: "vs_empty",
    });
    expectRefusal(await attach("loose"), 422, "INVALID_INPUT", { field: "file_id", value: "loose" });
    expectRefusal(await attach("file_loose", { who: "eve" }), 403, "ORGANIZATION_ACCESS_DENIED", {});
  });

  it("completes for an uploaded file [4.6, 4.9]", async () => {
    const file = await uploadFile(api, "Hello, store.");
    await attach(file.id);
    await api.advance(60_000);
    expect((await fetchStatus(file.id, { store: "vs_empty" })).body.status).toBe("completed");
  });
});
