export const DAY_MS = 86_400_000;

/**
 * The day of an instant, in days since 1970. An instant in milliseconds is too large for a small integer of V8, so
 * that a field which holds one is an object of its own; day and time of the day are none. What a thousand entries
 * hold is worth it.
 */
export function dayOf(instant: number): number {
  return Math.floor(instant / DAY_MS);
}
