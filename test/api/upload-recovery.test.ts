import { request } from "node:http";
import { IdempotencyStrategy, Storage } from "@google-cloud/storage";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { crc32c, formatCrc32c } from "../../src/engine/crc32c.ts";
import { waitUntilPasses } from "../support/eventually.ts";
import { type Api, KEYS, startReference } from "../support/harness.ts";
import {
  announce,
  createPrivateTempFolder,
  expectInvalid,
  MB,
  makeNoise,
  probe,
  put,
  sendAndDisconnect,
  startCuttingRelay,
} from "../support/upload-setup.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

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

describe("an upload over a broken connection [G13]", () => {
  it("keeps the bytes before the break, at any byte [G13]", async () => {
    const content = makeNoise(40);
    const { upload_url } = await announce(api, { file_size: 40 });
    for (let held = 0; held < 40; held += 5) {
      const headers = { "content-length": 40 - held, "content-range": `bytes ${held}-39/40` };
      const waitForBytes = () =>
        waitUntilPasses(async () => {
          expect((await probe(upload_url)).range).toBe(held + 5 < 40 ? `bytes=0-${held + 4}` : null);
        });
      // A busy server may not yet have read the last bytes when its client disconnects.
      await sendAndDisconnect(
        upload_url,
        { method: "PUT", headers },
        content.subarray(held, held + 5),
        waitForBytes,
      );
      await waitForBytes();
    }
    expect((await probe(upload_url)).status).toBe(200);
    expect(temporary.bytes().equals(content)).toBe(true);
  });

  it("is not completed by a probe while its body is still being sent [G13]", async () => {
    const { upload_url, gcs_path, announced } = await announce(api);
    const register = () =>
      api.call("dan", "POST", "/v1/organizations/org_acme/files", { ...announced, gcs_path });
    const sender = request(upload_url, { method: "PUT", headers: { "transfer-encoding": "chunked" } });
    sender.on("error", () => {});
    sender.write("0123456789");
    await waitUntilPasses(async () =>
      expect(await probe(upload_url)).toMatchObject({ status: 308, range: "bytes=0-9" }),
    );
    expectInvalid(await register(), "gcs_path");
    // The client disconnects without ending the body. All bytes have arrived, so the upload needs no resumption.
    sender.destroy();
    await waitUntilPasses(async () => expect((await probe(upload_url)).status).toBe(200));
    expect((await register()).status).toBe(201);
  });

  it("stays complete if a probe called it complete and its body is then too long [G13]", async () => {
    const { upload_url } = await announce(api);
    const status = new Promise<number>((resolve, reject) => {
      const sender = request(
        upload_url,
        { method: "PUT", headers: { "transfer-encoding": "chunked" } },
        (response) => resolve(response.resume().statusCode!),
      );
      sender.on("error", reject);
      sender.write("0123456789");
      void waitUntilPasses(async () => expect((await probe(upload_url)).range).toBe("bytes=0-9")).then(
        () => sender.end("and more"),
        reject,
      );
    });
    expect(await status).toBe(422);
    expect(await probe(upload_url)).toMatchObject({ status: 308, range: null });
  });

  it("succeeds for many concurrent PUTs of the same bytes [G13]", async () => {
    const content = makeNoise(3 * MB);
    const { upload_url } = await announce(api, { file_size: content.length });
    const answers = await Promise.all(Array.from({ length: 6 }, () => put(upload_url, content)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(temporary.bytes().equals(content)).toBe(true);
  });

  it("ends if it is cancelled, reset or deleted while its bytes arrive [G13, G37]", async () => {
    for (const end of ["cancel", "reset", "organization"]) {
      const { upload_url } = await announce(api, { file_size: 2 * MB });
      const status = new Promise<number>((resolve, reject) => {
        const req = request(
          upload_url,
          { method: "PUT", headers: { "content-length": 2 * MB } },
          (response) => resolve(response.resume().statusCode!),
        );
        req.on("error", reject);
        req.write(makeNoise(MB));
        void (async () => {
          await waitUntilPasses(async () =>
            expect((await probe(upload_url)).range).toBe(`bytes=0-${MB - 1}`),
          );
          if (end === "cancel") await fetch(upload_url, { method: "DELETE" });
          else if (end === "organization")
            await api.call(undefined, "DELETE", "/_control/sandboxes/default/state/organizations/org_acme");
          else api.understudy.sandboxes.get("default")!.reset();
          req.end(makeNoise(MB));
        })();
      });
      expect(await status, end).toBe(404);
      await waitUntilPasses(() => expect(temporary.files()).toEqual([]));
    }
  });

  it("is refused and leaves no file behind if its organization is deleted while the file arrives [G13, G37]", async () => {
    const status = new Promise<number>((resolve, reject) => {
      const url = `${api.url}/v1/organizations/org_acme/files/upload`;
      const headers = { "content-type": "multipart/form-data; boundary=cut", "api-key": KEYS.dan };
      const req = request(url, { method: "POST", headers }, (response) =>
        resolve(response.resume().statusCode!),
      );
      req.on("error", reject);
      req.write(
        '--cut\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\n',
      );
      req.write(makeNoise(MB));
      void (async () => {
        await waitUntilPasses(() => expect(temporary.files()).not.toEqual([]));
        await api.call(undefined, "DELETE", "/_control/sandboxes/default/state/organizations/org_acme");
        req.end("\r\n--cut--\r\n");
      })();
    });
    expect(await status).toBe(404);
    await waitUntilPasses(() => expect(temporary.files()).toEqual([]));
  });

  it("gets a refusal while its client is still sending [G13]", async () => {
    for (let i = 0; i < 5; i++) {
      const answer = await put(`${api.url}/upload/storage/v1/b/uploads/o?upload_id=none`, makeNoise(20 * MB));
      expect(answer.status).toBe(404);
    }
  });
});

describe("the official client [4.6]", () => {
  const makeStorage = (url: string, autoRetry: boolean) =>
    new Storage({
      apiEndpoint: url,
      projectId: "sandbox",
      retryOptions: { autoRetry, maxRetries: 5, idempotencyStrategy: IdempotencyStrategy.RetryAlways },
    });

  /** Requests the upload URL through the relay, so that the URL leads through the relay too. */
  async function requestUploadUrl(url: string, size: number): Promise<string> {
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

  it("resumes 20 MB in chunks after a broken connection [4.6]", async () => {
    const content = makeNoise(20 * MB);
    const relay = await startCuttingRelay(api.url, 11 * MB);
    const uri = await requestUploadUrl(relay.url, content.length);
    const checksum = await send(makeStorage(relay.url, true), uri, content, 4 * MB);
    expect(relay.cuts()).toBe(1);
    expect(checksum).toBe(formatCrc32c(crc32c(content)));
    expect(temporary.bytes().equals(content)).toBe(true);
    await relay.close();
  });

  it("leaves 20 MB that failed in one request to another client, which resumes them [4.6]", async () => {
    const content = makeNoise(20 * MB);
    const relay = await startCuttingRelay(api.url, 7 * MB);
    const uri = await requestUploadUrl(relay.url, content.length);
    await expect(send(makeStorage(relay.url, false), uri, content)).rejects.toThrow();
    expect(relay.cuts()).toBe(1);
    await waitUntilPasses(async () => {
      const { range } = await probe(uri);
      expect(Number(/^bytes=0-(\d+)$/.exec(range ?? "")?.[1])).toBeGreaterThan(6 * MB);
    });
    expect(await send(makeStorage(relay.url, true), uri, content)).toBe(formatCrc32c(crc32c(content)));
    expect(temporary.bytes().equals(content)).toBe(true);
    await relay.close();
  });
});
