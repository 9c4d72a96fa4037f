import type { Region } from "sharp";
import { Random } from "../../state/random.ts";
import { baseColours, clamp, type Plane, plane, type Rect } from "./base-colours.ts";
import { type KnownImage, pixelsOf } from "./inspect-image.ts";
import type { Side } from "./patch-places.ts";
import { type Patch, patchSize, type Quilt, quilt } from "./quilt.ts";

export interface Growth {
  left: number;
  right: number;
  up: number;
  down: number;
}

const CHANNELS = 3;

/** Patches are chosen and cut at this size and laid at the full one: what is chosen costs, what is laid does not. */
const MAX_CHOSEN_SIDE = 384;
const MAX_CHOSEN_PIXELS = 1_000_000;

interface Canvas {
  data: Buffer;
  width: number;
  height: number;
  inner: Rect;
}

/**
 * provider_a: the image with a border that is quilted from its own patches over its own colours, as JPEG. The
 * image itself stays as it is, but for what JPEG loses. The same seed and input give the same bytes.
 */
export async function growImage(image: KnownImage, growth: Growth, seed: number): Promise<Buffer> {
  const { default: sharp } = await import("sharp");
  const { left, right, up: top, down: bottom } = growth;
  const { data, info } = await pixelsOf(image, (opened) =>
    opened.flatten({ background: "#ffffff" }).toColourspace("srgb").extend({ left, right, top, bottom }),
  );
  const inner = { left, top, width: image.width, height: image.height };
  const canvas: Canvas = { data, width: info.width, height: info.height, inner };
  if (left + right + top + bottom > 0) await fillBorder(canvas, new Random(seed, "border"));
  // Optimised coding would keep every coefficient in memory, four times the pixels.
  return sharp(data, { raw: { width: info.width, height: info.height, channels: CHANNELS } })
    .jpeg({ quality: 98, chromaSubsampling: "4:4:4", optimiseCoding: false })
    .toBuffer();
}

async function fillBorder(canvas: Canvas, random: Random): Promise<void> {
  const small = await reduced(canvas);
  const base = baseColours(small.image, small.canvas, small.inner);
  const layer = new Layer(canvas, base, random.uint32());
  const size = patchSize(small.inner);
  if (size === undefined) {
    for (const side of SIDES) layer.colour(stripOf(canvas, side));
    return;
  }
  const detail = plane(base.width, base.height);
  const { inner, image } = small;
  for (let y = 0; y < inner.height; y++) {
    for (let i = 0; i < inner.width * CHANNELS; i++) {
      const at = ((y + inner.top) * base.width + inner.left) * CHANNELS + i;
      detail.data[at] = image.data[y * inner.width * CHANNELS + i]! - base.data[at]!;
    }
  }
  const made = quilt({ detail, base, inner }, size, random);
  for (const side of SIDES) {
    layer.mirror(side, made.overlap);
    layer.patches(side, made, inner);
  }
}

const SIDES = ["left", "right", "up", "down"] as const;

interface Reduced {
  image: Plane;
  canvas: { width: number; height: number };
  inner: Rect;
}

async function reduced({ data, width, height, inner }: Canvas): Promise<Reduced> {
  const { default: sharp } = await import("sharp");
  const scale = Math.min(
    1,
    MAX_CHOSEN_SIDE / Math.max(inner.width, inner.height),
    Math.sqrt(MAX_CHOSEN_PIXELS / (width * height)),
  );
  const scaled = (pixels: number) => Math.round(pixels * scale);
  const small = { width: Math.max(1, scaled(inner.width)), height: Math.max(1, scaled(inner.height)) };
  const pixels = await sharp(data, { raw: { width, height, channels: CHANNELS } })
    .extract(inner)
    .resize(small.width, small.height, { fit: "fill" })
    .raw()
    .toBuffer();
  const sides = {
    left: scaled(inner.left),
    top: scaled(inner.top),
    right: scaled(width - inner.width - inner.left),
    bottom: scaled(height - inner.height - inner.top),
  };
  return {
    image: { data: Float32Array.from(pixels), ...small },
    canvas: {
      width: small.width + sides.left + sides.right,
      height: small.height + sides.top + sides.bottom,
    },
    inner: { left: sides.left, top: sides.top, ...small },
  };
}

