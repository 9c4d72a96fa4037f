import sharp, { type Sharp } from "sharp";
import { AVERAGED_GRIDS, type ImageTools, MAX_IMAGE_PIXELS, TINT_SHARE } from "../../engine/platform.ts";

/* Implements `ImageTools` for Node. Sharp uses its own threads, so that other requests are served meanwhile. */

const WHITE = "#ffffff";

export const inspect: ImageTools["inspect"] = async (bytes) => {
  const { format, hasAlpha, pages = 1, autoOrient } = await open(bytes, false).metadata();
  return { format, hasAlpha, isAnimated: pages > 1, width: autoOrient.width, height: autoOrient.height };
};

export const decode: ImageTools["decode"] = async (bytes, { channels, size }) => {
  const image = open(bytes);
  if (channels === 3) image.flatten({ background: WHITE });
  image.toColourspace("srgb");
  if (size !== undefined) image.resize({ ...size, fit: "fill" });
  if (channels === 4) image.ensureAlpha();
  const { data, info } = await image.raw({ depth: "uchar" }).toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
};

export const sample: ImageTools["sample"] = async (bytes, side) => {
  const image = open(bytes).flatten({ background: WHITE }).toColourspace("srgb");
  return image.resize(side, side, { fit: "fill", kernel: "nearest" }).raw().toBuffer();
};

export const extend: ImageTools["extend"] = async ({ data, width, height }, border, tint) => {
  const raw = {
    width: border.left + width + border.right,
    height: border.top + height + border.bottom,
    channels: 3,
  } as const;
  const extendedPixels = await sharp(data, { raw: { width, height, channels: 3 } })
    .extend({ ...border, extendWith: "mirror" })
    .linear(
      tint.map(() => 1 - TINT_SHARE),
      tint.map((channel) => channel * TINT_SHARE),
    )
    .raw()
    .toBuffer();
  for (let y = 0; y < height; y++) {
    const row = data.subarray(y * width * 3, (y + 1) * width * 3);
    extendedPixels.set(row, ((border.top + y) * raw.width + border.left) * 3);
  }
  // Optimised coding would store every coefficient, which takes four times the memory of the pixels.
  const coding = { quality: 98, chromaSubsampling: "4:4:4", optimiseCoding: false };
  return sharp(extendedPixels, { raw }).jpeg(coding).toBuffer();
};

export const fill: ImageTools["fill"] = async ({ data, width, height }, tint) => {
  const raw = { width, height, channels: 4 } as const;
  const layers = [];
  for (const grid of AVERAGED_GRIDS) {
    const averages = await sharp(data, { raw }).resize(grid, grid, { fit: "fill" }).raw().toBuffer();
    const scaled = sharp(averages, { raw: { width: grid, height: grid, channels: 4 } });
    layers.push(await scaled.resize({ width, height, fit: "fill", kernel: "cubic" }).raw().toBuffer());
  }
  const [r, g, b] = tint;
  return sharp({ create: { width, height, channels: 3, background: { r, g, b } } })
    .composite(
      [...layers, Buffer.from(data.buffer, data.byteOffset, data.length)].map((input) => ({ input, raw })),
    )
    .removeAlpha()
    .png({ compressionLevel: 3 })
    .toBuffer();
};

function open(bytes: Uint8Array, limitInputPixels: number | false = MAX_IMAGE_PIXELS): Sharp {
  return sharp(bytes, { limitInputPixels, failOn: "error" }).autoOrient();
}
