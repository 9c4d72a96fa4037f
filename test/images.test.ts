import { crc32, deflateSync } from "node:zlib";
import sharp, { type Region, type Stats } from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answered, type Api, KEYS, startReference, type Who } from "./harness.ts";
import { privateTemporaryFolder } from "./upload-setup.ts";

const URL_PATH = "/v1/images/uncrop";

type Part = string | number | { bytes: Uint8Array; type?: string; name?: string };

let api: Api;
beforeAll(async () => {
  api = await startReference();
});
afterAll(() => api.close());

function formOf(parts: Record<string, Part>): FormData {
  const form = new FormData();
  for (const [name, part] of Object.entries(parts)) {
    if (typeof part !== "object") form.append(name, String(part));
    else
      form.append(name, new Blob([new Uint8Array(part.bytes)], { type: part.type }), part.name ?? "picture");
  }
  return form;
}

async function uncrop(parts: Record<string, Part>, who: Who = "dan"): Promise<Answered & { bytes: Buffer }> {
  const response = await fetch(api.url + URL_PATH, {
    method: "POST",
    headers: { "api-key": KEYS[who] },
    body: formOf({ provider: "provider_a", organization_id: "org_acme", ...parts }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get("content-type")?.includes("json");
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    text: isJson ? bytes.toString() : "",
    body: isJson ? JSON.parse(bytes.toString()) : undefined,
  };
}

/** A picture whose every pixel says where it is. */
function picture(width: number, height: number) {
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      pixels.set(
        [(x * 255) / width, (y * 255) / height, ((x + y) * 127) / (width + height)],
        (y * width + x) * 3,
      );
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } });
}

/** A mask that keeps its left half and leaves the right one to be filled. */
function halfMask(width: number, height: number): Promise<Buffer> {
  const pixels = Buffer.alloc(width * height * 4);
  for (let i = 0; i < width * height; i++) pixels[i * 4 + 3] = i % width < width / 2 ? 255 : 0;
  return sharp(pixels, { raw: { width, height, channels: 4 } })
    .png()
    .toBuffer();
}

async function statsOf(bytes: Buffer, area: Region): Promise<Stats> {
  return sharp(await sharp(bytes).extract(area).png().toBuffer()).stats();
}

function expectRefusal(answer: Answered, status: number, details: Record<string, unknown>): void {
  expect(answer.status, answer.text).toBe(status);
  expect(answer.body.error.details).toMatchObject(details);
}

