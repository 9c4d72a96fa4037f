import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { files } from "../src/resources/files/schema.ts";
import { storeFiles } from "../src/resources/vector-stores/schema.ts";
import { type Answered, type Api, KEYS, startReference } from "./harness.ts";
import { stateRules } from "./state-rules.ts";
import { announce, privateTemporaryFolder, put, sendAndLeave, uploadedFile } from "./upload-setup.ts";

const FILES = "/v1/organizations/org_acme/files";

let api: Api;
let temporary: ReturnType<typeof privateTemporaryFolder>;
beforeEach(async () => {
  temporary = privateTemporaryFolder();
  api = await startReference();
});
afterEach(async () => {
  await api.close();
  temporary.remove();
});

/** Events that reach the webhook of a fresh receiver-less world, as deliveries list them. */
async function eventsOf(work: () => Promise<unknown>): Promise<{ event: string; data: object }[]> {
  const seen: { event: string; data: object }[] = [];
  const { world } = api.understudy.sandboxes.get("default")!;
  const transact = world.transact.bind(world);
  const spy = vi.spyOn(world, "transact").mockImplementation((change) =>
    transact((tx) => {
      const value = change(tx);
      seen.push(...tx.emitted.map(({ event, data }) => ({ event, data })));
      return value;
    }),
  );
  await work();
  spy.mockRestore();
  return seen;
}

function formOf(content: string | Uint8Array, { name = "notes.txt", type = "text/plain" } = {}): FormData {
  const form = new FormData();
  form.append(
    "file",
    new Blob([typeof content === "string" ? content : new Uint8Array(content)], { type }),
    name,
  );
  return form;
}

const upload = (form: FormData, who: "dan" | "eve" = "dan") => api.call(who, "POST", `${FILES}/upload`, form);

function expectInvalid(answer: Answered, field: string, value?: unknown): void {
  expect(answer.status, answer.text).toBe(422);
  expect(answer.body.error.code).toBe("INVALID_INPUT");
  expect(answer.body.error.details.field).toBe(field);
  if (value !== undefined) expect(answer.body.error.details.value).toEqual(value);
}

