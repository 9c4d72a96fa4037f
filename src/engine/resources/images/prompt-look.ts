import { Random } from "../../state/random.ts";

type Colour = readonly [number, number, number];
type Texture = "waves" | "grain" | "blades" | "clouds" | "bricks" | "stars" | "plain";

interface Look {
  colours: readonly Colour[];
  texture: Texture;
}

const COLOURS: readonly (readonly [RegExp, Colour])[] = [
  [/\b(?:red|crimson|scarlet)\b/i, [190, 45, 45]],
  [/\borange\b/i, [230, 135, 50]],
  [/\b(?:yellow|gold(?:en)?)\b/i, [235, 200, 70]],
  [/\b(?:green|emerald)\b/i, [70, 140, 65]],
  [/\b(?:turquoise|teal|cyan)\b/i, [55, 165, 165]],
  [/\b(?:blue|azure|navy)\b/i, [55, 100, 190]],
  [/\b(?:purple|violet|lilac)\b/i, [130, 75, 165]],
  [/\b(?:pink|rose|magenta)\b/i, [225, 130, 165]],
  [/\bbrown\b/i, [125, 85, 55]],
  [/\b(?:grey|gray|silver)\b/i, [140, 140, 145]],
  [/\bwhite\b/i, [240, 240, 238]],
  [/\bblack\b/i, [25, 25, 28]],
];

/** What these words look like: from above to below, and how it is structured. */
const SCENES: readonly (readonly [RegExp, Look])[] = [
  [
    /\b(?:sunset|sunrise|dusk|dawn)\b/i,
    {
      colours: [
        [80, 50, 110],
        [245, 150, 80],
      ],
      texture: "clouds",
    },
  ],
  [
    /\b(?:night|stars?|starry|space)\b/i,
    {
      colours: [
        [8, 10, 35],
        [28, 32, 75],
      ],
      texture: "stars",
    },
  ],
  [
    /\b(?:sea|ocean|water|lake|river|harbou?r|waves?)\b/i,
    {
      colours: [
        [45, 110, 165],
        [25, 80, 135],
      ],
      texture: "waves",
    },
  ],
  [
    /\b(?:beach|sand|desert|dunes?)\b/i,
    {
      colours: [
        [225, 200, 150],
        [205, 175, 120],
      ],
      texture: "grain",
    },
  ],
  [
    /\b(?:snow|ice|winter)\b/i,
    {
      colours: [
        [245, 248, 252],
        [225, 233, 242],
      ],
      texture: "grain",
    },
  ],
  [
    /\b(?:forest|woods|trees?|jungle)\b/i,
    {
      colours: [
        [55, 95, 50],
        [30, 60, 30],
      ],
      texture: "blades",
    },
  ],
  [
    /\b(?:grass|meadow|field|lawn|garden|park)\b/i,
    {
      colours: [
        [110, 160, 70],
        [70, 125, 45],
      ],
      texture: "blades",
    },
  ],
  [
    /\b(?:bricks?)\b/i,
    {
      colours: [
        [165, 75, 58],
        [150, 65, 50],
      ],
      texture: "bricks",
    },
  ],
  [
    /\b(?:stone|rocks?|concrete|mountains?|city|street)\b/i,
    {
      colours: [
        [150, 148, 145],
        [115, 113, 110],
      ],
      texture: "grain",
    },
  ],
  [
    /\b(?:wood(?:en)?|plank|floor)\b/i,
    {
      colours: [
        [160, 112, 70],
        [140, 95, 58],
      ],
      texture: "waves",
    },
  ],
  [
    /\b(?:fog|mist|clouds?|cloudy|sky)\b/i,
    {
      colours: [
        [110, 160, 220],
        [205, 222, 238],
      ],
      texture: "clouds",
    },
  ],
  [
    /\b(?:fire|flames?|lava)\b/i,
    {
      colours: [
        [250, 180, 60],
        [200, 60, 25],
      ],
      texture: "clouds",
    },
  ],
];

/** What a prompt asks for, as far as its words tell; undefined where none of them is known. */
export function lookOf(prompt: string): Look | undefined {
  const named = COLOURS.flatMap(([word, colour]) => (word.test(prompt) ? [colour] : []));
  const scene = SCENES.find(([word]) => word.test(prompt))?.[1];
  if (named.length === 0) return scene;
  return { colours: named, texture: scene?.texture ?? "plain" };
}

