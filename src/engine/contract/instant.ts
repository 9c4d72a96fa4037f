import { DAY_MS, FIRST_INSTANT, LAST_INSTANT } from "../state/clock.ts";
import type { WorldReader } from "../state/transaction.ts";
import { invalidInput } from "./errors.ts";

const DATE_LENGTH = "2026-03-15".length;
/** A date, then perhaps a time: hours and minutes, seconds, their fraction, and the sign, hours and minutes of an offset. */
const DATE_TIME =
  /^((?!0000)\d{4}-\d{2}-\d{2})(?:[Tt](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:[Zz]|([+-])(\d{2})(?::?(\d{2}))?)?)?$/;

/**
 * Epoch milliseconds of a strict ISO 8601 date or date-time; undefined for anything else. No zone means UTC; impossible
 * days (2026-02-30), hour 24 and leap seconds are refused; fractions are cut to milliseconds.
 */
export function parseInstant(text: unknown): number | undefined {
  if (typeof text !== "string" || text.length > 40) return undefined;
  const parts = DATE_TIME.exec(text);
  if (parts === null) return undefined;
  const [, day, time = "00:00", second = "00", fraction = "", sign, hours = "00", minutes = "00"] = parts;
  const utc = `${day}T${time}:${second}`;
  const instant = Date.parse(`${utc}.${fraction.slice(0, 3).padEnd(3, "0")}Z`);
  // JavaScript reads February 30 as March 2, and hour 24 as the next day.
  const isPossible = !Number.isNaN(instant) && new Date(instant).toISOString().startsWith(utc);
  if (!isPossible || Number(hours) > 23 || Number(minutes) > 59) return undefined;
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
  const shifted = sign === "-" ? instant + offset : instant - offset;
  // Years outside 1 to 9999 are refused, also if only the offset moves an instant out of them (G08).
  return shifted < FIRST_INSTANT || shifted > LAST_INSTANT ? undefined : shifted;
}

/**
 * The inclusive span of milliseconds that a filter value names (G28): a date without time is the whole UTC day,
 * a date-time is that one instant. Undefined for what `parseInstant` refuses.
 */
export function parseDateOrInstant(text: unknown): { from: number; to: number } | undefined {
  const from = parseInstant(text);
  if (from === undefined) return undefined;
  return (text as string).length === DATE_LENGTH ? { from, to: from + DAY_MS - 1 } : { from, to: from };
}

/**
 * An instant that `parseInstant` reads, rounded up: a client that asks for entries from a microsecond after the last
 * one must not get that one again.
 */
export function roundUpToMillisecond(text: string): number {
  const instant = parseInstant(text)!;
  return /[.,]\d{3}\d*[1-9]/.test(text) ? instant + 1 : instant;
}

/** The forms that `parseInstant` reads, for messages about an invalid text. */
export function describeInstantForms(text: unknown): string {
  return `${DATE_FORM}, or ${describeTimeForms(text)}`;
}

export const DATE_FORM = "a date such as 2026-03-15";

export function describeTimeForms(text: unknown): string {
  const forms = "a time such as 2026-03-15T10:00:00Z or 2026-03-15T10:00:00+01:00";
  return /T.*\d \d\d(:?\d\d)?$/.test(String(text)) ? `${forms}; in a URL, its plus is %2B` : forms;
}

/** Both ends are included, in milliseconds relative to the sandbox's origin. */
export interface DateSpan {
  from: number;
  to: number;
}

/**
 * The span that `start_date` and `end_date` ask for, open if one is missing (G28).
 * @throws ApiError INVALID_INPUT for `start_date` when it lies after the end
 */
export function parseDateSpan<N extends string = "start_date" | "end_date">(
  query: Partial<Record<NoInfer<N>, string>>,
  world: WorldReader,
  [startField, endField] = ["start_date", "end_date"] as [N, N],
): DateSpan {
  const { [startField]: startText, [endField]: endText } = query;
  const start = parseDateOrInstant(startText);
  const end = parseDateOrInstant(endText);
  if (start && end && start.from > end.to)
    throw invalidInput(startField, startText, `${startField} lies after ${endField}`);
  return {
    from: start ? world.toInstant(roundUpToMillisecond(startText!)) : Number.NEGATIVE_INFINITY,
    to: end ? world.toInstant(end.to) : Number.POSITIVE_INFINITY,
  };
}