describe("4.6 registering", () => {
  it("4.6 G13 the first time is 201 and the file object, again 200 and the same file", async () => {
    const { announced, upload_url, gcs_path } = await announce(api);
    await put(upload_url, "0123456789");
    const events = await eventsOf(async () => {
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
    });
    const { id, ...rest } = (await api.call("dan", "POST", FILES, { ...announced, gcs_path })).body;
    expect(events).toEqual([{ event: "file.uploaded", data: { file_id: id, ...rest } }]);
    expect(temporary.files()).toEqual([]);
  });

  it("G13 many registrations at once make one file", async () => {
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
  ])("G13 another %s than announced is 422 naming it", async (field, value) => {
    const { announced, upload_url, gcs_path } = await announce(api);
    await put(upload_url, "0123456789");
    expectInvalid(
      await api.call("dan", "POST", FILES, { ...announced, gcs_path, [field]: value }),
      field,
      value,
    );
    expect((await api.call("dan", "POST", FILES, { ...announced, gcs_path })).status).toBe(201);
  });

  it("G13 an upload that is not whole, or another organization's, is 422 gcs_path", async () => {
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

  it("4.6 the file is usable in stores at once", async () => {
    const file = await uploadedFile(api, "Hello.");
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
  ])("G08 %j is refused for an upload URL and a registration alike", async (body, field, value) => {
    expectInvalid(await api.call("dan", "POST", `${FILES}/upload-url`, body), field, value);
    const registration = { ...body, gcs_path: "gs://uploads/x" };
    expectInvalid(await api.call("dan", "POST", FILES, registration), field, value);
  });

  it("G03 the organization is judged before anything else", async () => {
    const body = { filename: "a", file_size: 1, mime_type: "text/plain", gcs_path: "gs://x" };
    for (const tail of ["/files", "/files/upload-url"]) {
      const foreign = await api.call("dan", "POST", `/v1/organizations/org_globex${tail}`, body);
      expect([foreign.status, foreign.body.error.code]).toEqual([403, "ORGANIZATION_ACCESS_DENIED"]);
      const unknown = await api.call("dan", "POST", `/v1/organizations/org_none${tail}`, body);
      expect([unknown.status, unknown.body.error.code]).toEqual([404, "ORGANIZATION_NOT_FOUND"]);
    }
  });
});

describe("4.6 simple upload", () => {
  it("4.6 G13 answers 201 with the file object, and emits file.uploaded", async () => {
    let file: Record<string, unknown> = {};
    const events = await eventsOf(async () => {
      const answer = await upload(
        formOf("# Häuser\n\nDie Brücke.", { name: "Übersicht 日本.md", type: "text/markdown" }),
      );
      expect(answer.status, answer.text).toBe(201);
      file = answer.body;
    });
    expect(file).toMatchObject({
      object: "file",
      filename: "Übersicht 日本.md",
      mime_type: "text/markdown",
      file_size: 23,
      organization_id: "org_acme",
      status: "uploaded",
      created_by: "usr_dan",
    });
    const { id, ...rest } = file;
    expect(events).toEqual([{ event: "file.uploaded", data: { file_id: id, ...rest } }]);
    expect(temporary.files()).toEqual([]);
  });

  it("G13 what a client calls a file is never a path", async () => {
    const answer = await upload(formOf("x", { name: "../../../../etc/passwd" }));
    expect(answer.status).toBe(201);
    expect(answer.body.gcs_path).not.toContain("..");
    expect(temporary.files()).toEqual([]);
  });

  it("G13 a file of 100 x 2^20 bytes is 413, one byte less is taken", async () => {
    const most = 100 * 1024 * 1024 - 1;
    const tooLarge = await upload(formOf(new Uint8Array(most + 1), { type: "application/octet-stream" }));
    expect([tooLarge.status, tooLarge.body.error.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    expect(tooLarge.body.error.details).toEqual({ field: "file", limit_bytes: most });
    const taken = await upload(formOf(new Uint8Array(most), { type: "application/octet-stream" }));
    expect([taken.status, taken.body.file_size]).toEqual([201, most]);
    expect(temporary.files()).toEqual([]);
  }, 60_000);

  it("G09 forms that are none, have no file, or have it twice are refused and leave nothing", async () => {
    const send = (body: string, type: string) =>
      api.call("dan", "POST", `${FILES}/upload`, body, { "content-type": type });
    const multipart = 'multipart/form-data; boundary="x"';
    const part = (name: string, tail: string) =>
      `--x\r\ncontent-disposition: form-data; name="${name}"${tail}`;
    expect((await send("{}", "application/json")).status).toBe(415);
    expectInvalid(await send("whatever", "multipart/form-data"), "body");
    expectInvalid(await send("--y\r\n\r\n--y--", multipart), "body");
    expectInvalid(await send(part("file", '; filename="a"\r\n\r\nhalf'), multipart), "body");
    expectInvalid(await upload(new FormData()), "file", null);
    expectInvalid(await send(`${part("file", "\r\n\r\ntext")}\r\n--x--\r\n`, multipart), "file", "text");
    const twice = formOf("a");
    twice.append("file", new Blob(["b"]), "b.txt");
    expectInvalid(await upload(twice), "file", "b.txt");
    const many = formOf("a");
    for (let i = 0; i < 200; i++) many.append(`field${i}`, "x");
    expect((await upload(many)).status).toBe(413);
    const gigantic = formOf("a");
    gigantic.append("note", "x".repeat(1_100_000));
    expect((await upload(gigantic)).status).toBe(413);
    expect(temporary.files()).toEqual([]);
  });

  it("G09 an unknown part is ignored with a warning, or refused by setting", async () => {
    const form = formOf("a");
    form.append("thumbnail", new Blob(["b"]), "b.png");
    expect((await upload(form)).status).toBe(201);
    const [entry] = api.understudy.sandboxes.get("default")!.journal.entries().slice(-1);
    expect(entry!.warnings.join()).toContain("thumbnail");
    api.understudy.sandboxes.get("default")!.configure({ unknown_fields: "reject" });
    const again = formOf("a");
    again.append("thumbnail", new Blob(["b"]), "b.png");
    expectInvalid(await upload(again), "thumbnail");
  });

  it("4.6 a client that leaves at any byte leaves nothing behind", async () => {
    const body = Buffer.from(
      '--x\r\ncontent-disposition: form-data; name="note"\r\n\r\nhello\r\n' +
        `--x\r\ncontent-disposition: form-data; name="file"; filename="a.bin"\r\ncontent-type: application/octet-stream\r\n\r\n${"z".repeat(300)}\r\n--x--\r\n`,
    );
    const headers = {
      "api-key": KEYS.dan,
      "content-type": "multipart/form-data; boundary=x",
      "content-length": body.length,
    };
    const before = counted();
    for (let sent = 0; sent < body.length; sent += 17) {
      await sendAndLeave(`${api.url}${FILES}/upload`, { method: "POST", headers }, body.subarray(0, sent));
    }
    await vi.waitFor(() => expect(temporary.entries().flatMap(() => temporary.files())).toEqual([]), 5000);
    expect(counted()).toBe(before);
    const whole = await fetch(`${api.url}${FILES}/upload`, {
      method: "POST",
      headers: { "api-key": KEYS.dan, "content-type": headers["content-type"] },
      body: new Uint8Array(body),
    });
    expect(whole.status).toBe(201);
    expect(counted()).toBe(before + 1);
  });

  function counted(): number {
    return api.understudy.sandboxes.get("default")!.world.read().all(files).size;
  }
});

describe("G18 files in state calls", () => {
  it("G18 a file made by a state call is complete, plausible, and announced", () => {
    const { record, emitted } = stateRules(api, "files").post({ filename: "plan.md" });
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
    expect(stateRules(api, "files").post({}, { silent: true }).emitted).toEqual([]);
  });

  it("G25 deleting a file emits file.deleted and takes it out of its stores", () => {
    const { emitted } = stateRules(api, "files").remove("file_policies");
    expect(emitted).toEqual([
      expect.objectContaining({
        event: "file.deleted",
        data: expect.objectContaining({ file_id: "file_policies", filename: "policies.md" }),
      }),
    ]);
    const { world } = api.understudy.sandboxes.get("default")!;
    expect(world.read().get(storeFiles, "vs_handbook:file_policies")).toBeUndefined();
    expect(world.pending().filter(({ kind }) => kind === "file.step")).toEqual([]);
  });

  it("G13 a registration whose file was deleted is 422 gcs_path", async () => {
    const file = await uploadedFile(api, "0123456789");
    stateRules(api, "files").remove(file.id);
    const { filename, file_size, mime_type, gcs_path } = file;
    const answer = await api.call("dan", "POST", FILES, { filename, file_size, mime_type, gcs_path });
    expectInvalid(answer, "gcs_path", gcs_path);
  });
});

describe("G20 the text of files", () => {
  async function quote(file_id: string, question: string): Promise<string> {
    const answer = await api.call("dan", "POST", "/v1/model/response", {
      model: "atlas-large",
      inputs: [{ role: "user", content: question, files: [{ file_id }] }],
    });
    expect(answer.status, answer.text).toBe(200);
    return answer.body.output[0].content[0].text;
  }

  const pdf = (lines: readonly string[]) => {
    const text = lines.map((line) => `(${line}) Tj T*`).join("\n");
    const content = `BT /F1 12 Tf 14 TL 72 720 Td\n${text}\nET`;
    const objects = [
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ];
    let document = "%PDF-1.4\n";
    const offsets = objects.map((object, i) => {
      const offset = document.length;
      document += `${i + 1} 0 obj\n${object}\nendobj\n`;
      return `${String(offset).padStart(10, "0")} 00000 n \n`;
    });
    const start = document.length;
    document += `xref\n0 6\n0000000000 65535 f \n${offsets.join("")}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n${start}\n%%EOF\n`;
    return document;
  };

  it.each([
    [
      "text/plain",
      "a.txt",
      "The pump runs at night. The valve opens at six.",
      "valve",
      "The valve opens at six.",
    ],
    [
      "text/markdown",
      "a.md",
      "# Pumps\n\n- Red pumps are old\n- Green pumps are new",
      "green",
      "Green pumps are new",
    ],
    ["text/csv", "a.csv", "part,price\nvalve,12.50\npump,99.00", "pump", "pump,99.00"],
    [
      "application/json",
      "a.json",
      '{"parts": [{"name": "valve"}, {"name": "pump", "price": 99}]}',
      "pump",
      "parts name: pump",
    ],
    [
      "application/pdf",
      "a.pdf",
      pdf(["The pump runs at night.", "The valve opens at six."]),
      "valve",
      "The valve opens at six.",
    ],
  ])(
    "G20 %s is quoted by its best passage, resumably uploaded or simply",
    async (mime_type, filename, content, question, passage) => {
      const resumable = await uploadedFile(api, content, { mime_type, filename });
      const simple = await upload(formOf(content, { name: filename, type: mime_type }));
      for (const id of [resumable.id, simple.body.id]) expect(await quote(id, question)).toContain(passage);
    },
  );

  it("G20 files of the fixture have something to say, and others nothing", async () => {
    expect(await quote("file_handbook", "How many days of vacation?")).toContain("27 days of paid vacation");
    expect(await quote("file_policies", "What about passwords?")).toContain("password manager");
    expect(await quote("file_broken", "What is in it?")).not.toContain("broken.bin:");
  });

  it("G20 bytes that are no text are registered all the same, and quoted never", async () => {
    for (const [mime_type, filename] of [
      ["application/pdf", "broken.pdf"],
      ["image/png", "picture.png"],
      ["application/json", "broken.json"],
    ] as const) {
      const answer = await upload(
        formOf(new Uint8Array([0, 255, 254, 1, 2, 3]), { name: filename, type: mime_type }),
      );
      expect(answer.status, answer.text).toBe(201);
      expect(await quote(answer.body.id, "What is in it?")).not.toContain(`${filename}:`);
    }
  });

  it("G20 the text is part of the world: a snapshot and a fork carry it", async () => {
    const file = await uploadedFile(api, "The valve opens at six.");
    const { sandboxes } = api.understudy;
    sandboxes.fork(sandboxes.get("default")!, "twin");
    const answer = await api.call("dan", "POST", "/_s/twin/v1/model/response", {
      model: "atlas-large",
      inputs: [{ role: "user", content: "valve", files: [{ file_id: file.id }] }],
    });
    expect(answer.body.output[0].content[0].text).toContain("The valve opens at six.");
  });
});
