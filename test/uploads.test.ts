import { request } from "node:http";
import { IdempotencyStrategy, Storage } from "@google-cloud/storage";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { crc32c, crc32cText } from "../src/storage/crc32c.ts";
import { type Api, startReference } from "./harness.ts";
import {
  announce,
  chunk,
  cuttingRelay,
  privateTemporaryFolder,
  probe,
  put,
  sendAndLeave,
} from "./upload-setup.ts";

const MB = 1024 * 1024;

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

/** Bytes without a pattern that a lost or doubled piece could hide in. */
function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = 1;
  for (let i = 0; i + 4 <= length; i += 4) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    bytes.writeInt32LE(state, i);
  }
  return bytes;
}

describe("G13 the upload URL", () => {
  it("4.6 G13 points back at this server, with a token that cannot be guessed", async () => {
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

  it("G13 stays within its sandbox, and is unknown to the others", async () => {
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

  it("G13 needs no credentials, and takes none for a token", async () => {
    const { upload_url } = await announce(api);
    const url = new URL(upload_url);
    url.searchParams.set("upload_id", "AAAA");
    expect((await put(url.href, "0123456789", { "api-key": "ak_whatever" })).status).toBe(404);
    url.searchParams.delete("upload_id");
    const none = await put(url.href, "0123456789");
    expect([none.status, none.body.error.details.field]).toEqual([422, "upload_id"]);
    expect((await put(upload_url, "0123456789", { "api-key": "ak_whatever" })).status).toBe(200);
  });

  it("G13 setting upload_url_lifetime_seconds: expired is 410 for PUT, probe and DELETE, and frees the disk", async () => {
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
});

describe("G13 the resumable protocol", () => {
  it("4.6 takes a whole PUT and answers the object's metadata with its checksum", async () => {
    const { upload_url, gcs_path } = await announce(api);
    const answer = await put(upload_url, "0123456789", { "content-type": "text/plain" });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      kind: "storage#object",
      bucket: "uploads",
      size: "10",
      contentType: "text/plain",
      crc32c: crc32cText(crc32c(Buffer.from("0123456789"))),
    });
    expect(`gs://uploads/${answer.body.name}`).toBe(gcs_path);
  });

  it("G13 takes chunks: 308 with the range held, 200 with the last byte", async () => {
    const { upload_url } = await announce(api);
    expect(await chunk(upload_url, "0123", 0, 10)).toMatchObject({ status: 308, range: "bytes=0-3" });
    expect(await chunk(upload_url, "456", 4, "*")).toMatchObject({ status: 308, range: "bytes=0-6" });
    expect(await chunk(upload_url, "789", 7, 10)).toMatchObject({ status: 200, range: null });
    expect(temporary.bytes().toString()).toBe("0123456789");
  });

  it("G13 takes an open end as the official client sends it", async () => {
    const { upload_url } = await announce(api);
    await chunk(upload_url, "0123", 0, 10);
    expect((await put(upload_url, "456789", { "content-range": "bytes 4-*/*" })).status).toBe(200);
  });

  it("G13 a probe never changes anything, whatever total it names", async () => {
    const { upload_url } = await announce(api);
    expect(await probe(upload_url)).toMatchObject({ status: 308, range: null, body: undefined });
    await chunk(upload_url, "0123", 0, 10);
    for (const total of ["*", 4, 10, 99] as const) {
      expect(await probe(upload_url, total)).toMatchObject({ status: 308, range: "bytes=0-3" });
    }
    await chunk(upload_url, "456789", 4, 10);
    expect(await probe(upload_url, 10)).toMatchObject({ status: 200, range: null });
    expect((await probe(upload_url)).body.size).toBe("10");
  });

  it("G13 a repeated or overlapping chunk is taken once", async () => {
    const { upload_url } = await announce(api);
    await chunk(upload_url, "01234", 0, 10);
    expect(await chunk(upload_url, "01234", 0, 10)).toMatchObject({ status: 308, range: "bytes=0-4" });
    expect(await chunk(upload_url, "3456", 3, 10)).toMatchObject({ status: 308, range: "bytes=0-6" });
    expect((await put(upload_url, "0123456789")).status).toBe(200);
    expect(temporary.bytes().toString()).toBe("0123456789");
    // A 200 that was lost: the same request again.
    expect((await chunk(upload_url, "789", 7, 10)).status).toBe(200);
  });

  it("G13 a chunk that leaves a gap stores nothing and is told what is held", async () => {
    const { upload_url } = await announce(api);
    expect(await chunk(upload_url, "56", 5, 10)).toMatchObject({ status: 308, range: null });
    await chunk(upload_url, "012", 0, 10);
    expect(await chunk(upload_url, "456789", 4, 10)).toMatchObject({ status: 308, range: "bytes=0-2" });
    expect(temporary.bytes().toString()).toBe("012");
  });

  it("G13 a whole PUT that is too short is not complete", async () => {
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
  ])("G13 Content-Range %s is 422 and stores nothing", async (range, body) => {
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

  it("G13 more than announced is 422, told beforehand or found out on the way, and leaves what was held", async () => {
    const { upload_url } = await announce(api);
    await chunk(upload_url, "012", 0, 10);
    expect((await put(upload_url, "0123456789!")).status).toBe(422);
    const status = await new Promise<number>((resolve, reject) => {
      const req = request(upload_url, { method: "PUT" }, (response) => {
        response.resume();
        resolve(response.statusCode!);
      });
      req.on("error", reject);
      // Without a length: chunked, in two pieces, the second one too long.
      req.write("01234567");
      req.end("89 and more");
    });
    expect(status).toBe(422);
    expect(await probe(upload_url)).toMatchObject({ status: 308, range: "bytes=0-2" });
    expect((await chunk(upload_url, "3456789", 3, 10)).status).toBe(200);
  });

  it("G13 an empty file is complete from the start", async () => {
    const { upload_url, announced, gcs_path } = await announce(api, { file_size: 0 });
    expect(await probe(upload_url, 0)).toMatchObject({ status: 200 });
    expect((await put(upload_url)).body).toMatchObject({ size: "0", crc32c: "AAAAAA==" });
    const file = await api.call("dan", "POST", "/v1/organizations/org_acme/files", {
      ...announced,
      gcs_path,
    });
    expect(file.status).toBe(201);
  });

  it("G13 DELETE cancels with 499; later PUTs, probes and DELETEs are 404, and nothing stays on disk", async () => {
    const { upload_url, announced, gcs_path } = await announce(api);
    await chunk(upload_url, "01234", 0, 10);
    const cancelled = await fetch(upload_url, { method: "DELETE" });
    expect(cancelled.status).toBe(499);
    expect(await cancelled.json()).toMatchObject({ success: false, error: { code: "UPLOAD_CANCELLED" } });
    expect(temporary.files()).toEqual([]);
    expect((await put(upload_url, "0123456789")).status).toBe(404);
    expect((await probe(upload_url)).status).toBe(404);
    expect((await fetch(upload_url, { method: "DELETE" })).status).toBe(404);
    const file = await api.call("dan", "POST", "/v1/organizations/org_acme/files", {
      ...announced,
      gcs_path,
    });
    expect([file.status, file.body.error.details.field]).toEqual([422, "gcs_path"]);
  });

  it("G13 a registered upload cannot be cancelled, and says that it is whole", async () => {
    const { upload_url, announced, gcs_path } = await announce(api);
    await put(upload_url, "0123456789");
    await api.call("dan", "POST", "/v1/organizations/org_acme/files", { ...announced, gcs_path });
    expect((await fetch(upload_url, { method: "DELETE" })).status).toBe(404);
    expect((await probe(upload_url)).status).toBe(200);
  });
});

describe("G13 broken connections", () => {
  it("G13 what arrived before the cut is kept, at whichever byte it came", async () => {
    const content = noise(40);
    const { upload_url } = await announce(api, { file_size: 40 });
    for (let held = 0; held < 40; held += 5) {
      const headers = { "content-length": 40 - held, "content-range": `bytes ${held}-39/40` };
      await sendAndLeave(upload_url, { method: "PUT", headers }, content.subarray(held, held + 5));
      await vi.waitFor(async () => {
        expect((await probe(upload_url)).range).toBe(held + 5 < 40 ? `bytes=0-${held + 4}` : null);
      });
    }
    expect((await probe(upload_url)).status).toBe(200);
    expect(temporary.bytes().equals(content)).toBe(true);
  });

  it("G13 many PUTs of the same bytes at once take turns and all end well", async () => {
    const content = noise(3 * MB);
    const { upload_url } = await announce(api, { file_size: content.length });
    const answers = await Promise.all(Array.from({ length: 6 }, () => put(upload_url, content)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(temporary.bytes().equals(content)).toBe(true);
  });

  it("G13 an upload that is cancelled or reset while its bytes come in is over, and leaves nothing", async () => {
    for (const end of ["cancel", "reset"]) {
      const { upload_url } = await announce(api, { file_size: 2 * MB });
      const status = new Promise<number>((resolve, reject) => {
        const req = request(
          upload_url,
          { method: "PUT", headers: { "content-length": 2 * MB } },
          (response) => resolve(response.resume().statusCode!),
        );
        req.on("error", reject);
        req.write(noise(MB));
        void (async () => {
          await vi.waitFor(async () => expect((await probe(upload_url)).range).toBe(`bytes=0-${MB - 1}`));
          if (end === "cancel") await fetch(upload_url, { method: "DELETE" });
          else api.understudy.sandboxes.get("default")!.reset();
          req.end(noise(MB));
        })();
      });
      expect(await status, end).toBe(404);
      await vi.waitFor(() => expect(temporary.files()).toEqual([]));
    }
  });

  it("G13 a refusal reaches a client that is still sending", async () => {
    for (let i = 0; i < 5; i++) {
      const answer = await put(`${api.url}/upload/storage/v1/b/uploads/o?upload_id=none`, noise(20 * MB));
      expect(answer.status).toBe(404);
    }
  });
});

describe("4.6 the official client", () => {
  const storageFor = (url: string, autoRetry: boolean) =>
    new Storage({
      apiEndpoint: url,
      projectId: "sandbox",
      retryOptions: { autoRetry, maxRetries: 5, idempotencyStrategy: IdempotencyStrategy.RetryAlways },
    });

  /** Asks for the URL through the relay, so that the URL leads through it, too. */
  async function announceThrough(url: string, size: number): Promise<string> {
    const answer = await api.call(
      "dan",
      "POST",
      "/v1/organizations/org_acme/files/upload-url",
      {
        filename: "big.bin",
        file_size: size,
        mime_type: "application/octet-stream",
      },
      { host: new URL(url).host },
    );
    return answer.body.upload_url.replace(api.url, url);
  }

  function send(
    storage: Storage,
    uri: string,
    content: Buffer,
    chunkSize?: number,
  ): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      const file = storage.bucket("uploads").file("big.bin");
      const stream = file.createWriteStream({
        resumable: true,
        uri,
        chunkSize,
        validation: "crc32c",
        contentType: "application/octet-stream",
      });
      stream.on("error", reject);
      stream.on("finish", () => resolve(file.metadata.crc32c));
      for (let i = 0; i < content.length; i += 64 * 1024) stream.write(content.subarray(i, i + 64 * 1024));
      stream.end();
    });
  }

  it("4.6 uploads 20 MB in chunks, is cut off in the middle, resumes by itself, and finishes", async () => {
    const content = noise(20 * MB);
    const relay = await cuttingRelay(api.url, 11 * MB);
    const uri = await announceThrough(relay.url, content.length);
    const checksum = await send(storageFor(relay.url, true), uri, content, 4 * MB);
    expect(relay.cuts()).toBe(1);
    expect(checksum).toBe(crc32cText(crc32c(content)));
    expect(temporary.bytes().equals(content)).toBe(true);
    await relay.close();
  }, 60_000);

  it("4.6 uploads 20 MB in one request, fails in the middle, and is resumed by another client from its beginning", async () => {
    const content = noise(20 * MB);
    const relay = await cuttingRelay(api.url, 7 * MB);
    const uri = await announceThrough(relay.url, content.length);
    await expect(send(storageFor(relay.url, false), uri, content)).rejects.toThrow();
    expect(relay.cuts()).toBe(1);
    const held = await probe(uri);
    expect(held.status).toBe(308);
    expect(Number(/^bytes=0-(\d+)$/.exec(held.range ?? "")?.[1])).toBeGreaterThan(MB);
    expect(await send(storageFor(relay.url, true), uri, content)).toBe(crc32cText(crc32c(content)));
    expect(temporary.bytes().equals(content)).toBe(true);
    await relay.close();
  }, 60_000);
});

describe("interfaces 4: half-finished uploads", () => {
  const sandbox = (name = "default") => api.understudy.sandboxes.get(name)!;

  it("4.6 a snapshot holds them, and a restore goes on from there", async () => {
    const { upload_url } = await announce(api);
    await chunk(upload_url, "01234", 0, 10);
    sandbox().saveSnapshot("half");
    expect((await chunk(upload_url, "XXXXX", 5, 10)).status).toBe(200);
    sandbox().restore(sandbox().snapshots.get("half")!);
    expect(await probe(upload_url)).toMatchObject({ status: 308, range: "bytes=0-4" });
    const whole = await chunk(upload_url, "56789", 5, 10);
    expect(whole.body.crc32c).toBe(crc32cText(crc32c(Buffer.from("0123456789"))));
    // Again, after the upload was cancelled altogether.
    sandbox().restore(sandbox().snapshots.get("half")!);
    await fetch(upload_url, { method: "DELETE" });
    sandbox().restore(sandbox().snapshots.get("half")!);
    expect(await probe(upload_url)).toMatchObject({ status: 308, range: "bytes=0-4" });
  });

  it("4.6 a fork goes its own way", async () => {
    const { upload_url } = await announce(api);
    await chunk(upload_url, "01234", 0, 10);
    api.understudy.sandboxes.fork(sandbox(), "twin");
    const twin_url = upload_url.replace(api.url, `${api.url}/_s/twin`);
    const answers = await Promise.all([chunk(upload_url, "56789", 5, 10), chunk(twin_url, "abcde", 5, 10)]);
    expect(answers.map(({ status, body }) => [status, body.crc32c])).toEqual([
      [200, crc32cText(crc32c(Buffer.from("0123456789")))],
      [200, crc32cText(crc32c(Buffer.from("01234abcde")))],
    ]);
    api.understudy.sandboxes.delete("twin");
    sandbox().reset();
    expect(temporary.files()).toEqual([]);
  });

  it("4.6 a snapshot can leave the server as JSON and come back", async () => {
    const { upload_url } = await announce(api);
    await chunk(upload_url, "01234", 0, 10);
    const snapshots = "/_control/sandboxes/default/snapshots";
    expect((await api.call(undefined, "POST", snapshots, { name: "half" })).status).toBe(201);
    const document = (await api.call(undefined, "GET", `${snapshots}/half`)).body;
    expect((await api.call(undefined, "DELETE", `${snapshots}/half`)).status).toBe(204);
    await fetch(upload_url, { method: "DELETE" });
    expect(temporary.files()).toEqual([]);
    const broken = await api.call(undefined, "PUT", `${snapshots}/back`, {
      ...document,
      blobs: { uploads: { upload_x: 5 }, left_out: [] },
    });
    expect(broken.status).toBe(422);
    const back = await api.call(undefined, "PUT", `${snapshots}/back`, document);
    expect([200, 201], back.text).toContain(back.status);
    expect((await api.call(undefined, "POST", `${snapshots}/back/restore`)).status).toBe(200);
    expect(await probe(upload_url)).toMatchObject({ status: 308, range: "bytes=0-4" });
    expect((await chunk(upload_url, "56789", 5, 10)).body.crc32c).toBe(
      crc32cText(crc32c(Buffer.from("0123456789"))),
    );
  });

  it("4.6 what is too large for a document is left out, and its client starts again", async () => {
    const { upload_url } = await announce(api, { file_size: 40 * MB });
    await chunk(upload_url, noise(33 * MB), 0, 40 * MB);
    const keeper = api.understudy.sandboxes.blobs!;
    const value = sandbox().value();
    const document = (await keeper.encode(value.blobs)) as { uploads: object; left_out: string[] };
    keeper.release(value.blobs);
    expect([document.uploads, document.left_out]).toEqual([{}, [expect.stringMatching(/^upload_/)]]);
    sandbox().restore({ ...value, blobs: await keeper.decode(document) });
    expect(await probe(upload_url)).toMatchObject({ status: 308, range: null });
  });

  it("4.6 reset, deletion and the end of the server leave nothing on disk, snapshots included", async () => {
    const { upload_url } = await announce(api);
    await chunk(upload_url, "01234", 0, 10);
    sandbox().saveSnapshot("half");
    sandbox().reset();
    expect((await probe(upload_url)).status).toBe(404);
    expect(temporary.bytes().toString()).toBe("01234");
    sandbox().deleteSnapshot("half");
    expect(temporary.files()).toEqual([]);
    const again = await announce(api);
    await chunk(again.upload_url, "01234", 0, 10);
    await api.close();
    expect(temporary.entries()).toEqual([]);
    api = await startReference();
  });
});

describe("disk use is bounded", () => {
  const small = () => startReference({ shared: { token: "t", limits: { upload_bytes: 1000 } } });

  it("4.6 an upload that does not fit the sandbox's share is 413 and says so", async () => {
    const bounded = await small();
    const first = await announce(bounded, { file_size: 700 });
    expect((await put(first.upload_url, noise(700))).status).toBe(200);
    const second = await announce(bounded, { file_size: 400 });
    const refused = await put(second.upload_url, noise(400));
    expect(refused.status).toBe(413);
    expect(refused.body.error).toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      details: { limit_bytes: 1000, used_bytes: 700, scope: "sandbox_uploads" },
    });
    expect(await probe(second.upload_url)).toMatchObject({ status: 308, range: null });
    const form = new FormData();
    form.append("file", new Blob([new Uint8Array(500)]), "a.bin");
    const simple = await bounded.call("dan", "POST", "/v1/organizations/org_acme/files/upload", form);
    expect([simple.status, simple.body.error.details.scope]).toEqual([413, "sandbox_uploads"]);
    // Registered, the bytes are no longer needed, and there is room again.
    const { announced, gcs_path } = first;
    await bounded.call("dan", "POST", "/v1/organizations/org_acme/files", { ...announced, gcs_path });
    expect((await put(second.upload_url, noise(400))).status).toBe(200);
    await bounded.close();
  });

  it("4.6 what a fork brought along counts for it, too", async () => {
    const bounded = await small();
    const { sandboxes } = bounded.understudy;
    const { upload_url } = await announce(bounded, { file_size: 900 });
    await chunk(upload_url, noise(600), 0, 900);
    sandboxes.fork(sandboxes.get("default")!, "twin");
    const inTwin = await bounded.call("dan", "POST", "/_s/twin/v1/organizations/org_acme/files/upload-url", {
      filename: "b.bin",
      file_size: 500,
      mime_type: "application/octet-stream",
    });
    expect((await put(inTwin.body.upload_url, noise(500))).status).toBe(413);
    expect(
      (await chunk(upload_url.replace(bounded.url, `${bounded.url}/_s/twin`), noise(300), 600, 900)).status,
    ).toBe(200);
    await bounded.close();
  });
});
