import { DAY_MS } from "../state/clock.ts";
import type { WorldReader } from "../state/transaction.ts";
import { invalidInput } from "./errors.ts";

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:([Zz])|([+-])(\d{2})(?::?(\d{2}))?)?$/;
// Years outside 1 to 9999 are refused, also if only the offset moves an instant out of them (G08).
const EARLIEST = toMidnight(1, 1, 1);
const LATEST = toMidnight(9999, 12, 31) + DAY_MS - 1;

/**
 * Epoch milliseconds of a strict ISO 8601 date or date-time; undefined for anything else. No zone means UTC; impossible
 * days (2026-02-30), hour 24 and leap seconds are refused; fractions are cut to milliseconds.
 */
export function parseInstant(text: unknown): number | undefined {
  if (typeof text !== "string" || text.length > 40) return undefined;
  const date = DATE.exec(text);
  if (date !== null) return toCalendarDay(date);
  const parts = DATE_TIME.exec(text);
  if (parts === null) return undefined;
  const day = toCalendarDay(parts);
  const time = parseTimeOfDay(parts);
  const offset = parseOffset(parts);
  if (day === undefined || time === undefined || offset === undefined) return undefined;
  const instant = day + time - offset;
  return instant < EARLIEST || instant > LATEST ? undefined : instant;
}

/**
 * The inclusive span of milliseconds that a filter value names (G28): a date without time is the whole UTC day,
 * a date-time is that one instant. Undefined for what `parseInstant` refuses.
 */
export function parseDateOrInstant(text: unknown): { from: number; to: number } | undefined {
  const from = parseInstant(text);
  if (from === undefined) return undefined;
  return DATE.test(text as string) ? { from, to: from + DAY_MS - 1 } : { from, to: from };
}

export const TIME_FORMS = "a time such as 2026-03-15T10:00:00Z or 2026-03-15T10:00:00+01:00";

/** The forms that `parseInstant` reads, for messages about an invalid text. */
export function describeInstantForms(text: unknown): string {
  const forms = `a date such as 2026-03-15, or ${TIME_FORMS}`;
  return /\d \d\d(:?\d\d)?$/.test(String(text)) ? `${forms}; in a URL, its plus is %2B` : forms;
}

function toCalendarDay(parts: RegExpExecArray): number | undefined {
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > 31) return undefined;
  const instant = toMidnight(year, month, day);
  // A day that the month does not have rolls over into the next one.
  return new Date(instant).getUTCDate() === day ? instant : undefined;
}

// Date.UTC reads the years 0 to 99 as 1900 to 1999; setUTCFullYear does not.
function toMidnight(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, day);
}

function parseTimeOfDay(parts: RegExpExecArray): number | undefined {
  const [hour, minute, second] = [Number(parts[4]), Number(parts[5]), Number(parts[6] ?? 0)];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const milliseconds = Number((parts[7] ?? "").slice(0, 3).padEnd(3, "0"));
  return ((hour * 60 + minute) * 60 + second) * 1_000 + milliseconds;
}

function parseOffset(parts: RegExpExecArray): number | undefined {
  if (parts[9] === undefined) return 0;
  const [hours, minutes] = [Number(parts[10]), Number(parts[11] ?? 0)];
  if (hours > 23 || minutes > 59) return undefined;
  return (parts[9] === "-" ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

export interface DateSpan {
  /** Inclusive, in milliseconds relative to the sandbox's origin. */
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
  [from, to] = ["start_date", "end_date"] as [N, N],
): DateSpan {
  const start = query[from] === undefined ? undefined : parseDateOrInstant(query[from]);
  const end = query[to] === undefined ? undefined : parseDateOrInstant(query[to]);
  if (start && end && start.from > end.to) throw invalidInput(from, query[from], `${from} lies after ${to}`);
  return {
    from: start ? world.toInstant(start.from) : Number.NEGATIVE_INFINITY,
    to: end ? world.toInstant(end.to) : Number.POSITIVE_INFINITY,
  };
}
