import type { OverlayOptions } from "sharp";
import { Random } from "../../state/random.ts";

const TILE = 128;
/** How strongly the grain shows, of 255. */
const STRENGTH = 28;

/** Film grain in grey over an area of this size; another seed, another grain. */
export function noiseOverlay(seed: number, area: { width: number; height: number }): OverlayOptions {
  const random = new Random(seed, "grain");
  const width = Math.min(TILE, area.width);
  const height = Math.min(TILE, area.height);
  const pixels = Buffer.alloc(width * height * 4);
  for (let i = 0; i < pixels.length; i += 4) {
    const word = random.uint32();
    pixels.fill(word & 255, i, i + 3);
    pixels[i + 3] = (word >>> 8) % STRENGTH;
  }
  return { input: pixels, raw: { width, height, channels: 4 }, tile: true };
}
