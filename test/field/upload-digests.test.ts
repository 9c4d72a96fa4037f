import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Api, startReference } from "../support/harness.ts";
import { runRequests } from "../support/real-clients.ts";
import { createTempFolder, removeTempFolders } from "../support/run-understudy.ts";
import { announce, createFileForm, probe, put } from "../support/upload-setup.ts";

vi.setConfig({ testTimeout: 30_000, hookTimeout: 60_000 });

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(async () => {
  await api.close();
  removeTempFolders();
});

const CONTENT = "0123456789";
const MD5 = createHash("md5").update(CONTENT).digest("base64");
/** CRC32C (RFC 3720) of the content; that of `123456789` is e3069283. */
const CRC32C = "KAwGng==";
const OTHER_MD5 = createHash("md5").update("other").digest("base64");

const WRONG: [why: string, headers: Record<string, string>][] = [
  ["another MD5", { "content-md5": OTHER_MD5 }],
  ["another crc32c", { "x-goog-hash": "crc32c=AAAAAA==" }],
  ["another md5 beside the right crc32c", { "x-goog-hash": `crc32c=${CRC32C},md5=${OTHER_MD5}` }],
  ["one of two values", { "x-goog-hash": `md5=${MD5}, md5=${OTHER_MD5}` }],
  ["another MD5 beside the right X-Goog-Hash", { "x-goog-hash": `md5=${MD5}`, "content-md5": OTHER_MD5 }],
  ["a digest in hexadecimal", { "content-md5": createHash("md5").update(CONTENT).digest("hex") }],
  ["a digest of another length", { "x-goog-hash": `crc32c=${MD5}` }],
  ["no value", { "x-goog-hash": "md5" }],
];

const RIGHT: [why: string, headers: Record<string, string>][] = [
  ["both digests", { "x-goog-hash": `crc32c=${CRC32C},md5=${MD5}`, "content-md5": MD5 }],
  ["other spelling and spaces", { "x-goog-hash": ` CRC32C=${CRC32C} , MD5=${MD5}` }],
  ["an unknown algorithm", { "x-goog-hash": "sha256=abc" }],
  ["an empty header", { "x-goog-hash": "" }],
];

describe("a resumable upload with a digest", () => {
  it.each(WRONG)("is refused for %s, and begins again [G43]", async (_why, headers) => {
    const { upload_url } = await announce(api);
    const refused = await put(upload_url, CONTENT, headers);
    expect([refused.status, refused.body.error.code]).toEqual([400, "INVALID_DIGEST"]);
    const [name, value] = Object.entries(headers).at(-1)!;
    expect(refused.body.error.details.field.toLowerCase()).toBe(name);
    expect(refused.body.error.details.value).toBe(value);
    expect(await probe(upload_url)).toMatchObject({ status: 308, range: null });
    expect((await put(upload_url, CONTENT, { "content-md5": MD5 })).status).toBe(200);
  });

  it.each(RIGHT)("is accepted for %s [G43]", async (_why, headers) => {
    const { upload_url } = await announce(api);
    expect((await put(upload_url, CONTENT, headers)).status).toBe(200);
  });

  it("uses only the last chunk's digest, over all bytes [G43]", async () => {
    const { upload_url } = await announce(api);
    const first = { "content-range": "bytes 0-3/10", "content-md5": OTHER_MD5, "x-goog-hash": "md5" };
    expect((await put(upload_url, "0123", first)).status).toBe(308);
    const wrong = { "content-range": "bytes 4-9/10", "x-goog-hash": `md5=${OTHER_MD5}` };
    expect((await put(upload_url, "456789", wrong)).status).toBe(400);
    expect(await probe(upload_url)).toMatchObject({ status: 308, range: null });
    expect((await put(upload_url, "0123", { "content-range": "bytes 0-3/10" })).status).toBe(308);
    const right = { "content-range": "bytes 4-9/10", "x-goog-hash": `crc32c=${CRC32C},md5=${MD5}` };
    expect((await put(upload_url, "456789", right)).status).toBe(200);
  });

  it("is refused for another digest of an empty file [G43]", async () => {
    const { upload_url } = await announce(api, { file_size: 0 });
    expect((await put(upload_url, "", { "content-md5": OTHER_MD5 })).status).toBe(400);
    const right = { "content-md5": createHash("md5").digest("base64"), "x-goog-hash": "crc32c=AAAAAA==" };
    expect((await put(upload_url, "", right)).status).toBe(200);
  });

  it("cannot be registered after a refusal [G43]", async () => {
    const { announced, upload_url, gcs_path } = await announce(api);
    await put(upload_url, CONTENT, { "content-md5": OTHER_MD5 });
    const path = "/v1/organizations/org_acme/files";
    const answer = await api.call("dan", "POST", path, { ...announced, gcs_path });
    expect([answer.status, answer.body.error.details.field]).toEqual([422, "gcs_path"]);
  });

  it("ignores digests by setting [G43]", async () => {
    const lenient = await startReference({ settings: { upload_digests: "ignore" } });
    try {
      const { upload_url } = await announce(lenient);
      expect((await put(upload_url, CONTENT, { "content-md5": "wrong" })).status).toBe(200);
    } finally {
      await lenient.close();
    }
  });

  it("is accepted from Python's requests with Content-MD5", async (test) => {
    const folder = createTempFolder();
    writeFileSync(join(folder, "notes.txt"), CONTENT);
    const { upload_url } = await announce(api);
    const code = `
import base64, hashlib, json, requests, sys
data = open("notes.txt", "rb").read()
digest = lambda some: base64.b64encode(hashlib.md5(some).digest()).decode()
put = lambda md5: requests.put(sys.argv[1], data=data, headers={"Content-MD5": md5}).status_code
print(json.dumps([put(digest(b"other")), put(digest(data))]))`;
    expect(await runRequests(test, code, [upload_url], folder)).toEqual([400, 200]);
  });
});

describe("a form's file with a digest", () => {
  const send = (headers: Record<string, string>) =>
    api.call("dan", "POST", "/v1/organizations/org_acme/files/upload", createFileForm(CONTENT), headers);

  it.each(WRONG)("is refused for %s, and nothing is stored [G43]", async (_why, headers) => {
    const count = async () =>
      (await api.call(undefined, "GET", "/_control/sandboxes/default/state/files")).body.total;
    const before = await count();
    const refused = await send(headers);
    expect([refused.status, refused.body.error.code]).toEqual([400, "INVALID_DIGEST"]);
    expect(await count()).toBe(before);
  });

  it.each(RIGHT)("is accepted for %s [G43]", async (_why, headers) => {
    expect((await send(headers)).status).toBe(201);
  });
});
