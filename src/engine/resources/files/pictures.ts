import { platform } from "../../platform.ts";
import { Random } from "../../state/random.ts";
import type { Transaction } from "../../state/transaction.ts";
import { findEffectiveType } from "./fixtures.ts";
import { type FileObject, fileTexts, type Picture } from "./schema.ts";

export function isPicture(file: FileObject): boolean {
  return findEffectiveType(file).startsWith("image/");
}

/** The uploaded picture (G35); a file without bytes has one that follows from the seed. */
export function findPicture(file: FileObject, world: Transaction): Picture | undefined {
  const examined = world.get(fileTexts, file.id);
  if (examined !== undefined) return examined.picture;
  const random = new Random(world.seed, "picture", file.id);
  const [width, height] = random.pick(INVENTED_SIZES);
  const format = findEffectiveType(file).replace(/^image\/(?:x-)?|\+xml$/g, "");
  return { format, width, height, colours: random.sample(INVENTED_COLOURS, 3) };
}

const INVENTED_SIZES = [
  [1920, 1080],
  [1280, 960],
  [1024, 1024],
  [1080, 1350],
  [640, 480],
] as const;
const INVENTED_COLOURS = ["blue", "green", "grey", "white", "brown", "orange", "red", "yellow"];

/** The side of the sample in which colours are counted, in pixels. */
const SAMPLE_SIDE = 32;
/** The smallest share of the picture at which a colour is named; the most common one always is. */
const MIN_SHARE = 0.08;
const MAX_COLOURS = 3;

const FORMATS = new Set(["png", "jpeg", "webp", "gif"]);

/** Describes the bytes of a picture; undefined if they are not a picture of a known format (G35). */
export async function readPicture(bytes: Uint8Array): Promise<Picture | undefined> {
  const images = await platform().loadImageTools();
  try {
    const { format, width, height } = await images.inspect(bytes);
    if (format === undefined || !FORMATS.has(format)) return undefined;
    return { format, width, height, colours: listDominantColours(await images.sample(bytes, SAMPLE_SIDE)) };
  } catch {
    return undefined;
  }
}

function listDominantColours(pixels: Uint8Array): string[] {
  const counts = new Map<string, number>();
  for (let i = 0; i < pixels.length; i += 3) {
    const name = nameColour(pixels[i]!, pixels[i + 1]!, pixels[i + 2]!);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const total = pixels.length / 3;
  const [first, ...others] = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return [first!, ...others.filter(([, count]) => count / total >= MIN_SHARE)]
    .slice(0, MAX_COLOURS)
    .map(([name]) => name);
}

/** The names of hues, each up to an angle of the colour wheel. */
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

const MIN_SATURATION = 0.14;

/** The common name of a colour, from three bytes. */
function nameColour(red: number, green: number, blue: number): string {
  const max = Math.max(red, green, blue);
  const min = Math.min(red, green, blue);
  const lightness = (max + min) / 510;
  const chroma = (max - min) / 255;
  if (lightness < 0.1) return "black";
  if (lightness > 0.93) return "white";
  const saturation = chroma / (1 - Math.abs(2 * lightness - 1));
  if (saturation < MIN_SATURATION || chroma < 0.07) return "grey";
  const hue = calculateHue(red, green, blue, max - min);
  const name = HUES.find(([end]) => hue < end)![1];
  if (name === "orange" && lightness < 0.42) return "brown";
  return name;
}

function calculateHue(red: number, green: number, blue: number, span: number): number {
  const max = Math.max(red, green, blue);
  if (max === red) return (60 * ((green - blue) / span) + 360) % 360;
  if (max === green) return 60 * ((blue - red) / span) + 120;
  return 60 * ((red - green) / span) + 240;
}
