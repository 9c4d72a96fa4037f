import { createHash } from "node:crypto";
import type { OverlayOptions, Raw } from "sharp";
import { type KnownImage, pixelsOf } from "./inspect-image.ts";
import { noiseOverlay } from "./noise.ts";

export const SIZES = ["1024x1024", "1024x1536", "1536x1024"] as const;

/** Ever finer averages of what is kept: where the finer one knows nothing, the coarser shows through. */
const GRIDS = [1, 4, 16, 64];

export interface Fill {
  image: KnownImage;
  mask: KnownImage;
  size: (typeof SIZES)[number];
  prompt: string;
}

/**
 * provider_b: image and mask scaled to the size, the mask's transparent area filled from the colours
 * around it, as PNG. The same input gives the same bytes.
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
  // A mask that keeps nothing leaves only the prompt to go by.
  const background = { r: digest[0]!, g: digest[1]!, b: digest[2]! };
  return sharp({ create: { width, height, channels: 3, background } })
    .composite([...layers, noiseOverlay(digest.readUInt32BE(3), scale), { input: kept, raw }])
    .removeAlpha()
    .png({ compressionLevel: 3 })
    .toBuffer();
}
