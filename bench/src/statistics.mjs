export function computeMedian(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Returns the median of the ratios of each turn, so that a slow minute of the machine affects both sides. */
export function computeMedianRatio(values, baselines) {
  return computeMedian(values.map((value, turn) => value / baselines[turn]));
}

export const MB = 1024 * 1024;
