import type { Region } from "sharp";
import { type KnownImage, pixelsOf } from "./inspect-image.ts";
import { noiseOverlay } from "./noise.ts";

export interface Growth {
  left: number;
  right: number;
  up: number;
  down: number;
}

const BLUR = 4;
/** The border is made at this size at most and scaled up: it is soft anyway, and memory is not. */
const LONGEST_MADE_SIDE = 1024;
const CHANNELS = 3;

interface Canvas {
  data: Buffer;
  width: number;
  height: number;
}

/**
 * provider_a: the image with a border of its own mirrored, softened and grained content, as JPEG. The
 * image itself stays as it is, but for what JPEG loses. The same seed and input give the same bytes.
 */
export async function growImage(image: KnownImage, growth: Growth, seed: number): Promise<Buffer> {
  const { default: sharp } = await import("sharp");
  const { left, right, up: top, down: bottom } = growth;
  const { data, info } = await pixelsOf(image, (opened) =>
    opened.flatten({ background: "#ffffff" }).toColourspace("srgb").extend({ left, right, top, bottom }),
  );
  const canvas: Canvas = { data, width: info.width, height: info.height };
  const inner: Region = { left, top, width: image.width, height: image.height };
  const border = await borderOf(canvas, inner, seed);
  for (const strip of stripsOf(canvas, inner)) {
    const pixels = await sharp(border.data, { raw: rawOf(border) })
      .resize(canvas.width, canvas.height, { fit: "fill", kernel: "linear" })
      .extract(strip)
      .raw()
      .toBuffer();
    paste(pixels, canvas, strip);
  }
  // Optimised coding would keep every coefficient in memory, four times the pixels.
  return sharp(data, { raw: rawOf(canvas) })
    .jpeg({ quality: 98, chromaSubsampling: "4:4:4", optimiseCoding: false })
    .toBuffer();
}

/** The whole canvas made from the image within it, at a size that costs little. */
async function borderOf(canvas: Canvas, inner: Region, seed: number): Promise<Canvas> {
  const { default: sharp } = await import("sharp");
  const scale = Math.min(1, LONGEST_MADE_SIDE / Math.max(canvas.width, canvas.height));
  const scaled = (pixels: number) => Math.round(pixels * scale);
  const small = await sharp(canvas.data, { raw: rawOf(canvas) })
    .extract(inner)
    .resize(Math.max(1, scaled(inner.width)), Math.max(1, scaled(inner.height)), { fit: "fill" })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const sides = {
    left: scaled(inner.left),
    top: scaled(inner.top),
    right: scaled(canvas.width - inner.width - inner.left),
    bottom: scaled(canvas.height - inner.height - inner.top),
  };
  const width = small.info.width + sides.left + sides.right;
  const height = small.info.height + sides.top + sides.bottom;
  const data = await sharp(small.data, { raw: rawOf(small.info) })
    .extend({ ...sides, extendWith: "mirror" })
    .blur(BLUR)
    .composite([noiseOverlay(seed, { width, height })])
    .removeAlpha()
    .raw()
    .toBuffer();
  return { data, width, height };
}

/** What lies outside the inner area: above and below it over the whole width, left and right beside it. */
function stripsOf({ width, height }: Canvas, { left, top, width: innerWidth, height: innerHeight }: Region) {
  const right = left + innerWidth;
  const bottom = top + innerHeight;
  const strips: Region[] = [
    { left: 0, top: 0, width, height: top },
    { left: 0, top: bottom, width, height: height - bottom },
    { left: 0, top, width: left, height: innerHeight },
    { left: right, top, width: width - right, height: innerHeight },
  ];
  return strips.filter((strip) => strip.width > 0 && strip.height > 0);
}

function paste(pixels: Buffer, canvas: Canvas, { left, top, width, height }: Region): void {
  const row = width * CHANNELS;
  for (let y = 0; y < height; y++) {
    pixels.copy(canvas.data, ((top + y) * canvas.width + left) * CHANNELS, y * row, (y + 1) * row);
  }
}

function rawOf({ width, height }: { width: number; height: number }) {
  return { width, height, channels: CHANNELS } as const;
}
