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

/** G39: in the details of an error an amount below a hundredth is shown with all its six decimals. */
export function shownInDetails(amount: number): number {
  return amount < 0.01 ? Math.round(amount * MICRO) / MICRO : shown(amount);
}
