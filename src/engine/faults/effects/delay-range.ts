import Type from "typebox";
import { parseDuration } from "../../contract/duration.ts";
import { typed } from "../../contract/schema.ts";

/** Longer than any client waits; a timer of the machine could not hold much more. */
export const MAX_DELAY_MS = 3_600_000;

export const DurationText = typed(
  "Duration",
  Type.Unsafe<string | number>({
    type: ["string", "number"],
    title: "a duration such as 200ms",
  }),
);

/** What is wrong with a duration that a fault is to wait, or undefined when nothing is. */
export function delayProblem(value: unknown): { message: string; hint?: string } | undefined {
  const duration = parseDuration(value);
  if (duration === undefined) return durationProblem(value);
  return duration > MAX_DELAY_MS ? { message: "may be at most 1h" } : undefined;
}

/** What is wrong with a duration of any length. */
export function durationProblem(value: unknown): { message: string; hint?: string } | undefined {
  if (parseDuration(value) !== undefined) return undefined;
  const hint = typeof value === "string" ? nearestDuration(value) : undefined;
  const message = `must be a duration such as 200ms, 5s, 10m, 6h, PT5M or milliseconds, not ${JSON.stringify(value)}`;
  return hint === undefined ? { message } : { message, hint };
}

/** `5 minuets` was meant to be `5m`: the number stands, and its unit begins like one that exists. */
function nearestDuration(text: string): string | undefined {
  const parts = /^\s*(\d{1,9}(?:\.\d{1,6})?)\s*([a-z]{1,20})\s*$/i.exec(text);
  if (parts === null) return undefined;
  const unit = parts[2]!.toLowerCase();
  const short = /^m(s|il)/.test(unit) ? "ms" : "smhd".includes(unit[0]!) ? unit[0]! : undefined;
  const hint = short === undefined ? undefined : `${parts[1]}${short}`;
  return hint !== undefined && parseDuration(hint) !== undefined ? hint : undefined;
}
