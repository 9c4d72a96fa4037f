import { platform } from "../../platform.ts";
import type { Picture } from "./schema.ts";

/** Enough pixels a side to count colours. */
const SIDE = 32;
/** A colour that covers less is not named. */
const MIN_SHARE = 0.08;
const MAX_COLOURS = 3;

const FORMATS = new Set(["png", "jpeg", "webp", "gif"]);

/** Describes the bytes of a picture; undefined if they are no picture of a known format (G35). */
export async function describePicture(bytes: Uint8Array): Promise<Picture | undefined> {
  try {
    const images = await platform().images();
    const { format, width, height } = await images.inspect(bytes);
    if (format === undefined || !FORMATS.has(format)) return undefined;
    return { format, width, height, colours: dominant(await images.sample(bytes, SIDE)) };
  } catch {
    return undefined;
  }
}

function dominant(pixels: Uint8Array): string[] {
  const counts = new Map<string, number>();
  for (let i = 0; i < pixels.length; i += 3) {
    const name = colourName(pixels[i]!, pixels[i + 1]!, pixels[i + 2]!);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const total = pixels.length / 3;
  const [first, ...others] = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return [first!, ...others.filter(([, count]) => count / total >= MIN_SHARE)]
    .slice(0, MAX_COLOURS)
    .map(([name]) => name);
}

/** Up to which angle of the colour wheel a hue has this name. */
const HUES: readonly (readonly [number, string])[] = [
  [15, "red"],
  [42, "orange"],
  [68, "yellow"],
  [165, "green"],
  [195, "turquoise"],
  [258, "blue"],
  [290, "purple"],
  [340, "pink"],
  [360, "red"],
];

const GREY_BELOW = 0.14;

/** What a person would call a colour, of three bytes. */
function colourName(red: number, green: number, blue: number): string {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  const light = (most + least) / 510;
  const chroma = (most - least) / 255;
  if (light < 0.1) return "black";
  if (light > 0.93) return "white";
  const saturation = chroma / (1 - Math.abs(2 * light - 1));
  if (saturation < GREY_BELOW || chroma < 0.07) return "grey";
  const hue = hueOf(red, green, blue, most - least);
  const name = HUES.find(([end]) => hue < end)![1];
  if (name === "orange" && light < 0.42) return "brown";
  return name;
}

function hueOf(red: number, green: number, blue: number, span: number): number {
  const most = Math.max(red, green, blue);
  if (most === red) return (60 * ((green - blue) / span) + 360) % 360;
  if (most === green) return 60 * ((blue - red) / span) + 120;
  return 60 * ((red - green) / span) + 240;
}
