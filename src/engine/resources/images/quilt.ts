import type { Random } from "../../state/random.ts";
import { clamp, type Rect } from "./base-colours.ts";
import { leastPath } from "./least-path.ts";
import {
  type Cloth,
  mirrorBand,
  overlapsOf,
  type Place,
  placesOf,
  type Side,
  type Strip,
} from "./patch-places.ts";

/** A square of the image, and where on the canvas it is laid. */
export interface Patch {
  x: number;
  y: number;
  /** Of the image's own corner. */
  from_x: number;
  from_y: number;
  /** How much of it shows at each pixel, row by row. */
  alpha: Float32Array;
}

export interface Quilt {
  /** Pixels of a patch's side, and of the overlap between two. */
  size: number;
  overlap: number;
  /** In the order in which they are laid, by the side that they extend. */
  sides: Record<Side, Patch[]>;
}

/** Comparisons of pixels for one picture, however large; what is small is searched the better. */
const MAX_COMPARISONS = 40_000_000;
const TRIED = { least: 16, most: 140 };

/** How much a patch from other surroundings counts against one that fits less well. */
const BASE_WEIGHT = 2;
/** Mirrored content shows as what it is when there is much of it: the cut keeps close to the image. */
const MIRROR_COST = 60;
/** Of the image's height. */
const MAX_DEPTH = 0.25;
/** A mean colour so far from that of the edge belongs to something else. */
const OTHER_GROUND = 40;
const MAX_PATCH = 40;
const MIN_PATCH = 6;

/** Undefined for an image that is too small to be cut into patches. */
export function patchSize({ width, height }: Rect): number | undefined {
  const size = Math.min(MAX_PATCH, Math.round(Math.min(width, height) / 5));
  return size < MIN_PATCH ? undefined : size;
}

/**
 * Image quilting (Efros and Freeman): outward from the image, each patch is the one of many that fits best to
 * what is laid already, cut along the line where the two differ least. Those beside the image come from its own
 * rows, those above from its upper part and those below from its lower.
 */
export function quilt(cloth: Cloth, size: number, random: Random): Quilt {
  const overlap = Math.max(2, Math.round(size / 3));
  const sides: Quilt["sides"] = { left: [], right: [], up: [], down: [] };
  const { detail, inner } = cloth;
  const step = size - overlap;
  const area = detail.width * detail.height - inner.width * inner.height;
  const patches = Math.max(1, area / (step * step));
  const tried = clamp(Math.round(MAX_COMPARISONS / (patches * size * overlap)), TRIED.least, TRIED.most);
  const quilter = new Quilter(cloth, { size, overlap, tried, random });
  for (const side of ["left", "right", "up", "down"] as const) {
    mirrorBand(detail, inner, side, overlap);
    for (const place of placesOf(cloth, side, { size, step })) {
      sides[side].push(quilter.lay(side, place));
    }
  }
  return { size, overlap, sides };
}

interface Cutting {
  size: number;
  overlap: number;
  tried: number;
  random: Random;
}

interface Candidate {
  from_x: number;
  from_y: number;
}

class Quilter {
  private readonly cloth: Cloth;
  private readonly cutting: Cutting;
  private readonly used = new Map<number, number>();
  private readonly depth: { up: number; down: number };

  constructor(cloth: Cloth, cutting: Cutting) {
    this.cloth = cloth;
    this.cutting = cutting;
    this.depth = { up: this.depthFrom("up"), down: this.depthFrom("down") };
  }

  /** How far from an edge patches may begin without leaving what lies there: sky has no sea in it. */
  private depthFrom(side: "up" | "down"): number {
    const { base, inner } = this.cloth;
    const row = (n: number) => {
      const y = inner.top + (side === "up" ? n : inner.height - 1 - n);
      const sums = [0, 0, 0];
      for (let x = inner.left; x < inner.left + inner.width; x++) {
        for (let c = 0; c < 3; c++) sums[c]! += base.data[(y * base.width + x) * 3 + c]!;
      }
      return sums.map((sum) => sum / inner.width);
    };
    const edge = row(0);
    const most = Math.round(inner.height * MAX_DEPTH) + this.cutting.size;
    let n = 0;
    while (n < most && Math.hypot(...row(n).map((mean, c) => mean - edge[c]!)) < OTHER_GROUND) n++;
    return Math.max(0, n - this.cutting.size);
  }

