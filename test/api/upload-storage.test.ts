import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { crc32c, formatCrc32c } from "../../src/engine/crc32c.ts";
import { type Api, startReference } from "../support/harness.ts";
import {
  announce,
  chunk,
  createPrivateTempFolder,
  MB,
  makeNoise,
  probe,
  put,
} from "../support/upload-setup.ts";

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

describe("half-finished uploads [interfaces 4]", () => {
  const getSandbox = (name = "default") => api.understudy.sandboxes.get(name)!;

  it("are in a restored snapshot with their bytes [4.6]", async () => {
    const { upload_url } = await announce(api);
    await chunk(upload_url, "01234", 0, 10);
    getSandbox().saveSnapshot("half");
    expect((await chunk(upload_url, "XXXXX", 5, 10)).status).toBe(200);
    getSandbox().restore(getSandbox().snapshots.get("half")!);
    expect(await probe(upload_url)).toMatchObject({ status: 308, range: "bytes=0-4" });
    const whole = await chunk(upload_url, "56789", 5, 10);
    expect(whole.body.crc32c).toBe(formatCrc32c(crc32c(Buffer.from("0123456789"))));
    // The upload is restored a second time, after it was cancelled.
    getSandbox().restore(getSandbox().snapshots.get("half")!);
    await fetch(upload_url, { method: "DELETE" });
    getSandbox().restore(getSandbox().snapshots.get("half")!);
    expect(await probe(upload_url)).toMatchObject({ status: 308, range: "bytes=0-4" });
  });

  it("are independent in a fork [4.6]", async () => {
    const { upload_url } = await announce(api);
    await chunk(upload_url, "01234", 0, 10);
    api.understudy.sandboxes.fork(getSandbox(), "twin");
    const twin_url = upload_url.replace(api.url, `${api.url}/_s/twin`);
    const answers = await Promise.all([chunk(upload_url, "56789", 5, 10), chunk(twin_url, "abcde", 5, 10)]);
    expect(answers.map(({ status, body }) => [status, body.crc32c])).toEqual([
      [200, formatCrc32c(crc32c(Buffer.from("0123456789")))],
      [200, formatCrc32c(crc32c(Buffer.from("01234abcde")))],
    ]);
    api.understudy.sandboxes.delete("twin");
    getSandbox().reset();
    expect(temporary.files()).toEqual([]);
  });

  it("are in a snapshot that is exported as JSON and imported again [4.6]", async () => {
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
      formatCrc32c(crc32c(Buffer.from("0123456789"))),
    );
  });

  it("start again if they are too large for the document of a snapshot [4.6]", async () => {
    const { upload_url } = await announce(api, { file_size: 40 * MB });
    await chunk(upload_url, makeNoise(33 * MB), 0, 40 * MB);
    const keeper = api.understudy.sandboxes.blobs!;
    const value = getSandbox().toValue();
    const document = (await keeper.encode(value.blobs)) as { uploads: object; left_out: string[] };
    keeper.release(value.blobs);
    expect([document.uploads, document.left_out]).toEqual([{}, [expect.stringMatching(/^upload_/)]]);
    getSandbox().restore({ ...value, blobs: await keeper.decode(document) });
    expect(await probe(upload_url)).toMatchObject({ status: 308, range: null });
  });

  it("leave nothing on disk after reset, deletion and shutdown, snapshots included [4.6]", async () => {
    const { upload_url } = await announce(api);
    await chunk(upload_url, "01234", 0, 10);
    getSandbox().saveSnapshot("half");
    getSandbox().reset();
    expect((await probe(upload_url)).status).toBe(404);
    expect(temporary.bytes().toString()).toBe("01234");
    getSandbox().snapshots.delete("half");
    expect(temporary.files()).toEqual([]);
    const again = await announce(api);
    await chunk(again.upload_url, "01234", 0, 10);
    await api.close();
    expect(temporary.entries()).toEqual([]);
    api = await startReference();
  });
});

