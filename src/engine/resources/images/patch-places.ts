import type { Plane, Rect } from "./base-colours.ts";

export type Side = "left" | "right" | "up" | "down";

export interface Cloth {
  /** The canvas without its base colours; only what lies within `inner` is known. */
  detail: Plane;
  base: Plane;
  inner: Rect;
}

/** Where a patch is laid. */
export interface Place {
  x: number;
  y: number;
  /** 0 beside the image, 1 beyond that. */
  ring: number;
  /** Pixels that it shares with the patch before it in its ring. */
  shared: number;
}

/** Outward from the image, ring by ring. */
export function* placesOf(
  { detail, inner }: Cloth,
  side: Side,
  { size, step }: { size: number; step: number },
) {
  const isBeside = side === "left" || side === "right";
  const along = isBeside ? { from: inner.top, length: inner.height } : { from: 0, length: detail.width };
  const room = {
    left: inner.left,
    right: detail.width - inner.left - inner.width,
    up: inner.top,
    down: detail.height - inner.top - inner.height,
  }[side];
  for (let ring = 0; ring * step < room; ring++) {
    const out = {
      left: inner.left - ring * step - size,
      right: inner.left + inner.width + ring * step,
      up: inner.top - ring * step - size,
      down: inner.top + inner.height + ring * step,
    }[side];
    let end = along.from;
    for (let n = 0; end < along.from + along.length; n++) {
      const at = Math.min(along.from + n * step, along.from + along.length - size);
      const shared = n === 0 ? 0 : end - at;
      end = at + size;
      const place: Place = isBeside ? { x: out, y: at, ring, shared } : { x: at, y: out, ring, shared };
      yield place;
    }
  }
}

/** The first patches need something to be cut against outside of the image, which stays as it is. */
export function mirrorBand({ data, width, height }: Plane, inner: Rect, side: Side, band: number): void {
  const right = inner.left + inner.width;
  const bottom = inner.top + inner.height;
  const copy = (x: number, y: number, from_x: number, from_y: number) => {
    if (x < 0 || y < 0 || x >= width || y >= height) return;
    const from = (from_y * width + from_x) * 3;
    data.copyWithin((y * width + x) * 3, from, from + 3);
  };
  for (let n = 0; n < band; n++) {
    if (side === "left" || side === "right") {
      for (let y = inner.top; y < bottom; y++) {
        if (side === "left") copy(inner.left - 1 - n, y, inner.left + n, y);
        else copy(right + n, y, right - 1 - n, y);
      }
    } else {
      for (let x = 0; x < width; x++) {
        if (side === "up") copy(x, inner.top - 1 - n, x, inner.top + n);
        else copy(x, bottom + n, x, bottom - 1 - n);
      }
    }
  }
}

/** Part of a patch, in its own pixels, that is compared with what lies there. */
export type Strip = Rect & { weight: number };

/** Where a patch meets what lies already; the image itself, beyond the patch's edge, counts most. */
export function overlapsOf(
  side: Side,
  { ring, shared }: Place,
  { size, overlap }: { size: number; overlap: number },
) {
  const strips: Strip[] = [];
  const inward = (left: number, top: number, width: number, height: number, weight: number) =>
    strips.push({ left, top, width, height, weight });
  // The mirrored band is there to be cut against, not to be matched.
  const weight = ring === 0 ? 0.05 : 1;
  if (side === "left") {
    inward(size - overlap, 0, overlap, size, weight);
    if (ring === 0) inward(size, 0, overlap, size, 2);
  } else if (side === "right") {
    inward(0, 0, overlap, size, weight);
    if (ring === 0) inward(-overlap, 0, overlap, size, 2);
  } else if (side === "up") {
    inward(0, size - overlap, size, overlap, weight);
    if (ring === 0) inward(0, size, size, overlap, 2);
  } else {
    inward(0, 0, size, overlap, weight);
    if (ring === 0) inward(0, -overlap, size, overlap, 2);
  }
  if (shared > 0) {
    if (side === "left" || side === "right") inward(0, 0, size, Math.min(shared, size), 1);
    else inward(0, 0, Math.min(shared, size), size, 1);
  }
  return strips;
}
