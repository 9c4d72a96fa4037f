import { request } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { crc32c, formatCrc32c } from "../../src/engine/crc32c.ts";
import { type Api, EPOCH, startReference } from "../support/harness.ts";
import { announce, chunk, createPrivateTempFolder, probe, put } from "../support/upload-setup.ts";

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

describe("the upload URL [G13]", () => {
  it("names this server and has an unguessable token [4.6, G13]", async () => {
    const first = await announce(api);
    const second = await announce(api);
    expect(first.method).toBe("PUT");
    expect(first.expires_at).toBe("2026-03-22T12:00:00.000Z");
    expect(first.gcs_path).toMatch(/^gs:\/\/uploads\/org_acme\//);
    expect(first.gcs_path).not.toBe(second.gcs_path);
    expect(new URL(first.upload_url).origin).toBe(api.url);
    const token = new URL(first.upload_url).searchParams.get("upload_id")!;
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(new URL(second.upload_url).searchParams.get("upload_id")).not.toBe(token);
  });

  it("is unknown in other sandboxes [G13]", async () => {
    api.understudy.sandboxes.create({ name: "other", clock: { mode: "frozen" } });
    const answer = await api.call("dan", "POST", "/_s/other/v1/organizations/org_acme/files/upload-url", {
      filename: "a.txt",
      file_size: 5,
      mime_type: "text/plain",
    });
    const { upload_url } = answer.body;
    expect(upload_url.startsWith(`${api.url}/_s/other/upload/`)).toBe(true);
    const elsewhere = await put(upload_url.replace("/_s/other", ""), "hello");
    expect([elsewhere.status, elsewhere.body.error.code]).toEqual([404, "RESOURCE_NOT_FOUND"]);
    expect((await put(upload_url, "hello")).status).toBe(200);
  });

  it("needs no credentials, and they do not replace its token [G13]", async () => {
    const { upload_url } = await announce(api);
    const url = new URL(upload_url);
    url.searchParams.set("upload_id", "AAAA");
    expect((await put(url.href, "0123456789", { "api-key": "ak_whatever" })).status).toBe(404);
    url.searchParams.delete("upload_id");
    const none = await put(url.href, "0123456789");
    expect([none.status, none.body.error.details.field]).toEqual([422, "upload_id"]);
    expect((await put(upload_url, "0123456789", { "api-key": "ak_whatever" })).status).toBe(200);
  });

  it("is 410 for PUT, probe and DELETE after upload_url_lifetime_seconds, and the disk is freed [G13]", async () => {
    const short = await startReference({ settings: { upload_url_lifetime_seconds: 60 } });
    const { upload_url, expires_at, gcs_path, announced } = await announce(short);
    expect(expires_at).toBe("2026-03-15T12:01:00.000Z");
    await chunk(upload_url, "01234", 0, 10);
    expect(temporary.bytes().toString()).toBe("01234");
    await short.advance(59_999);
    expect((await probe(upload_url)).status).toBe(308);
    await short.advance(1);
    expect(temporary.files()).toEqual([]);
    for (const answer of [await probe(upload_url), await put(upload_url, "0123456789")]) {
      expect([answer.status, answer.body.error.code]).toEqual([410, "UPLOAD_EXPIRED"]);
    }
    expect((await fetch(upload_url, { method: "DELETE" })).status).toBe(410);
    const registered = await short.call("dan", "POST", "/v1/organizations/org_acme/files", {
      ...announced,
      gcs_path,
    });
    expect([registered.status, registered.body.error.details.field]).toEqual([422, "gcs_path"]);
    await short.close();
  });

  it("is 410 once its expiry was run early [G13, interfaces 4]", async () => {
    const { upload_url } = await announce(api);
    const sandbox = "/_control/sandboxes/default/clock/pending";
    const pending = (await api.call(undefined, "GET", sandbox)).body;
    const expiry = pending.find(({ kind }: { kind: string }) => kind === "expiry");
    await api.call(undefined, "POST", `${sandbox}/run`, { kind: "expiry", subject: expiry.subject });
    for (const answer of [await put(upload_url, "0123456789"), await probe(upload_url)])
      expect([answer.status, answer.body?.error.details.expires_at]).toEqual([410, EPOCH]);
  });
});

describe("the resumable protocol [G13]", () => {
  it("answers a whole PUT with the object's metadata and checksum [4.6]", async () => {
    const { upload_url, gcs_path } = await announce(api);
    const answer = await put(upload_url, "0123456789", { "content-type": "text/plain" });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      kind: "storage#object",
      bucket: "uploads",
      size: "10",
      contentType: "text/plain",
      crc32c: formatCrc32c(crc32c(Buffer.from("0123456789"))),
    });
    expect(`gs://uploads/${answer.body.name}`).toBe(gcs_path);
  });

  it("answers 308 with the stored range to a chunk, and 200 to the last one [G13]", async () => {
    const { upload_url } = await announce(api);
    expect(await chunk(upload_url, "0123", 0, 10)).toMatchObject({ status: 308, range: "bytes=0-3" });
    expect(await chunk(upload_url, "456", 4, "*")).toMatchObject({ status: 308, range: "bytes=0-6" });
    expect(await chunk(upload_url, "789", 7, 10)).toMatchObject({ status: 200, range: null });
    expect(temporary.bytes().toString()).toBe("0123456789");
  });

  it("accepts a Content-Range with an open end [G13]", async () => {
    const { upload_url } = await announce(api);
    await chunk(upload_url, "0123", 0, 10);
    expect((await put(upload_url, "456789", { "content-range": "bytes 4-*/*" })).status).toBe(200);
  });

  it("is not changed by a probe [G13]", async () => {
    const { upload_url } = await announce(api);
    expect(await probe(upload_url)).toMatchObject({ status: 308, range: null, body: undefined });
    await chunk(upload_url, "0123", 0, 10);
    for (const total of ["*", 10] as const) {
      expect(await probe(upload_url, total)).toMatchObject({ status: 308, range: "bytes=0-3" });
    }
    await chunk(upload_url, "456789", 4, 10);
    expect(await probe(upload_url, 10)).toMatchObject({ status: 200, range: null });
    expect((await probe(upload_url)).body.size).toBe("10");
  });

  it("answers 422 to a probe with another total than announced [G13]", async () => {
    const { upload_url } = await announce(api);
    await chunk(upload_url, "0123", 0, 10);
    const probeRefused = async (total: number) => {
      const { status, body } = await probe(upload_url, total);
      expect([status, body.error.details]).toEqual([
        422,
        { field: "Content-Range", value: `bytes */${total}` },
      ]);
    };
    for (const total of [0, 4, 9, 11, 99]) await probeRefused(total);
    expect(await probe(upload_url)).toMatchObject({ status: 308, range: "bytes=0-3" });
    await chunk(upload_url, "456789", 4, 10);
    await probeRefused(11);
  });

  it("stores a repeated or overlapping chunk once [G13]", async () => {
    const { upload_url } = await announce(api);
    await chunk(upload_url, "01234", 0, 10);
    expect(await chunk(upload_url, "01234", 0, 10)).toMatchObject({ status: 308, range: "bytes=0-4" });
    expect(await chunk(upload_url, "3456", 3, 10)).toMatchObject({ status: 308, range: "bytes=0-6" });
    expect((await put(upload_url, "0123456789")).status).toBe(200);
    expect(temporary.bytes().toString()).toBe("0123456789");
    // The client lost the 200, so it repeats the request.
    expect((await chunk(upload_url, "789", 7, 10)).status).toBe(200);
  });

  it("stores nothing of a chunk after a gap, and answers with the stored range [G13]", async () => {
    const { upload_url } = await announce(api);
    expect(await chunk(upload_url, "56", 5, 10)).toMatchObject({ status: 308, range: null });
    await chunk(upload_url, "012", 0, 10);
    expect(await chunk(upload_url, "456789", 4, 10)).toMatchObject({ status: 308, range: "bytes=0-2" });
    expect(temporary.bytes().toString()).toBe("012");
  });

  it("leaves an upload incomplete after a whole PUT that is too short [G13]", async () => {
    const { upload_url } = await announce(api);
    expect(await put(upload_url, "01234")).toMatchObject({ status: 308, range: "bytes=0-4" });
  });

  it.each([
    ["bytes 0-9/11", "0123456789"],
    ["bytes 5-10/*", "567890"],
    ["bytes 5-4/10", ""],
    ["bytes 0-4/10", "0123"],
    ["bytes 3-*/10", "34567890"],
    ["bytes -5/10", "56789"],
    ["items 0-4/10", "01234"],
    ["bytes=0-4", "01234"],
  ])("answers 422 to Content-Range %s and stores nothing [G13]", async (range, body) => {
    const { upload_url } = await announce(api);
    const answer = await put(upload_url, body, { "content-range": range });
    expect(answer.status).toBe(422);
    expect(answer.body.error).toMatchObject({
      code: "INVALID_INPUT",
      details: { field: "Content-Range", value: range },
    });
    expect(await probe(upload_url)).toMatchObject({ status: 308, range: null });
    expect(temporary.files()).toEqual([]);
  });

  it("answers 422 to more bytes than announced and keeps the stored ones, with and without a Content-Length [G13]", async () => {
    const { upload_url } = await announce(api);
    await chunk(upload_url, "012", 0, 10);
    expect((await put(upload_url, "0123456789!")).status).toBe(422);
    const status = await new Promise<number>((resolve, reject) => {
      const req = request(upload_url, { method: "PUT" }, (response) => {
        response.resume();
        resolve(response.statusCode!);
      });
      req.on("error", reject);
      // Without a length: chunked, in two pieces, of which the second is too long.
      req.write("01234567");
      req.end("89 and more");
    });
    expect(status).toBe(422);
    expect(await probe(upload_url)).toMatchObject({ status: 308, range: "bytes=0-2" });
    expect((await chunk(upload_url, "3456789", 3, 10)).status).toBe(200);
  });

  it("completes an empty file at once [G13]", async () => {
    const { upload_url, announced, gcs_path } = await announce(api, { file_size: 0 });
    expect(await probe(upload_url, 0)).toMatchObject({ status: 200 });
    expect((await put(upload_url)).body).toMatchObject({ size: "0", crc32c: "AAAAAA==" });
    const file = await api.call("dan", "POST", "/v1/organizations/org_acme/files", {
      ...announced,
      gcs_path,
    });
    expect(file.status).toBe(201);
  });

  it("answers 499 to DELETE, then 404, and no file is left on disk [G13]", async () => {
    const { upload_url, announced, gcs_path } = await announce(api);
    await chunk(upload_url, "01234", 0, 10);
    const listExpiries = () =>
      api.understudy.sandboxes
        .get("default")!
        .world.listPending()
        .filter(({ kind }) => kind === "expiry");
    expect(listExpiries()).toHaveLength(1);
    const cancelled = await fetch(upload_url, { method: "DELETE" });
    expect(cancelled.status).toBe(499);
    expect(await cancelled.json()).toMatchObject({ success: false, error: { code: "UPLOAD_CANCELLED" } });
    expect(temporary.files()).toEqual([]);
    expect(listExpiries()).toEqual([]);
    expect((await put(upload_url, "0123456789")).status).toBe(404);
    expect((await probe(upload_url)).status).toBe(404);
    expect((await fetch(upload_url, { method: "DELETE" })).status).toBe(404);
    const file = await api.call("dan", "POST", "/v1/organizations/org_acme/files", {
      ...announced,
      gcs_path,
    });
    expect([file.status, file.body.error.details.field]).toEqual([422, "gcs_path"]);
  });

  it("keeps a registered upload complete: it cannot be cancelled [G13]", async () => {
    const { upload_url, announced, gcs_path } = await announce(api);
    await put(upload_url, "0123456789");
    await api.call("dan", "POST", "/v1/organizations/org_acme/files", { ...announced, gcs_path });
    expect((await fetch(upload_url, { method: "DELETE" })).status).toBe(404);
    expect((await probe(upload_url)).status).toBe(200);
  });

  it("is unknown at its registration if an edited snapshot lacks its file object [G13]", async () => {
    const { upload_url, announced, gcs_path } = await announce(api);
    await put(upload_url, "0123456789");
    const register = () =>
      api.call("dan", "POST", "/v1/organizations/org_acme/files", { ...announced, gcs_path });
    const snapshots = "/_control/sandboxes/default/snapshots";
    expect((await register()).status).toBe(201);
    const edited = (await api.call(undefined, "GET", `${snapshots}/now`)).body;
    edited.world.tables.files.records = [];
    await api.call(undefined, "PUT", `${snapshots}/edited`, edited);
    expect((await api.call(undefined, "POST", `${snapshots}/edited/restore`)).status).toBe(200);
    const { status, body } = await register();
    expect([status, body.error.details?.field]).toEqual([422, "gcs_path"]);
  });
});