/** The look as pixels of four channels, as strong as `strength` says for each pixel (0 to 255). */
export function paintLook(
  look: Look,
  { width, height, strength, seed }: { width: number; height: number; strength: Buffer; seed: number },
): Buffer {
  const random = new Random(seed, "look");
  const shade = SHADES[look.texture](random);
  const pixels = Buffer.alloc(width * height * 4);
  for (let y = 0; y < height; y++) {
    const [red, green, blue] = between(look.colours, y / height);
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 4;
      const light = shade(x, y);
      pixels[at] = bounded(red + light);
      pixels[at + 1] = bounded(green + light);
      pixels[at + 2] = bounded(blue + light);
      pixels[at + 3] = strength[y * width + x]!;
    }
  }
  return pixels;
}

function between(colours: readonly Colour[], share: number): Colour {
  const place = share * (colours.length - 1);
  const first = Math.min(Math.floor(place), colours.length - 1);
  const next = Math.min(first + 1, colours.length - 1);
  const [a, b] = [colours[first]!, colours[next]!];
  const part = place - first;
  return [a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part, a[2] + (b[2] - a[2]) * part];
}

type Shade = (x: number, y: number) => number;

/** How much lighter or darker a pixel is than its colour. */
const SHADES: Record<Texture, (random: Random) => Shade> = {
  plain: (random) => {
    const noise = noiseOf(random);
    return (x, y) => (noise(x / 90, y / 90) - 0.5) * 24;
  },
  clouds: (random) => {
    const noise = noiseOf(random);
    return (x, y) =>
      Math.max(
        0,
        noise(x / 160, y / 70) * 0.6 + noise(x / 60, y / 30) * 0.3 + noise(x / 20, y / 12) * 0.1 - 0.45,
      ) * 170;
  },
  waves: (random) => {
    const noise = noiseOf(random);
    return (x, y) => Math.sin(y * 0.35 + noise(x / 60, y / 14) * 9) * 14 + (noise(x / 9, y / 3) - 0.5) * 12;
  },
  blades: (random) => {
    const noise = noiseOf(random);
    return (x, y) => (noise(x / 3, y / 14) - 0.5) * 60 + (noise(x / 40, y / 40) - 0.5) * 40;
  },
  grain: (random) => {
    const noise = noiseOf(random);
    return (x, y) => (noise(x / 1.5, y / 1.5) - 0.5) * 26 + (noise(x / 50, y / 22) - 0.5) * 30;
  },
  bricks: (random) => {
    const noise = noiseOf(random);
    return (x, y) => {
      const row = Math.floor(y / 32);
      const along = x + (row % 2) * 32;
      if (y % 32 < 4 || along % 64 < 4) return 70;
      return (noise(Math.floor(along / 64) * 3.7, row * 5.3) - 0.5) * 40 + (noise(x / 5, y / 5) - 0.5) * 20;
    };
  },
  stars: (random) => {
    const noise = noiseOf(random);
    return (x, y) => (noise(x / 2.1, y / 2.1) > 0.965 ? 200 : (noise(x / 90, y / 60) - 0.5) * 14);
  },
};

const LATTICE = 64;

/** Smooth noise between 0 and 1 that repeats after a few dozen units. */
function noiseOf(random: Random): Shade {
  const values = Float32Array.from({ length: LATTICE * LATTICE }, () => random.float());
  const at = (x: number, y: number) => values[(y & (LATTICE - 1)) * LATTICE + (x & (LATTICE - 1))]!;
  return (x, y) => {
    const left = Math.floor(x);
    const top = Math.floor(y);
    const u = smooth(x - left);
    const v = smooth(y - top);
    const upper = at(left, top) * (1 - u) + at(left + 1, top) * u;
    const lower = at(left, top + 1) * (1 - u) + at(left + 1, top + 1) * u;
    return upper * (1 - v) + lower * v;
  };
}

function smooth(share: number): number {
  return share * share * (3 - 2 * share);
}

function bounded(value: number): number {
  return value < 0 ? 0 : value > 255 ? 255 : value;
}
