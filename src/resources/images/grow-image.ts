import { type KnownImage, pixelsOf } from "./inspect-image.ts";
import { noiseOverlay } from "./noise.ts";

export interface Growth {
  left: number;
  right: number;
  up: number;
  down: number;
}

const BLUR = 6;

/**
 * provider_a: the image with a border of its own mirrored, softened and grained content, as JPEG. The
 * image itself stays as it is, but for what JPEG loses. The same seed and input give the same bytes.
 */
export async function growImage(image: KnownImage, growth: Growth, seed: number): Promise<Buffer> {
  const { default: sharp } = await import("sharp");
  const { data, info } = await pixelsOf(image, (opened) =>
    opened.flatten({ background: "#ffffff" }).toColourspace("srgb"),
  );
  const raw = { width: info.width, height: info.height, channels: info.channels };
  const { left, right, up: top, down: bottom } = growth;
  const noise = noiseOverlay(seed, {
    width: info.width + left + right,
    height: info.height + top + bottom,
  });
  return sharp(data, { raw })
    .extend({ left, right, top, bottom, extendWith: "mirror" })
    .blur(BLUR)
    .composite([noise, { input: data, raw, left, top }])
    .jpeg({ quality: 98, chromaSubsampling: "4:4:4" })
    .toBuffer();
}
