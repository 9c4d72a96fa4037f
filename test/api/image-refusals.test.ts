import { crc32, deflateSync } from "node:zlib";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Api, type Caller, startReference } from "../support/harness.ts";
import {
  drawHalfMask,
  drawPicture,
  expectRefusal,
  type Part,
  postUncrop,
  toForm,
  UNCROP,
} from "../support/image-setup.ts";
import { createPrivateTempFolder } from "../support/upload-setup.ts";

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

const uncrop = (parts: Record<string, Part>, who?: Caller) => postUncrop(api, parts, who);

describe("an image request is refused [4.20]", () => {
  let image_file: { bytes: Buffer; type: string };
  beforeAll(async () => {
    image_file = { bytes: await drawPicture(20, 20).png().toBuffer(), type: "image/png" };
  });

  it.each<[Record<string, Part>, string, unknown]>([
    [{ provider: "provider_c" }, "provider", "provider_c"],
    [{ organization_id: "acme" }, "organization_id", "acme"],
    [{ extend_left: 2001 }, "extend_left", "2001"],
    [{ extend_up: -1 }, "extend_up", "-1"],
    [{ extend_right: "1.5" }, "extend_right", "1.5"],
    [{ extend_down: "" }, "extend_down", ""],
    [{ seed: "lucky" }, "seed", "lucky"],
    [{ seed: "9007199254740993" }, "seed", "9007199254740993"],
    [{ prompt: "more sky" }, "prompt", "more sky"],
    [{ size: "1024x1024" }, "size", "1024x1024"],
    [{ size: "2x2" }, "size", "2x2"],
    [{ provider: "provider_b", extend_left: 0 }, "extend_left", "0"],
    [{ provider: "provider_b", seed: 1 }, "seed", "1"],
    [{ image_file: "not a file" }, "image_file", "not a file"],
    [{ provider: { bytes: Buffer.from("x"), name: "p.txt" } }, "provider", "p.txt"],
  ])("with 422 and the field for the form %j [G26]", async (parts, field, value) => {
    expectRefusal(await uncrop({ image_file, ...parts }), 422, { field, value });
  });

  it("with 422 for a field that is sent twice, whether text or file [G09]", async () => {
    for (const field of ["extend_left", "image_file"]) {
      const form = toForm({
        provider: "provider_a",
        organization_id: "org_acme",
        image_file,
        extend_left: 1,
      });
      if (field === "extend_left") form.append(field, "2");
      else form.append(field, new Blob([new Uint8Array(image_file.bytes)], { type: "image/png" }), "second");
      const value = field === "extend_left" ? "2" : "second";
      expectRefusal(await api.call("dan", "POST", UNCROP, form), 422, { field, value });
    }
  });

  it("with 413 for text fields that together exceed the limit [G09]", async () => {
    const form = toForm({ provider: "provider_b", organization_id: "org_acme", image_file });
    const half = "x".repeat(600 * 1024);
    form.append("prompt", half);
    form.append("another", half);
    const { status, body } = await api.call("dan", "POST", UNCROP, form);
    expect([status, body.error.details]).toEqual([413, { field: "another", limit_bytes: 1024 * 1024 }]);
  });

  it("for a mask with provider_a [G26]", async () => {
    const mask_file = { bytes: await drawHalfMask(20, 20), type: "image/png", name: "mask.png" };
    expectRefusal(await uncrop({ image_file, mask_file }), 422, { field: "mask_file", value: "mask.png" });
  });

  it.each(["provider", "organization_id", "image_file"])("without %s [4.20]", async (field) => {
    const form = toForm({ provider: "provider_a", organization_id: "org_acme", image_file });
    form.delete(field);
    expectRefusal(await api.call("dan", "POST", UNCROP, form), 422, { field, value: null });
  });

  it("for its form first, then for its organization, then for its image [G03, G04]", async () => {
    const broken = { bytes: Buffer.from("nothing"), type: "image/png" };
    for (const [wrong, field] of [
      [{ seed: "x" }, "seed"],
      [{ prompt: "more sky" }, "prompt"],
      [{ provider: "provider_b" }, "mask_file"],
    ] as const) {
      const answer = await uncrop({ organization_id: "org_none", ...wrong, image_file: broken });
      expectRefusal(answer, 422, { field });
      expect(answer.headers.get("x-sandbox-decision")).toBe("validation");
    }
    const unknown = await uncrop({ organization_id: "org_none", image_file: broken });
    expect([unknown.status, unknown.body.error.code]).toEqual([404, "ORGANIZATION_NOT_FOUND"]);
    const foreign = await uncrop({ organization_id: "org_globex", image_file: broken });
    expect([foreign.status, foreign.body.error.code]).toEqual([403, "ORGANIZATION_ACCESS_DENIED"]);
    expect((await uncrop({ organization_id: "org_globex", image_file }, "eve")).status).toBe(200);
  });

  it("for the format of its bytes, not for its declared type [G26]", async () => {
    const jpeg = await drawPicture(20, 20).jpeg().toBuffer();
    expect((await uncrop({ image_file: { bytes: jpeg, type: "image/png", name: "x.png" } })).status).toBe(
      200,
    );
    expect((await uncrop({ image_file: { bytes: jpeg } })).status).toBe(200);
    const gif = await drawPicture(20, 20).gif().toBuffer();
    const tiff = await drawPicture(20, 20).tiff().toBuffer();
    expectRefusal(await uncrop({ image_file: { bytes: jpeg, type: "text/plain" } }), 415, {
      field: "image_file",
    });
    expectRefusal(await uncrop({ image_file: { bytes: gif, type: "image/png" } }), 415, {
      value: "image/gif",
    });
    expectRefusal(await uncrop({ image_file: { bytes: tiff, type: "image/png" } }), 415, {
      value: "image/tiff",
    });
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
    expectRefusal(await uncrop({ image_file: { bytes: svg, type: "image/png" } }), 415, {
      field: "image_file",
    });
  });

  it("with 422 image_file for bytes that cannot be decoded [G26]", async () => {
    const whole = await drawPicture(200, 200).png().toBuffer();
    const flipped = Buffer.from(whole);
    for (let i = 200; i < flipped.length - 50; i += 97) flipped[i] = flipped[i]! ^ 255;
    const jpeg = await drawPicture(200, 200).jpeg().toBuffer();
    for (const bytes of [
      Buffer.alloc(0),
      Buffer.from("hello"),
      whole.subarray(0, 20),
      whole.subarray(0, whole.length / 2),
      flipped,
      jpeg.subarray(0, jpeg.length / 2),
      Buffer.concat([Buffer.from("RIFF\x10\0\0\0WEBPVP8 "), Buffer.alloc(40)]),
    ]) {
      expectRefusal(await uncrop({ image_file: { bytes, type: "image/png" } }), 422, { field: "image_file" });
    }
  });

  it("with 413 for a file over upload_limit_mb [G26]", async () => {
    const small = await startReference({ settings: { upload_limit_mb: 0.001 } });
    const form = toForm({ provider: "provider_a", organization_id: "org_acme" });
    form.append("image_file", new Blob([new Uint8Array(2000)], { type: "image/png" }), "a.png");
    expectRefusal(await small.call("dan", "POST", UNCROP, form), 413, {
      field: "image_file",
      limit_bytes: 1048,
    });
    await small.close();
  });

  it("with 422 and the largest side for more than 40 megapixels after growth [G26]", async () => {
    const wide = await sharp({ create: { width: 6000, height: 6600, channels: 3, background: "#888888" } })
      .png()
      .toBuffer();
    const image = { bytes: wide, type: "image/png" };
    expectRefusal(await uncrop({ image_file: image, extend_left: 5, extend_down: 100 }), 422, {
      field: "extend_down",
      value: "100",
    });
    const { width, height } = await sharp(
      (await uncrop({ image_file: image, extend_up: 60 })).bytes,
    ).metadata();
    expect([width, height]).toEqual([6000, 6660]);
  });

  it("with the size of an image or mask that has more than 40 megapixels itself [G26]", async () => {
    const large = sharp({ create: { width: 8000, height: 6000, channels: 4, background: "#888888" } });
    const camera = { bytes: await large.png().toBuffer(), type: "image/png" };
    const small = { bytes: await drawPicture(10, 10).png().toBuffer(), type: "image/png" };
    const size = "has 8000 x 6000 pixels, more than 40000000";
    const image = await uncrop({ image_file: camera });
    expect(image.body.error.message).toBe(`image_file ${size}`);
    const mask = await uncrop({ provider: "provider_b", image_file: small, mask_file: camera });
    expect(mask.body.error.message).toBe(`mask_file ${size}`);
  });

  it("with the size of an image whose side is too long for a JPEG, if nothing extends it [G26]", async () => {
    const line = sharp({ create: { width: 65_501, height: 1, channels: 3, background: "#888888" } });
    const image = { bytes: await line.png().toBuffer(), type: "image/png", name: "line.png" };
    const answer = await uncrop({ image_file: image });
    expectRefusal(answer, 422, { field: "image_file", value: "line.png" });
    expect(answer.body.error.message).toBe("image_file has 65501 x 1 pixels, more than 65500 on a side");
  });

  it("with the animation as the reason for an animated image [G26]", async () => {
    const frames = sharp(Buffer.alloc(8 * 16 * 3, 90).fill(9, 0, 8), {
      raw: { width: 8, height: 16, channels: 3, pageHeight: 8 },
    });
    const animation = { bytes: await frames.webp().toBuffer(), type: "image/webp" };
    const { body } = await uncrop({ image_file: animation });
    expect(body.error.message).toBe("image_file is animated; only single pictures are accepted");
  });
});

