import sharp, { type Region, type Stats } from "sharp";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Api, type Caller, startReference } from "../support/harness.ts";
import { drawHalfMask, drawPicture, expectRefusal, type Part, postUncrop } from "../support/image-setup.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

const uncrop = (parts: Record<string, Part>, who?: Caller) => postUncrop(api, parts, who);

async function measure(bytes: Buffer, area: Region): Promise<Stats> {
  return sharp(await sharp(bytes).extract(area).png().toBuffer()).stats();
}

describe("provider_a [4.20]", () => {
  it.each(["png", "jpeg", "webp"] as const)(
    "extends a %s by exactly the requested pixels and keeps its inside [4.20, G26]",
    async (format) => {
      const source = await drawPicture(120, 80)[format]().toBuffer();
      const answer = await uncrop({
        image_file: { bytes: source, type: `image/${format}` },
        extend_left: 30,
        extend_right: 7,
        extend_up: 0,
        extend_down: 51,
        seed: 1,
      });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.headers.get("content-type")).toBe("image/jpeg");
      expect(answer.headers.get("x-provider")).toBe("provider_a");
      expect(answer.headers.get("x-provider-request-id")).toMatch(/^preq_\w{20}$/);
      expect(Number(answer.headers.get("x-provider-credits-consumed"))).toBeGreaterThan(0);
      const made = await sharp(answer.bytes).metadata();
      expect([made.format, made.width, made.height]).toEqual(["jpeg", 157, 131]);

      const area = { left: 30, top: 0, width: 120, height: 80 };
      const after = await sharp(answer.bytes).extract(area).raw().toBuffer();
      const before = await sharp(source).removeAlpha().raw().toBuffer();
      let worst = 0;
      // The outermost pixels share JPEG blocks with the border.
      for (let y = 8; y < 72; y++) {
        for (let x = 8; x < 112; x++) {
          for (let c = 0; c < 3; c++) {
            const i = (y * 120 + x) * 3 + c;
            worst = Math.max(worst, Math.abs(after[i]! - before[i]!));
          }
        }
      }
      expect(worst).toBeLessThanOrEqual(12);
    },
  );

  it("fills the border with more than one colour that continues the edge [G26]", async () => {
    const image_file = { bytes: await drawPicture(100, 100).png().toBuffer(), type: "image/png" };
    const { bytes } = await uncrop({ image_file, extend_left: 60, seed: 4 });
    const border = await measure(bytes, { left: 0, top: 0, width: 60, height: 100 });
    for (const channel of border.channels) expect(channel.stdev).toBeGreaterThan(2);
    const edge = await measure(bytes, { left: 55, top: 90, width: 4, height: 4 });
    // Next to the lower left corner of the image there is hardly any red, but much green.
    expect(edge.channels[0]!.mean).toBeLessThan(60);
    expect(edge.channels[1]!.mean).toBeGreaterThan(180);
  });

  it("mirrors the image in the border, dimmed by a tint [G26]", async () => {
    const source = Buffer.alloc(160 * 160 * 3);
    for (let i = 0; i < 160 * 160; i++)
      source.fill(((i % 160) + Math.floor(i / 160)) % 24 < 12 ? 40 : 220, i * 3, i * 3 + 3);
    const png = await sharp(source, { raw: { width: 160, height: 160, channels: 3 } })
      .png()
      .toBuffer();
    const { bytes } = await uncrop({
      image_file: { bytes: png, type: "image/png" },
      extend_right: 60,
      seed: 3,
    });
    const made = await sharp(bytes).greyscale().raw().toBuffer();
    let mirrored = 0;
    for (let y = 10; y < 150; y++)
      for (let x = 160; x < 200; x++)
        if (made[y * 220 + x]! > 128 === (319 - x + y) % 24 >= 12) mirrored += 1;
    expect(mirrored / (140 * 40)).toBeGreaterThan(0.95);
  });

  it("keeps sky above the image and ground below it [G26]", async () => {
    const source = Buffer.alloc(200 * 160 * 3);
    for (let i = 0; i < 200 * 160; i++) {
      const light = (i * 7919) % 31;
      source.set(i < 200 * 80 ? [90, 140 + light, 230] : [60 + light, 130, 40], i * 3);
    }
    const png = await sharp(source, { raw: { width: 200, height: 160, channels: 3 } })
      .png()
      .toBuffer();
    const sides = { extend_left: 50, extend_right: 50, extend_up: 60, extend_down: 60 };
    const { bytes } = await uncrop({ image_file: { bytes: png, type: "image/png" }, ...sides, seed: 5 });
    const above = await measure(bytes, { left: 0, top: 0, width: 300, height: 130 });
    const below = await measure(bytes, { left: 0, top: 150, width: 300, height: 130 });
    expect(above.channels[2]!.min).toBeGreaterThan(150);
    expect(below.channels[2]!.max).toBeLessThan(110);
  });

  it("gives the same bytes for the same seed and input, and others for another seed [G26]", async () => {
    const image_file = { bytes: await drawPicture(64, 48).png().toBuffer(), type: "image/png" };
    const parts = { image_file, extend_right: 40, extend_up: 10 };
    const first = await uncrop({ ...parts, seed: 7 });
    const again = await uncrop({ ...parts, seed: 7 });
    const other = await uncrop({ ...parts, seed: 8 });
    expect((await uncrop({ ...parts, seed: Number.MAX_SAFE_INTEGER })).status).toBe(200);
    expect(again.bytes.equals(first.bytes)).toBe(true);
    expect(other.bytes.equals(first.bytes)).toBe(false);
    expect(again.headers.get("x-provider-request-id")).not.toBe(first.headers.get("x-provider-request-id"));
  });

  it("uses 0 for missing extensions, and accepts some that are larger than the image [4.20]", async () => {
    const image_file = { bytes: await drawPicture(5, 4).png().toBuffer(), type: "image/png" };
    const same = await sharp((await uncrop({ image_file })).bytes).metadata();
    expect([same.width, same.height]).toEqual([5, 4]);
    const grown = await sharp((await uncrop({ image_file, extend_left: 2000 })).bytes).metadata();
    expect([grown.width, grown.height]).toEqual([2005, 4]);
  });

  it("extends grey, transparent, palette, 16-bit, CMYK and rotated images [4.20]", async () => {
    const grey = await drawPicture(20, 20).greyscale().toColourspace("b-w").png().toBuffer();
    const clear = await drawPicture(20, 20).ensureAlpha(0.5).png().toBuffer();
    const palette = await drawPicture(20, 20).png({ palette: true, colours: 8 }).toBuffer();
    const deep = await drawPicture(20, 20).toColourspace("rgb16").png().toBuffer();
    const cmyk = await drawPicture(20, 20).toColourspace("cmyk").jpeg().toBuffer();
    for (const bytes of [grey, clear, palette, deep, cmyk]) {
      const answer = await uncrop({ image_file: { bytes, type: "image/png" }, extend_up: 5 });
      expect(answer.status, answer.text).toBe(200);
      const { width, height, channels } = await sharp(answer.bytes).metadata();
      expect([width, height, channels]).toEqual([20, 25, 3]);
    }
    const turned = await drawPicture(30, 20).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const { bytes } = await uncrop({ image_file: { bytes: turned, type: "image/jpeg" }, extend_left: 10 });
    const { width, height } = await sharp(bytes).metadata();
    expect([width, height]).toEqual([30, 30]);
  });
});

