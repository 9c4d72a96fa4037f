import { createHash } from "node:crypto";
import type { OverlayOptions, Raw } from "sharp";
import { type KnownImage, pixelsOf } from "./inspect-image.ts";
import { noiseOverlay } from "./noise.ts";
import { lookOf, paintLook } from "./prompt-look.ts";
import type { SIZES } from "./sizes.ts";

/** Ever finer averages of what is kept: where the finer one knows nothing, the coarser shows through. */
const GRIDS = [1, 4, 16, 64];

/** How finely it is told how near something is that is kept. */
const COVERAGE = 24;
/** How much of the filled area the prompt's look makes up, beside the colours around it. */
const LOOK_SHARE = 0.85;

export interface Fill {
  image: KnownImage;
  mask: KnownImage;
  size: (typeof SIZES)[number];
  prompt: string;
}

/**
 * provider_b: image and mask scaled to the size, the mask's transparent area filled from the colours
 * around it and from what the prompt's words look like, as PNG. The same input gives the same bytes.
 */
export async function fillImage({ image, mask, size, prompt }: Fill): Promise<Buffer> {
  const { default: sharp } = await import("sharp");
  const [width, height] = size.split("x").map(Number) as [number, number];
  const scale = { width, height, fit: "fill" } as const;
  const { data: kept } = await pixelsOf(image, (opened) =>
    opened.toColourspace("srgb").resize(scale).ensureAlpha(),
  );
  const { data: opaque } = await pixelsOf(mask, (opened) =>
    opened.resize(scale).ensureAlpha().extractChannel("alpha"),
  );
  for (let i = 0; i < opaque.length; i++) {
    kept[i * 4 + 3] = Math.round((kept[i * 4 + 3]! * opaque[i]!) / 255);
  }
  const digest = createHash("sha256").update(kept).update(prompt).digest();
  const raw: Raw = { width, height, channels: 4 };
  const layers: OverlayOptions[] = [];
  for (const grid of GRIDS) {
    const averages = await sharp(kept, { raw }).resize(grid, grid, { fit: "fill" }).raw().toBuffer();
    const layer = sharp(averages, { raw: { width: grid, height: grid, channels: 4 } });
    layers.push({
      input: await layer
        .resize({ ...scale, kernel: "cubic" })
        .raw()
        .toBuffer(),
      raw,
    });
  }
  const look = lookOf(prompt);
  if (look !== undefined) {
    // Beside what is kept its own colours come first, so that no edge shows.
    const strength = await distanceFrom(kept, { width, height });
    layers.push({ input: paintLook(look, { width, height, strength, seed: digest.readUInt32BE(7) }), raw });
  }
  // A mask that keeps nothing leaves only the prompt to go by.
  const background = { r: digest[0]!, g: digest[1]!, b: digest[2]! };
  return sharp({ create: { width, height, channels: 3, background } })
    .composite([...layers, noiseOverlay(digest.readUInt32BE(3), scale), { input: kept, raw }])
    .removeAlpha()
    .png({ compressionLevel: 3 })
    .toBuffer();
}

/** For each pixel how far it is from what is kept, as the share of the prompt's look there (0 to 255). */
async function distanceFrom(
  kept: Buffer,
  { width, height }: { width: number; height: number },
): Promise<Buffer> {
  const { default: sharp } = await import("sharp");
  const alpha = Buffer.alloc(width * height, 0);
  for (let i = 0; i < alpha.length; i++) alpha[i] = kept[i * 4 + 3]!;
  const coarse = await sharp(alpha, { raw: { width, height, channels: 1 } })
    .resize(COVERAGE, COVERAGE, { fit: "fill" })
    .toColourspace("b-w")
    .raw()
    .toBuffer();
  const covered = await sharp(coarse, { raw: { width: COVERAGE, height: COVERAGE, channels: 1 } })
    .resize({ width, height, fit: "fill", kernel: "cubic" })
    .toColourspace("b-w")
    .raw()
    .toBuffer();
  for (let i = 0; i < covered.length; i++) covered[i] = Math.round((255 - covered[i]!) * LOOK_SHARE);
  return covered;
}
