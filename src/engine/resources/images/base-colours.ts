/** Three channels of floats. */
export interface Plane {
  data: Float32Array;
  width: number;
  height: number;
}

export interface Rect {
  left: number;
  top: number;
  width: number;
  height: number;
}

export function plane(width: number, height: number): Plane {
  return { data: new Float32Array(width * height * 3), width, height };
}

/**
 * The colours of a whole canvas without its details: within `inner` those of the image, softened; outside them
 * those of the nearest border, ever softer with the distance, so that sky stays above and ground below.
 */
export function baseColours(image: Plane, canvas: { width: number; height: number }, inner: Rect): Plane {
  const shorter = Math.min(image.width, image.height);
  const soft = softened(image, Math.max(1, Math.round(shorter / 7)));
  const near = plane(canvas.width, canvas.height);
  for (let y = 0; y < canvas.height; y++) {
    const row = clamp(y - inner.top, 0, image.height - 1) * image.width;
    for (let x = 0; x < canvas.width; x++) {
      const from = (row + clamp(x - inner.left, 0, image.width - 1)) * 3;
      near.data.set(soft.data.subarray(from, from + 3), (y * canvas.width + x) * 3);
    }
  }
  const reach = Math.max(2, Math.round(shorter / 3));
  const far = softened(near, reach);
  for (let y = 0; y < canvas.height; y++) {
    const dy = Math.max(inner.top - y, y - inner.top - inner.height + 1, 0);
    for (let x = 0; x < canvas.width; x++) {
      const dx = Math.max(inner.left - x, x - inner.left - inner.width + 1, 0);
      if (dx === 0 && dy === 0) continue;
      // Beside the image its rows go on; above and below it the columns run into each other.
      const share = Math.min(1, (dx * 0.15 + dy) / (reach * 2));
      const at = (y * canvas.width + x) * 3;
      for (let c = at; c < at + 3; c++) near.data[c]! += (far.data[c]! - near.data[c]!) * share;
    }
  }
  return near;
}

/** Three box blurs are as good as a Gaussian, and cost the same for every radius. */
function softened(source: Plane, radius: number): Plane {
  let from = source;
  for (let pass = 0; pass < 3; pass++) from = transposedBlur(transposedBlur(from, radius), radius);
  return from;
}

/** Blurs each row and turns rows into columns: twice is both directions. */
function transposedBlur({ data, width, height }: Plane, radius: number): Plane {
  const out = plane(height, width);
  const span = radius * 2 + 1;
  for (let y = 0; y < height; y++) {
    for (let c = 0; c < 3; c++) {
      const at = (x: number) => data[(y * width + clamp(x, 0, width - 1)) * 3 + c]!;
      let sum = 0;
      for (let x = -radius; x <= radius; x++) sum += at(x);
      for (let x = 0; x < width; x++) {
        out.data[(x * height + y) * 3 + c] = sum / span;
        sum += at(x + radius + 1) - at(x - radius);
      }
    }
  }
  return out;
}

export function clamp(value: number, least: number, most: number): number {
  return value < least ? least : value > most ? most : value;
}
