import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { files } from "../../src/engine/resources/files/schema.ts";
import { collectEmittedEvents } from "../support/collect-emitted-events.ts";
import { waitUntilPasses } from "../support/eventually.ts";
import { type Api, KEYS, startReference } from "../support/harness.ts";
import {
  createFileForm,
  createPrivateTempFolder,
  expectInvalid,
  sendAndDisconnect,
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

const upload = (form: FormData) => api.call("dan", "POST", `${FILES}/upload`, form);

describe("simple upload [4.6]", () => {
  it("answers 201 with the file object and emits file.uploaded [4.6, G13]", async () => {
    const events = collectEmittedEvents(api);
    const answer = await upload(
      createFileForm("# Häuser\n\nDie Brücke.", { name: "Übersicht 日本.md", type: "text/markdown" }),
    );
    expect(answer.status, answer.text).toBe(201);
    const file = answer.body;
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
    expect(events).toEqual([
      { event: "file.uploaded", organization_id: "org_acme", data: { file_id: id, ...rest } },
    ]);
    expect(temporary.files()).toEqual([]);
  });

  it("never uses a file name as a path [G13]", async () => {
    const answer = await upload(createFileForm("x", { name: "../../../../etc/passwd" }));
    expect(answer.status).toBe(201);
    expect(answer.body.gcs_path).not.toContain("..");
    expect(temporary.files()).toEqual([]);
  });

  it("answers 413 to a file of 100 x 2^20 bytes, and accepts one byte less [G13]", async () => {
    const most = 100 * 1024 * 1024 - 1;
    const tooLarge = await upload(
      createFileForm(new Uint8Array(most + 1), { type: "application/octet-stream" }),
    );
    expect([tooLarge.status, tooLarge.body.error.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    expect(tooLarge.body.error.details).toEqual({ field: "file", limit_bytes: most });
    const taken = await upload(createFileForm(new Uint8Array(most), { type: "application/octet-stream" }));
    expect([taken.status, taken.body.file_size]).toEqual([201, most]);
    expect(temporary.files()).toEqual([]);
  });

  it("refuses a broken form, and one without a file or with two, and leaves nothing behind [G09]", async () => {
    const send = (body: string, type: string) =>
      api.call("dan", "POST", `${FILES}/upload`, body, { "content-type": type });
    const multipart = 'multipart/form-data; boundary="x"';
    const makePart = (name: string, tail: string) =>
      `--x\r\ncontent-disposition: form-data; name="${name}"${tail}`;
    expect((await send("{}", "application/json")).status).toBe(415);
    expectInvalid(await send("whatever", "multipart/form-data"), "body");
    expectInvalid(await send("--y\r\n\r\n--y--", multipart), "body");
    expectInvalid(await send(makePart("file", '; filename="a"\r\n\r\nhalf'), multipart), "body");
    expectInvalid(await upload(new FormData()), "file", null);
    expectInvalid(await send(`${makePart("file", "\r\n\r\ntext")}\r\n--x--\r\n`, multipart), "file", "text");
    const twice = createFileForm("a");
    twice.append("file", new Blob(["b"]), "b.txt");
    expectInvalid(await upload(twice), "file", "b.txt");
    const many = createFileForm("a");
    for (let i = 0; i < 200; i++) many.append(`field${i}`, "x");
    expect((await upload(many)).status).toBe(413);
    const gigantic = createFileForm("a");
    gigantic.append("note", "x".repeat(1_100_000));
    expect((await upload(gigantic)).status).toBe(413);
    expect(temporary.files()).toEqual([]);
  });

  it("answers 422 to a name or type that a file object cannot have, and accepts the longest name [G13]", async () => {
    const uploadNamed = (name: string, type = "text/plain") => upload(createFileForm("x", { name, type }));
    for (const name of ["n".repeat(1024), "😀".repeat(1024)]) {
      const { status, body } = await uploadNamed(name);
      expect([status, body.filename]).toEqual([201, name]);
    }
    for (const name of ["n".repeat(1025), "😀".repeat(1025), `${"n".repeat(10_000)}.txt`]) {
      expectInvalid(await uploadNamed(name), "file", name);
    }
    for (const type of ["te*t/plain", "te~xt/plain", "text/a%b", `text/${"x".repeat(300)}`]) {
      const body = `--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\ncontent-type: ${type}\r\n\r\nx\r\n--x--\r\n`;
      const headers = { "content-type": "multipart/form-data; boundary=x" };
      expectInvalid(await api.call("dan", "POST", `${FILES}/upload`, body, headers), "file", type);
    }
    expect(temporary.files()).toEqual([]);
  });

  it("answers 415 to a compressed form [G09]", async () => {
    const answer = await api.call("dan", "POST", `${FILES}/upload`, createFileForm("x"), {
      "content-encoding": "gzip",
    });
    expect([answer.status, answer.body.error.code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
    expect(answer.body.error.system_message).toContain("gzip");
  });

  it("ignores an empty file input and a path without a name [G13]", async () => {
    for (const name of ["", "/", "dir/", "..", "."]) {
      const body = `--x\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: application/octet-stream\r\n\r\n\r\n--x--\r\n`;
      const headers = { "content-type": "multipart/form-data; boundary=x" };
      expectInvalid(await api.call("dan", "POST", `${FILES}/upload`, body, headers), "file", null);
    }
    expect(temporary.files()).toEqual([]);
  });

  it("ignores an unknown part with a warning, or refuses it by setting [G09]", async () => {
    const form = createFileForm("a");
    form.append("thumbnail", new Blob(["b"]), "b.png");
    expect((await upload(form)).status).toBe(201);
    const [entry] = api.understudy.sandboxes.get("default")!.journal.entries().slice(-1);
    expect(entry!.warnings.join()).toContain("thumbnail");
    api.understudy.sandboxes.get("default")!.configure({ unknown_fields: "reject" });
    const again = createFileForm("a");
    again.append("thumbnail", new Blob(["b"]), "b.png");
    expectInvalid(await upload(again), "thumbnail");
  });

  it("leaves no file behind if a client disconnects at any byte [4.6]", async () => {
    const body = Buffer.from(
      '--x\r\ncontent-disposition: form-data; name="note"\r\n\r\nhello\r\n' +
        `--x\r\ncontent-disposition: form-data; name="file"; filename="a.bin"\r\ncontent-type: application/octet-stream\r\n\r\n${"z".repeat(300)}\r\n--x--\r\n`,
    );
    const headers = {
      "api-key": KEYS.dan,
      "content-type": "multipart/form-data; boundary=x",
      "content-length": body.length,
    };
    const before = countFiles();
    for (let sent = 0; sent < body.length; sent += 17) {
      await sendAndDisconnect(
        `${api.url}${FILES}/upload`,
        { method: "POST", headers },
        body.subarray(0, sent),
      );
    }
    await waitUntilPasses(() => expect(temporary.entries().flatMap(() => temporary.files())).toEqual([]));
    expect(countFiles()).toBe(before);
    const whole = await fetch(`${api.url}${FILES}/upload`, {
      method: "POST",
      headers: { "api-key": KEYS.dan, "content-type": headers["content-type"] },
      body: new Uint8Array(body),
    });
    expect(whole.status).toBe(201);
    expect(countFiles()).toBe(before + 1);
  });

  function countFiles(): number {
    return api.understudy.sandboxes.get("default")!.world.read().all(files).size;
  }
});
