import { UsageError } from "./failure.ts";

/** How much faster than the wall clock: `x60`, `60`. @throws UsageError */
export function rateOf(text: string): number {
  const rate = Number(/^x?(\d+(?:\.\d+)?)$/.exec(text)?.[1] ?? Number.NaN);
  if (!(rate > 0)) throw new UsageError(`"${text}" is no rate; write x1, x60 or x0.5`);
  return rate;
}
