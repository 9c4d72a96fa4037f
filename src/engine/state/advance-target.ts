import { LAST_INSTANT } from "./clock.ts";

/** Where an advance goes, in milliseconds since 1970. */
export type AdvanceTarget = number | "next" | ((now: number) => number);

/**
 * The instant at which an advance that begins now ends; one to the next timer where none is left ends at once.
 * @throws RangeError when it lies before now, or after the year 9999
 */
export function endOfAdvance(target: AdvanceTarget, now: number, nextDue: number): number {
  const end = instantOf(target, now, nextDue);
  if (end < now) throw new RangeError("the clock only moves forward");
  if (end > LAST_INSTANT) throw new RangeError("the clock ends with the year 9999");
  return end;
}

function instantOf(target: AdvanceTarget, now: number, nextDue: number): number {
  if (typeof target !== "string") return typeof target === "function" ? target(now) : target;
  return nextDue === Number.POSITIVE_INFINITY ? now : Math.max(now, nextDue);
}