describe("4.20 provider_a", () => {
  it.each(["png", "jpeg", "webp"] as const)(
    "4.20 G26 grows a %s by exactly the pixels asked for and leaves the image as it is",
    async (format) => {
      const source = await picture(120, 80)[format]().toBuffer();
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
      // The outermost pixels share their JPEG blocks with the border.
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

  it("G26 fills the border with content, not with one colour", async () => {
    const image_file = { bytes: await picture(100, 100).png().toBuffer(), type: "image/png" };
    const { bytes } = await uncrop({ image_file, extend_left: 60, seed: 4 });
    const border = await statsOf(bytes, { left: 0, top: 0, width: 60, height: 100 });
    for (const channel of border.channels) expect(channel.stdev).toBeGreaterThan(2);
    const edge = await statsOf(bytes, { left: 55, top: 90, width: 4, height: 4 });
    // Beside the image's lower left corner: hardly any red, much green.
    expect(edge.channels[0]!.mean).toBeLessThan(60);
    expect(edge.channels[1]!.mean).toBeGreaterThan(180);
  });

  it("G26 the same seed and input give the same bytes, another seed gives others", async () => {
    const image_file = { bytes: await picture(64, 48).png().toBuffer(), type: "image/png" };
    const parts = { image_file, extend_right: 40, extend_up: 10 };
    const first = await uncrop({ ...parts, seed: 7 });
    const again = await uncrop({ ...parts, seed: 7 });
    const other = await uncrop({ ...parts, seed: 8 });
    expect(again.bytes.equals(first.bytes)).toBe(true);
    expect(other.bytes.equals(first.bytes)).toBe(false);
    expect(again.headers.get("x-provider-request-id")).not.toBe(first.headers.get("x-provider-request-id"));
  });

  it("4.20 extensions default to 0; an image may grow by more than it has", async () => {
    const image_file = { bytes: await picture(5, 4).png().toBuffer(), type: "image/png" };
    const same = await sharp((await uncrop({ image_file })).bytes).metadata();
    expect([same.width, same.height]).toEqual([5, 4]);
    const grown = await sharp((await uncrop({ image_file, extend_left: 2000 })).bytes).metadata();
    expect([grown.width, grown.height]).toEqual([2005, 4]);
  });

  it("4.20 takes grey, transparent, palette, 16-bit and CMYK images, and turns a photo upright", async () => {
    const grey = await picture(20, 20).greyscale().toColourspace("b-w").png().toBuffer();
    const clear = await picture(20, 20).ensureAlpha(0.5).png().toBuffer();
    const palette = await picture(20, 20).png({ palette: true, colours: 8 }).toBuffer();
    const deep = await picture(20, 20).toColourspace("rgb16").png().toBuffer();
    const cmyk = await picture(20, 20).toColourspace("cmyk").jpeg().toBuffer();
    for (const bytes of [grey, clear, palette, deep, cmyk]) {
      const answer = await uncrop({ image_file: { bytes, type: "image/png" }, extend_up: 5 });
      expect(answer.status, answer.text).toBe(200);
      const { width, height, channels } = await sharp(answer.bytes).metadata();
      expect([width, height, channels]).toEqual([20, 25, 3]);
    }
    const turned = await picture(30, 20).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const { bytes } = await uncrop({ image_file: { bytes: turned, type: "image/jpeg" }, extend_left: 10 });
    const { width, height } = await sharp(bytes).metadata();
    expect([width, height]).toEqual([30, 30]);
  });
});

describe("4.20 provider_b", () => {
  it.each([undefined, "1024x1024", "1024x1536", "1536x1024"])(
    "4.20 G26 answers a PNG of size %s with the mask's transparent area filled",
    async (size) => {
      const image = await picture(256, 256).png().toBuffer();
      const mask = await halfMask(64, 64);
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
      const at = (x: number, y: number) => [...after.subarray((y * width + x) * 3, (y * width + x) * 3 + 3)];
      const was = (x: number, y: number) => [
        ...scaled.subarray((y * width + x) * 3, (y * width + x) * 3 + 3),
      ];
      for (const [x, y] of [
        [10, 10],
        [width / 4, height / 2],
        [width / 2 - 60, height - 5],
      ] as const) {
        expect(at(x, y), `kept at ${x},${y}`).toEqual(was(x, y));
      }
      const right = { left: width / 2 + 80, top: 0, width: width / 2 - 80, height };
      const filled = await statsOf(answer.bytes, right);
      for (const channel of filled.channels) expect(channel.stdev).toBeGreaterThan(0);
      // The right half of the source is red; what is filled knows only the left half.
      expect(at(width - 20, 20)[0]).toBeLessThan(was(width - 20, 20)[0]! - 60);
    },
  );

  it("G26 the same input gives the same bytes, another prompt gives others", async () => {
    const parts = {
      provider: "provider_b",
      image_file: { bytes: await picture(50, 50).png().toBuffer(), type: "image/png" },
      mask_file: { bytes: await halfMask(50, 50), type: "image/png" },
    };
    const first = await uncrop({ ...parts, prompt: "a harbour" });
    expect((await uncrop({ ...parts, prompt: "a harbour" })).bytes.equals(first.bytes)).toBe(true);
    expect((await uncrop({ ...parts, prompt: "a forest" })).bytes.equals(first.bytes)).toBe(false);
  });

  it("4.20 needs a mask that is a PNG with an alpha channel", async () => {
    const image_file = { bytes: await picture(20, 20).png().toBuffer(), type: "image/png" };
    const withMask = (bytes: Buffer, type = "image/png") =>
      uncrop({ provider: "provider_b", image_file, mask_file: { bytes, type } });
    expectRefusal(await uncrop({ provider: "provider_b", image_file }), 422, {
      field: "mask_file",
      value: null,
    });
    expectRefusal(await withMask(await picture(20, 20).png().toBuffer()), 422, { field: "mask_file" });
    expectRefusal(await withMask(await picture(20, 20).jpeg().toBuffer()), 415, { field: "mask_file" });
    expectRefusal(await withMask(await halfMask(9, 9), "image/jpeg"), 415, { field: "mask_file" });
    expectRefusal(await withMask(Buffer.from("no image")), 422, { field: "mask_file" });
    expectRefusal(await withMask((await halfMask(90, 90)).subarray(0, 90)), 422, { field: "mask_file" });
  });
});

describe("4.20 refusals", () => {
  let image_file: { bytes: Buffer; type: string };
  beforeAll(async () => {
    image_file = { bytes: await picture(20, 20).png().toBuffer(), type: "image/png" };
  });

  it.each<[Record<string, Part>, string, unknown]>([
    [{ provider: "provider_c" }, "provider", "provider_c"],
    [{ organization_id: "acme" }, "organization_id", "acme"],
    [{ extend_left: 2001 }, "extend_left", 2001],
    [{ extend_up: -1 }, "extend_up", -1],
    [{ extend_right: "1.5" }, "extend_right", "1.5"],
    [{ extend_down: "" }, "extend_down", ""],
    [{ seed: "lucky" }, "seed", "lucky"],
    [{ prompt: "more sky" }, "prompt", "more sky"],
    [{ size: "1024x1024" }, "size", "1024x1024"],
    [{ size: "2x2" }, "size", "2x2"],
    [{ provider: "provider_b", extend_left: 0 }, "extend_left", 0],
    [{ provider: "provider_b", seed: 1 }, "seed", 1],
    [{ image_file: "not a file" }, "image_file", "not a file"],
    [{ provider: { bytes: Buffer.from("x"), name: "p.txt" } }, "provider", "p.txt"],
  ])("G26 %j is 422 and names the field", async (parts, field, value) => {
    expectRefusal(await uncrop({ image_file, ...parts }), 422, { field, value });
  });

  it("G26 a mask is not a field of provider_a", async () => {
    const mask_file = { bytes: await halfMask(20, 20), type: "image/png", name: "mask.png" };
    expectRefusal(await uncrop({ image_file, mask_file }), 422, { field: "mask_file", value: "mask.png" });
  });

  it.each(["provider", "organization_id", "image_file"])("4.20 %s is required", async (field) => {
    const form = formOf({ provider: "provider_a", organization_id: "org_acme", image_file });
    form.delete(field);
    expectRefusal(await api.call("dan", "POST", URL_PATH, form), 422, { field, value: null });
  });

  it("G03 G04 judges the form before the organization, and the organization before the picture", async () => {
    const broken = { bytes: Buffer.from("nothing"), type: "image/png" };
    expectRefusal(await uncrop({ organization_id: "org_none", seed: "x", image_file: broken }), 422, {
      field: "seed",
    });
    const unknown = await uncrop({ organization_id: "org_none", image_file: broken });
    expect([unknown.status, unknown.body.error.code]).toEqual([404, "ORGANIZATION_NOT_FOUND"]);
    const foreign = await uncrop({ organization_id: "org_globex", image_file: broken });
    expect([foreign.status, foreign.body.error.code]).toEqual([403, "ORGANIZATION_ACCESS_DENIED"]);
    expect((await uncrop({ organization_id: "org_globex", image_file }, "eve")).status).toBe(200);
  });

  it("G26 the bytes decide what an image is, its declared type only whether it is looked at", async () => {
    const jpeg = await picture(20, 20).jpeg().toBuffer();
    expect((await uncrop({ image_file: { bytes: jpeg, type: "image/png", name: "x.png" } })).status).toBe(
      200,
    );
    expect((await uncrop({ image_file: { bytes: jpeg } })).status).toBe(200);
    const gif = await picture(20, 20).gif().toBuffer();
    const tiff = await picture(20, 20).tiff().toBuffer();
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

  it("G26 what cannot be decoded is 422 image_file", async () => {
    const whole = await picture(200, 200).png().toBuffer();
    const flipped = Buffer.from(whole);
    for (let i = 200; i < flipped.length - 50; i += 97) flipped[i] = flipped[i]! ^ 255;
    const jpeg = await picture(200, 200).jpeg().toBuffer();
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

  it("G26 a file over the limit is 413", async () => {
    const small = await startReference({ settings: { upload_limit_mb: 0.001 } });
    const form = formOf({ provider: "provider_a", organization_id: "org_acme" });
    form.append("image_file", new Blob([new Uint8Array(2000)], { type: "image/png" }), "a.png");
    expectRefusal(await small.call("dan", "POST", URL_PATH, form), 413, {
      field: "image_file",
      limit_bytes: 1048,
    });
    await small.close();
  });

  it("G26 more than 40 megapixels after growth is 422 of the largest side", async () => {
    const wide = await sharp({ create: { width: 6000, height: 6600, channels: 3, background: "#888888" } })
      .png()
      .toBuffer();
    const image = { bytes: wide, type: "image/png" };
    expectRefusal(await uncrop({ image_file: image, extend_left: 5, extend_down: 100 }), 422, {
      field: "extend_down",
      value: 100,
    });
    const { width, height } = await sharp(
      (await uncrop({ image_file: image, extend_up: 60 })).bytes,
    ).metadata();
    expect([width, height]).toEqual([6000, 6660]);
  });
});

describe("4.20 bombs", () => {
  /** A PNG that says it is larger than its pixels are. */
  function claiming(width: number, height: number): Buffer {
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

  it.each([
    ["a huge header", () => claiming(60_000, 60_000)],
    ["a header of two thousand million pixels", () => claiming(2_147_483_647, 1)],
    ["pixels that end early", () => claiming(6000, 6000)],
    [
      "moving pictures",
      async () => {
        const frames = Buffer.alloc(16 * 16 * 3 * 40, 90);
        for (let i = 0; i < 40; i++) frames[i * 768] = i * 6;
        return sharp(frames, { raw: { width: 16, height: 640, channels: 3, pageHeight: 16 } })
          .webp()
          .toBuffer();
      },
    ],
  ])("G26 %s is refused as image_file without decoding it", async (_what, make) => {
    const bytes = await make();
    const before = process.memoryUsage.rss();
    const answer = await uncrop({ image_file: { bytes, type: "image/png" }, extend_left: 10 });
    expectRefusal(answer, 422, { field: "image_file" });
    expect(process.memoryUsage.rss() - before).toBeLessThan(150 * 1024 * 1024);
  });

  it("4.20 leaves no file behind, whatever came of it", async () => {
    const temporary = privateTemporaryFolder();
    const own = await startReference();
    const form = formOf({ provider: "provider_a", organization_id: "org_acme" });
    form.append("image_file", new Blob([new Uint8Array(await picture(9, 9).png().toBuffer())]), "a.png");
    expect((await own.call("dan", "POST", URL_PATH, form)).status).toBe(200);
    expect(temporary.files()).toEqual([]);
    await own.close();
    expect(temporary.entries()).toEqual([]);
    temporary.remove();
  });
});