describe("the sandbox's share of the disk", () => {
  const startWithSmallLimit = () =>
    startReference({ shared: { token: "a-token-of-tests", limits: { upload_bytes: 1000 } } });

  it("refuses an upload that exceeds it with 413 [4.6]", async () => {
    const bounded = await startWithSmallLimit();
    const first = await announce(bounded, { file_size: 700 });
    expect((await put(first.upload_url, makeNoise(700))).status).toBe(200);
    const second = await announce(bounded, { file_size: 400 });
    const refused = await put(second.upload_url, makeNoise(400));
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
    // After the registration the bytes are no longer needed, so there is room again.
    const { announced, gcs_path } = first;
    await bounded.call("dan", "POST", "/v1/organizations/org_acme/files", { ...announced, gcs_path });
    expect((await put(second.upload_url, makeNoise(400))).status).toBe(200);
    await bounded.close();
  });

  it("counts the text of files, also after their bytes are deleted [interfaces 7]", async () => {
    const limits = { upload_bytes: 40_000 };
    const bounded = await startReference({ shared: { token: "a-token-of-tests", limits } });
    const text = "All work and no play makes Jack a dull boy.\n".repeat(200);
    const send = (organization: string) => {
      const form = new FormData();
      form.append("file", new File([text], "a.txt", { type: "text/plain" }));
      return bounded.call("dan", "POST", `/v1/organizations/${organization}/files/upload`, form);
    };
    const first = await send("org_acme");
    expect(first.status).toBe(201);
    expect(temporary.entries().filter((entry) => entry.includes("blob-"))).toEqual([]);
    const second = await send("org_acme");
    expect([second.status, second.body.error.details]).toMatchObject([
      413,
      { scope: "sandbox_uploads", limit_bytes: 40_000 },
    ]);
    expect(second.body.error.details.used_bytes).toBeGreaterThan(text.length);
    const control = (method: string, path: string) =>
      bounded.call(undefined, method, `/_control/sandboxes/default${path}`, undefined, {
        authorization: "Bearer a-token-of-tests",
      });
    expect((await control("DELETE", `/state/files/${first.body.id ?? first.body.file_id}`)).status).toBe(204);
    expect((await send("org_acme")).status).toBe(201);
    expect((await send("org_acme")).status).toBe(413);
    expect((await control("POST", "/reset")).status).toBe(200);
    expect((await send("org_acme")).status).toBe(201);
    await bounded.close();
  });

  it("counts the bytes of imported snapshots, and shared ones only once [interfaces 7]", async () => {
    const bounded = await startWithSmallLimit();
    const snapshots = "/_control/sandboxes/default/snapshots";
    const control = (method: string, path: string, body?: unknown) =>
      bounded.call(undefined, method, snapshots + path, body, { authorization: "Bearer a-token-of-tests" });
    const { upload_url } = await announce(bounded, { file_size: 900 });
    await chunk(upload_url, makeNoise(400), 0, 900);
    for (const name of ["a", "b"]) expect((await control("POST", "", { name })).status).toBe(201);
    const { body: document } = await control("GET", "/a");
    expect((await control("PUT", "/up", document)).status).toBe(201);
    const refused = await control("PUT", "/more", document);
    expect([refused.status, refused.body.limit, refused.body.wanted]).toEqual([409, "upload_bytes", 1200]);
    expect(Buffer.byteLength(temporary.bytes())).toBe(800);
    // The snapshot replaces itself, so it needs no more room.
    expect((await control("PUT", "/up", document)).status).toBe(200);
    expect(Buffer.byteLength(temporary.bytes())).toBe(800);
    await bounded.close();
  });

  it("counts the bytes of a fork for the fork [4.6]", async () => {
    const bounded = await startWithSmallLimit();
    const { sandboxes } = bounded.understudy;
    const { upload_url } = await announce(bounded, { file_size: 900 });
    await chunk(upload_url, makeNoise(600), 0, 900);
    sandboxes.fork(sandboxes.get("default")!, "twin");
    const inTwin = await bounded.call("dan", "POST", "/_s/twin/v1/organizations/org_acme/files/upload-url", {
      filename: "b.bin",
      file_size: 500,
      mime_type: "application/octet-stream",
    });
    expect((await put(inTwin.body.upload_url, makeNoise(500))).status).toBe(413);
    expect(
      (await chunk(upload_url.replace(bounded.url, `${bounded.url}/_s/twin`), makeNoise(300), 600, 900))
        .status,
    ).toBe(200);
    await bounded.close();
  });
});