/** What lies outside the image: beside it in its own rows, above and below it over the whole width. */
function stripOf({ width, height, inner }: Canvas, side: Side): Region {
  const right = inner.left + inner.width;
  const bottom = inner.top + inner.height;
  if (side === "left") return { left: 0, top: inner.top, width: inner.left, height: inner.height };
  if (side === "right") return { left: right, top: inner.top, width: width - right, height: inner.height };
  if (side === "up") return { left: 0, top: 0, width, height: inner.top };
  return { left: 0, top: bottom, width, height: height - bottom };
}

/** Lays on the canvas, at its full size, what was chosen at a reduced one. */
class Layer {
  private readonly canvas: Canvas;
  private readonly base: Plane;
  private readonly grain: number;
  private readonly scale_x: number;
  private readonly scale_y: number;

  constructor(canvas: Canvas, base: Plane, grain: number) {
    this.canvas = canvas;
    this.base = base;
    this.grain = grain;
    this.scale_x = base.width / canvas.width;
    this.scale_y = base.height / canvas.height;
  }

  /** The colours alone, for an image that is too small to have details. */
  colour(strip: Region): void {
    const { data, width } = this.canvas;
    for (let y = strip.top; y < strip.top + strip.height; y++) {
      for (let x = strip.left; x < strip.left + strip.width; x++) {
        const low_x = clamp(Math.floor(x * this.scale_x), 0, this.base.width - 1);
        const low_y = clamp(Math.floor(y * this.scale_y), 0, this.base.height - 1);
        const from = (low_y * this.base.width + low_x) * CHANNELS;
        const to = (y * width + x) * CHANNELS;
        const grain = this.grainAt(x, y) * 3;
        for (let c = 0; c < CHANNELS; c++) data[to + c] = toByte(this.base.data[from + c]! + grain);
      }
    }
  }

  /** The band beside the image against which the first patches were cut. */
  mirror(side: Side, overlap: number): void {
    const { canvas } = this;
    const { data, width, inner } = canvas;
    const strip = stripOf(canvas, side);
    const isBeside = side === "left" || side === "right";
    const band = Math.ceil(overlap / (isBeside ? this.scale_x : this.scale_y)) + 1;
    const right = inner.left + inner.width - 1;
    const bottom = inner.top + inner.height - 1;
    const bounds = {
      left: side === "left" ? Math.max(strip.left, inner.left - band) : strip.left,
      right:
        side === "right" ? Math.min(strip.left + strip.width, right + 1 + band) : strip.left + strip.width,
      top: side === "up" ? Math.max(strip.top, inner.top - band) : strip.top,
      bottom:
        side === "down" ? Math.min(strip.top + strip.height, bottom + 1 + band) : strip.top + strip.height,
    };
    for (let y = bounds.top; y < bounds.bottom; y++) {
      const from_y = isBeside ? y : side === "up" ? 2 * inner.top - 1 - y : 2 * bottom + 1 - y;
      for (let x = bounds.left; x < bounds.right; x++) {
        const from_x = isBeside ? (side === "left" ? 2 * inner.left - 1 - x : 2 * right + 1 - x) : x;
        const from = (clamp(from_y, 0, canvas.height - 1) * width + clamp(from_x, 0, width - 1)) * CHANNELS;
        data.copyWithin((y * width + x) * CHANNELS, from, from + CHANNELS);
      }
    }
  }

  patches(side: Side, { sides, size }: Quilt, inner: Rect): void {
    const strip = stripOf(this.canvas, side);
    for (const patch of sides[side]) this.lay(patch, { strip, size, inner });
  }

