/** For each of `length` lines the place across at which the errors along the way sum up to the least. */
export function leastPath(errors: Float32Array, length: number, depth: number): Int32Array {
  const sums = Float32Array.from(errors);
  for (let along = 1; along < length; along++) {
    for (let across = 0; across < depth; across++) {
      const above = (along - 1) * depth + across;
      let least = sums[above]!;
      if (across > 0) least = Math.min(least, sums[above - 1]!);
      if (across < depth - 1) least = Math.min(least, sums[above + 1]!);
      sums[along * depth + across]! += least;
    }
  }
  const path = new Int32Array(length);
  let across = 0;
  const last = (length - 1) * depth;
  for (let n = 1; n < depth; n++) if (sums[last + n]! < sums[last + across]!) across = n;
  for (let along = length - 1; along >= 0; along--) {
    path[along] = across;
    if (along === 0) break;
    const above = (along - 1) * depth;
    let next = across;
    for (const n of [across - 1, across + 1]) {
      if (n >= 0 && n < depth && sums[above + n]! < sums[above + next]!) next = n;
    }
    across = next;
  }
  return path;
}
