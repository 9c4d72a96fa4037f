import type { Picture } from "./schema.ts";

/** A picture is judged by its header before a pixel is made of it, as in 4.20. */
const MAX_PIXELS = 40_000_000;

/** Looked at this small: enough to tell colours, and nothing to keep. */
const SIDE = 32;
/** A colour that covers less is not named. */
const MIN_SHARE = 0.08;
const MAX_COLOURS = 3;

const FORMATS = new Set(["png", "jpeg", "webp", "gif"]);

/** What can be seen of it (G35); undefined for bytes that are no picture of a kind that is looked at. */
export async function describePicture(bytes: Buffer): Promise<Picture | undefined> {
  const { default: sharp } = await import("sharp");
  const image = sharp(bytes, { limitInputPixels: MAX_PIXELS, failOn: "error" }).autoOrient();
  try {
    const { format, autoOrient } = await image.metadata();
    if (format === undefined || !FORMATS.has(format)) return undefined;
    const pixels = await image
      .flatten({ background: "#ffffff" })
      .toColourspace("srgb")
      .resize(SIDE, SIDE, { fit: "fill", kernel: "nearest" })
      .raw()
      .toBuffer();
    return { format, width: autoOrient.width, height: autoOrient.height, colours: dominant(pixels) };
  } catch {
    return undefined;
  }
}

function dominant(pixels: Buffer): string[] {
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