  private lay(patch: Patch, { strip, size, inner: low }: { strip: Region; size: number; inner: Rect }): void {
    const { canvas, scale_x, scale_y } = this;
    const { data, width, inner } = canvas;
    const cells = this.cellsOf(patch, size, low);
    const left = Math.max(strip.left, Math.floor(patch.x / scale_x));
    const right = Math.min(strip.left + strip.width, Math.ceil((patch.x + size) / scale_x));
    const top = Math.max(strip.top, Math.floor(patch.y / scale_y));
    const bottom = Math.min(strip.top + strip.height, Math.ceil((patch.y + size) / scale_y));
    const from_left = Math.round((low.left + patch.from_x - patch.x) / scale_x);
    const from_top = Math.round((low.top + patch.from_y - patch.y) / scale_y);
    const last_x = inner.left + inner.width - 1;
    const last_y = inner.top + inner.height - 1;
    for (let y = top; y < bottom; y++) {
      const v = clamp((y + 0.5) * scale_y - 0.5 - patch.y, 0, size - 1);
      const v0 = Math.min(Math.floor(v), size - 2);
      const fv = v - v0;
      const from_row = clamp(y + from_top, inner.top, last_y) * width;
      for (let x = left; x < right; x++) {
        const u = clamp((x + 0.5) * scale_x - 0.5 - patch.x, 0, size - 1);
        const u0 = Math.min(Math.floor(u), size - 2);
        const fu = u - u0;
        const upper = (v0 * size + u0) * 4;
        const lower = upper + size * 4;
        const a = (1 - fu) * (1 - fv);
        const b = fu * (1 - fv);
        const c = (1 - fu) * fv;
        const d = fu * fv;
        const share = a * cells[upper]! + b * cells[upper + 4]! + c * cells[lower]! + d * cells[lower + 4]!;
        if (share <= 0) continue;
        const to = (y * width + x) * CHANNELS;
        const from = (from_row + clamp(x + from_left, inner.left, last_x)) * CHANNELS;
        const grain = this.grainAt(x, y);
        for (let n = 1; n <= CHANNELS; n++) {
          const shift =
            a * cells[upper + n]! +
            b * cells[upper + 4 + n]! +
            c * cells[lower + n]! +
            d * cells[lower + 4 + n]!;
          const wanted = data[from + n - 1]! + shift + grain;
          const now = data[to + n - 1]!;
          data[to + n - 1] = toByte(now + (wanted - now) * share);
        }
      }
    }
  }

  /** For each pixel of a patch how much of it shows, and by how much its colours differ here from there. */
  private cellsOf({ x, y, from_x, from_y, alpha }: Patch, size: number, low: Rect): Float32Array {
    const { data, width, height } = this.base;
    const cells = new Float32Array(size * size * 4);
    for (let v = 0; v < size; v++) {
      for (let u = 0; u < size; u++) {
        const here = (clamp(y + v, 0, height - 1) * width + clamp(x + u, 0, width - 1)) * CHANNELS;
        const there = ((low.top + from_y + v) * width + low.left + from_x + u) * CHANNELS;
        const cell = (v * size + u) * 4;
        cells[cell] = alpha[v * size + u]!;
        for (let c = 0; c < CHANNELS; c++) cells[cell + 1 + c] = data[here + c]! - data[there + c]!;
      }
    }
    return cells;
  }

  /** A noise of one step either way, as every sensor has; another seed, another noise. */
  private grainAt(x: number, y: number): number {
    const hash = Math.imul(
      Math.imul(x + 1, 0x9e3779b1) ^ Math.imul(y + 1, 0x85ebca77) ^ this.grain,
      0xc2b2ae3d,
    );
    return ((hash >>> 16) & 3) / 2 - 0.75;
  }
}

function toByte(value: number): number {
  return value < 0 ? 0 : value > 255 ? 255 : Math.round(value);
}
