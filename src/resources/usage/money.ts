/**
 * Amounts are kept in whole millionths of a franc, the precision of a single answer's cost (G20), so
 * that a month of tiny amounts adds up without drifting.
 */
const MICRO = 1_000_000;

export function toMicro(amount: number): number {
  return Math.round(amount * MICRO);
}

export function fromMicro(micro: number): number {
  return micro / MICRO;
}

/** G33: two decimals shown. */
export function shown(amount: number): number {
  return Math.round(amount * 100) / 100;
}