describe("an image that is a bomb [4.20]", () => {
  /** A PNG whose header has larger dimensions than its data. */
  function makePng(width: number, height: number): Buffer {
    const chunk = (type: string, data: Buffer) => {
      const body = Buffer.concat([Buffer.from(type), data]);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(data.length);
      const sum = Buffer.alloc(4);
      sum.writeUInt32BE(crc32(body));
      return Buffer.concat([length, body, sum]);
    };
    const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
    header.writeUInt32BE(width, 0);
    header.writeUInt32BE(height, 4);
    return Buffer.concat([
      Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
      chunk("IHDR", header),
      chunk("IDAT", deflateSync(Buffer.alloc(4_000_000))),
      chunk("IEND", Buffer.alloc(0)),
    ]);
  }

  /** A JPEG of 10 x 10 pixels with 6000 x 6000 in its header. Decoders would invent the missing pixels. */
  async function makeJpeg(progressive: boolean): Promise<Buffer> {
    const bytes = await drawPicture(10, 10).jpeg({ progressive }).toBuffer();
    const frame = bytes.indexOf(Buffer.from([0xff, progressive ? 0xc2 : 0xc0]));
    bytes.writeUInt16BE(6000, frame + 5);
    bytes.writeUInt16BE(6000, frame + 7);
    return bytes;
  }

  it.each([
    ["a JPEG that is larger than its bytes can be", () => makeJpeg(false)],
    ["a progressive JPEG that is larger than its bytes can be", () => makeJpeg(true)],
    ["a huge header", () => makePng(60_000, 60_000)],
    ["a header of two thousand million pixels", () => makePng(2_147_483_647, 1)],
    ["pixels that end early", () => makePng(6000, 6000)],
    [
      "an animation",
      async () => {
        const frames = Buffer.alloc(16 * 16 * 3 * 40, 90);
        for (let i = 0; i < 40; i++) frames[i * 768] = i * 6;
        return sharp(frames, { raw: { width: 16, height: 640, channels: 3, pageHeight: 16 } })
          .webp()
          .toBuffer();
      },
    ],
  ])("is refused as image_file without being decoded: %s [G26]", async (_what, make) => {
    const bytes = await make();
    const before = process.memoryUsage.rss();
    const answer = await uncrop({ image_file: { bytes, type: "image/png" }, extend_left: 10 });
    expectRefusal(answer, 422, { field: "image_file" });
    expect(process.memoryUsage.rss() - before).toBeLessThan(150 * 1024 * 1024);
  });

  it("leaves no temporary file behind [4.20]", async () => {
    const temporary = createPrivateTempFolder();
    const own = await startReference();
    const form = toForm({ provider: "provider_a", organization_id: "org_acme" });
    form.append("image_file", new Blob([new Uint8Array(await drawPicture(9, 9).png().toBuffer())]), "a.png");
    expect((await own.call("dan", "POST", UNCROP, form)).status).toBe(200);
    expect(temporary.files()).toEqual([]);
    await own.close();
    expect(temporary.entries()).toEqual([]);
    temporary.remove();
  });
});
