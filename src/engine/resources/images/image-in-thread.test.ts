import { once } from "node:events";
import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { halfMask, picture } from "../../../../test/support/image-setup.ts";
import { imageInThread } from "./image-in-thread.ts";
import { inspectImage, type KnownImage } from "./inspect-image.ts";
import type { ImageWork } from "./make-image.ts";

/** As the build makes it; `npm test` builds first. */
const THREAD = fileURLToPath(new URL("../../../../dist/resources/image-thread.js", import.meta.url));

const folder = mkdtempSync(join(tmpdir(), "understudy-thread-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { signal } = new AbortController();

let threads = 0;
const count = () => {
  threads += 1;
};
beforeEach(() => {
  threads = 0;
  process.on("worker", count);
});
afterEach(() => void process.off("worker", count));

async function known(name: string, bytes: Buffer): Promise<KnownImage> {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  const file = { path, filename: name, mime_type: "image/png", size: bytes.length };
  return inspectImage(file, { field: "image_file", formats: ["png"] });
}

async function works(): Promise<ImageWork[]> {
  const image = await known("image.png", await picture(160, 120).png().toBuffer());
  const mask = await known("mask.png", await halfMask(160, 120));
  const growth = { left: 40, right: 0, up: 24, down: 60 };
  return [
    { provider: "provider_a", image, growth, seed: 7 },
    { provider: "provider_b", image, mask, size: "1024x1024", prompt: "a green meadow" },
  ];
}

describe("imageInThread", () => {
  it("4.20 G26 a thread makes the very bytes that are made without one, and one thread makes one image", async () => {
    for (const work of await works()) {
      const here = await imageInThread(work, signal, join(folder, "no-thread.js"));
      expect(threads).toBe(0);
      const there = await imageInThread(work, signal, THREAD);
      expect(threads).toBe(1);
      expect(there.equals(here), work.provider).toBe(true);
      expect(here.length).toBeGreaterThan(1000);
      threads = 0;
    }
  });

  it("4.20 G26 pixels that break off are refused as they are without a thread", async () => {
    const [work] = await works();
    const { path } = (work as ImageWork & { image: KnownImage }).image.file;
    truncateSync(path, statSync(path).size - 200);
    for (const thread of [THREAD, join(folder, "no-thread.js")])
      await expect(imageInThread(work!, signal, thread)).rejects.toMatchObject({
        name: "ApiError",
        code: "INVALID_INPUT",
        status: 422,
        details: { field: "image_file", value: "image.png" },
        message: "image_file cannot be decoded: its pixels are broken",
        system_message: expect.stringContaining("its pixels are broken"),
      });
  });

  it("4.20 a thread that dies or ends without an image is an error, and nobody waits for ever", async () => {
    const [work] = await works();
    for (const [name, code, why] of [
      ["dies.mjs", "throw new Error('out of order')", "out of order"],
      ["ends.mjs", "", "ended without one"],
    ] as const) {
      const file = join(folder, name);
      writeFileSync(file, code);
      await expect(imageInThread(work!, signal, file)).rejects.toThrow(why);
    }
  });

  it("interfaces 7 a client that leaves takes its thread along", async () => {
    const [work] = await works();
    const file = join(folder, "goes-on.mjs");
    writeFileSync(file, "setInterval(() => {}, 1000)");
    const client = new AbortController();
    const started = once(process, "worker") as Promise<[Worker]>;
    const making = imageInThread(work!, client.signal, file);
    const [thread] = await started;
    const ended = once(thread, "exit");
    client.abort(new Error("the client left"));
    await expect(making).rejects.toThrow("the client left");
    await ended;
    await expect(imageInThread(work!, client.signal, file)).rejects.toThrow("the client left");
    expect(threads).toBe(1);
  });
});