describe("provider_b [4.20]", () => {
  it.each([undefined, "1024x1024", "1024x1536", "1536x1024"])(
    "answers a PNG of size %s with the transparent area of the mask filled [4.20, G26]",
    async (size) => {
      const image = await drawPicture(256, 256).png().toBuffer();
      const mask = await drawHalfMask(64, 64);
      const answer = await uncrop({
        provider: "provider_b",
        image_file: { bytes: image, type: "image/png" },
        mask_file: { bytes: mask, type: "image/png" },
        ...(size === undefined ? {} : { size }),
      });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.headers.get("content-type")).toBe("image/png");
      expect(answer.headers.get("x-provider")).toBe("provider_b");
      expect(answer.headers.get("x-provider-credits-consumed")).toBeNull();
      const [width, height] = (size ?? "1024x1024").split("x").map(Number) as [number, number];
      const made = await sharp(answer.bytes).metadata();
      expect([made.format, made.width, made.height, made.hasAlpha]).toEqual(["png", width, height, false]);

      const scaled = await sharp(image).resize(width, height, { fit: "fill" }).removeAlpha().raw().toBuffer();
      const after = await sharp(answer.bytes).raw().toBuffer();
      const readPixel = (x: number, y: number) => [
        ...after.subarray((y * width + x) * 3, (y * width + x) * 3 + 3),
      ];
      const was = (x: number, y: number) => [
        ...scaled.subarray((y * width + x) * 3, (y * width + x) * 3 + 3),
      ];
      for (const [x, y] of [
        [10, 10],
        [width / 4, height / 2],
        [width / 2 - 60, height - 5],
      ] as const) {
        expect(readPixel(x, y), `kept at ${x},${y}`).toEqual(was(x, y));
      }
      const right = { left: width / 2 + 80, top: 0, width: width / 2 - 80, height };
      const filled = await measure(answer.bytes, right);
      for (const channel of filled.channels) expect(channel.stdev).toBeGreaterThan(0);
      // The right half of the source is red, but the fill uses only the left half.
      expect(readPixel(width - 20, 20)[0]).toBeLessThan(was(width - 20, 20)[0]! - 60);
    },
  );

  it("gives the same bytes for the same image, mask and prompt, and others for another prompt [G26]", async () => {
    const parts = {
      provider: "provider_b",
      image_file: { bytes: await drawPicture(50, 50).png().toBuffer(), type: "image/png" },
      mask_file: { bytes: await drawHalfMask(50, 50), type: "image/png" },
    };
    const first = await uncrop({ ...parts, prompt: "a harbour" });
    expect((await uncrop({ ...parts, prompt: "a harbour" })).bytes.equals(first.bytes)).toBe(true);
    expect((await uncrop({ ...parts, prompt: "a forest" })).bytes.equals(first.bytes)).toBe(false);
  });

  it("answers a tinted image for a mask without anything to keep [G26]", async () => {
    const { status, bytes } = await uncrop({
      provider: "provider_b",
      image_file: { bytes: await drawPicture(50, 50).png().toBuffer(), type: "image/png" },
      mask_file: { bytes: await drawPicture(8, 8).ensureAlpha(0).png().toBuffer(), type: "image/png" },
    });
    expect(status).toBe(200);
    const { channels } = await sharp(bytes).stats();
    expect(channels.map(({ min, max }) => max - min)).toEqual([0, 0, 0]);
    expect(channels.some(({ mean }) => mean > 0)).toBe(true);
  });

  it("requires a mask that is a PNG with an alpha channel [4.20]", async () => {
    const image_file = { bytes: await drawPicture(20, 20).png().toBuffer(), type: "image/png" };
    const withMask = (bytes: Buffer, type = "image/png") =>
      uncrop({ provider: "provider_b", image_file, mask_file: { bytes, type } });
    expectRefusal(await uncrop({ provider: "provider_b", image_file }), 422, {
      field: "mask_file",
      value: null,
    });
    expectRefusal(await withMask(await drawPicture(20, 20).png().toBuffer()), 422, { field: "mask_file" });
    expectRefusal(await withMask(await drawPicture(20, 20).jpeg().toBuffer()), 415, { field: "mask_file" });
    expectRefusal(await withMask(await drawHalfMask(9, 9), "image/jpeg"), 415, { field: "mask_file" });
    expectRefusal(await withMask(Buffer.from("no image")), 422, { field: "mask_file" });
    expectRefusal(await withMask((await drawHalfMask(90, 90)).subarray(0, 90)), 422, { field: "mask_file" });
  });
});