  lay(side: Side, place: Place): Patch {
    const { tried } = this.cutting;
    const strips = overlapsOf(side, place, this.cutting);
    let best: Candidate | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (let n = 0; n < tried; n++) {
      const candidate = this.candidate(side, place, n);
      const cost = this.costOf(strips, place, candidate, least);
      if (cost < least) {
        least = cost;
        best = candidate;
      }
    }
    const chosen = best!;
    const key = this.neighbourhoodOf(chosen);
    this.used.set(key, (this.used.get(key) ?? 0) + 1);
    const alpha = this.cut(side, place, chosen);
    const patch = { x: place.x, y: place.y, ...chosen, alpha };
    this.paste(patch);
    return patch;
  }

  private candidate(side: Side, { y, ring }: Place, n: number): Candidate {
    const { cloth, cutting } = this;
    const { random, size, overlap } = cutting;
    const { inner } = cloth;
    // Where the first ring is compared with the image itself, the patch's surroundings must be known too.
    const margin = ring === 0 ? overlap : 0;
    const most = { x: inner.width - size, y: inner.height - size };
    const least_x = side === "right" ? margin : 0;
    const most_x = side === "left" ? most.x - margin : most.x;
    const from_x = random.int(least_x, Math.max(least_x, most_x));
    if (side === "left" || side === "right") {
      // Half of them from the very rows, since what crosses the border there goes on beside it.
      const reach = n % 2 === 0 ? 1 : Math.max(2, Math.round(inner.height * 0.1));
      return { from_x, from_y: clamp(y - inner.top + random.int(-reach, reach), 0, most.y) };
    }
    const depth = Math.min(most.y - margin, this.depth[side]);
    const inward = margin > 0 && side === "down" ? margin : 0;
    const from_y =
      side === "up" ? random.int(0, Math.max(0, depth)) : most.y - random.int(0, Math.max(0, depth));
    return { from_x, from_y: clamp(from_y, inward, most.y) };
  }

  private neighbourhoodOf({ from_x, from_y }: Candidate): number {
    const cell = Math.max(2, this.cutting.size >> 1);
    return Math.floor(from_y / cell) * 4096 + Math.floor(from_x / cell);
  }

  /** Mean square difference on what both know; more than `limit` is not looked at to the end. */
  private costOf(strips: readonly Strip[], place: Place, candidate: Candidate, limit: number): number {
    const { size } = this.cutting;
    const { inner, base } = this.cloth;
    const worn = 1 + 0.2 * (this.used.get(this.neighbourhoodOf(candidate)) ?? 0);
    let apart = 0;
    for (const v of [0, size >> 1, size - 1]) {
      for (const u of [0, size >> 1, size - 1]) {
        const there = this.at(inner.left + candidate.from_x + u, inner.top + candidate.from_y + v);
        const here = this.at(place.x + u, place.y + v);
        for (let c = 0; c < 3; c++) apart += (base.data[there + c]! - base.data[here + c]!) ** 2;
      }
    }
    const fixed = (apart / 9) * BASE_WEIGHT;
    if (fixed * worn >= limit) return limit;
    let sum = 0;
    let count = 0;
    for (const { left, top, width, height, weight } of strips) {
      for (let v = top; v < top + height; v += 2) {
        for (let u = left; u < left + width; u += 2) {
          const difference = this.difference(place, candidate, u, v);
          if (difference < 0) continue;
          sum += difference * weight;
          count += weight;
        }
      }
    }
    return ((count === 0 ? 0 : sum / count) + fixed + 4) * worn;
  }

  /** Of one pixel of the patch, also outside of it; -1 where the canvas has none. */
  private difference({ x, y }: Place, { from_x, from_y }: Candidate, u: number, v: number): number {
    const { detail, inner } = this.cloth;
    const to_x = x + u;
    const to_y = y + v;
    if (to_x < 0 || to_y < 0 || to_x >= detail.width || to_y >= detail.height) return -1;
    const to = (to_y * detail.width + to_x) * 3;
    const from = ((inner.top + from_y + v) * detail.width + inner.left + from_x + u) * 3;
    const { data } = detail;
    const red = data[to]! - data[from]!;
    const green = data[to + 1]! - data[from + 1]!;
    const blue = data[to + 2]! - data[from + 2]!;
    return red * red + green * green + blue * blue;
  }

  private at(x: number, y: number): number {
    const { width, height } = this.cloth.detail;
    return (clamp(y, 0, height - 1) * width + clamp(x, 0, width - 1)) * 3;
  }

  /** What of the patch shows: beyond the cut towards the image, and beyond the one towards the patch before. */
  private cut(side: Side, place: Place, candidate: Candidate): Float32Array {
    const { size, overlap } = this.cutting;
    const alpha = new Float32Array(size * size).fill(1);
    const isBeside = side === "left" || side === "right";
    const isFlipped = side === "left" || side === "up";
    this.cutAlong(place, candidate, alpha, {
      isVertical: isBeside,
      isFlipped,
      depth: overlap,
      isMirror: place.ring === 0,
    });
    if (place.shared > 0) {
      const depth = Math.min(place.shared, size - 1);
      this.cutAlong(place, candidate, alpha, {
        isVertical: !isBeside,
        isFlipped: false,
        depth,
        isMirror: false,
      });
    }
    return alpha;
  }

  private cutAlong(place: Place, candidate: Candidate, alpha: Float32Array, edge: Edge): void {
    const { size } = this.cutting;
    const { isVertical, isFlipped, depth } = edge;
    const pixel = (across: number, along: number) => {
      const a = isFlipped ? size - 1 - across : across;
      return isVertical ? { u: a, v: along } : { u: along, v: a };
    };
    const errors = new Float32Array(size * depth);
    for (let along = 0; along < size; along++) {
      for (let across = 0; across < depth; across++) {
        const { u, v } = pixel(across, along);
        const error = Math.max(0, this.difference(place, candidate, u, v));
        errors[along * depth + across] = error + (edge.isMirror ? MIRROR_COST * across * across : 0);
      }
    }
    const path = leastPath(errors, size, depth);
    const feather = Math.max(1, depth / 5);
    for (let along = 0; along < size; along++) {
      for (let across = 0; across < depth; across++) {
        // The outermost pixels show whole: there is nothing below them.
        const shown = across >= depth - 1 ? 1 : clamp((across - path[along]!) / feather + 0.5, 0, 1);
        const { u, v } = pixel(across, along);
        alpha[v * size + u]! *= shown;
      }
    }
  }

  private paste({ x, y, from_x, from_y, alpha }: Patch): void {
    const { detail, inner } = this.cloth;
    const { size } = this.cutting;
    const { data, width, height } = detail;
    for (let v = Math.max(0, -y); v < size && y + v < height; v++) {
      for (let u = Math.max(0, -x); u < size && x + u < width; u++) {
        const share = alpha[v * size + u]!;
        const to = ((y + v) * width + x + u) * 3;
        const from = ((inner.top + from_y + v) * width + inner.left + from_x + u) * 3;
        for (let c = 0; c < 3; c++) data[to + c]! += (data[from + c]! - data[to + c]!) * share;
      }
    }
  }
}

interface Edge {
  /** Whether the cut runs from top to bottom. */
  isVertical: boolean;
  /** Whether what lies already is at the patch's right or lower side. */
  isFlipped: boolean;
  depth: number;
  /** Whether what lies there is but the image mirrored. */
  isMirror: boolean;
}
