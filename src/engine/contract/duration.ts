const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** The largest time value of a JavaScript `Date`. */
export const MAX_DURATION_MS = 8_640_000_000_000_000;

const MAX_TEXT_LENGTH = 64;
const DIGITS = /^\d+$/;
const SHORT =
  /^(?:(\d+(?:\.\d+)?)d)?(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?$/;
const SHORT_UNITS = ["d", "h", "m", "s", "ms"];
// Years and months are left out on purpose: they have no fixed length in milliseconds.
const ISO =
  /^P(?:(\d+)W|(?:(\d+(?:[.,]\d+)?)D)?(?:T(?:(\d+(?:[.,]\d+)?)H)?(?:(\d+(?:[.,]\d+)?)M)?(?:(\d+(?:[.,]\d+)?)S)?)?)$/;
const ISO_UNITS = ["w", "d", "h", "m", "s"];

/**
 * Milliseconds of a duration as interfaces.md 4 and 6 write it: `90s`, `5m`, `6h`, `2d`, `1500ms`, `1h30m`,
 * ISO 8601 (`PT5M`, `P1DT2H`), or milliseconds as a number or digits. Undefined for anything else:
 * negative, fractions of a millisecond, or longer than `MAX_DURATION_MS`.
 */
export function parseDuration(value: unknown): number | undefined {
  if (typeof value === "number") return toValidDuration(value);
  if (typeof value !== "string" || value.length > MAX_TEXT_LENGTH) return undefined;
  const text = value.trim();
  if (DIGITS.test(text)) return toValidDuration(Number(text));
  if (text.startsWith("P")) {
    const parts = ISO.exec(text);
    if (parts === null || text.endsWith("T")) return undefined;
    return sumParts(parts.slice(1), ISO_UNITS);
  }
  const parts = SHORT.exec(text);
  return parts === null ? undefined : sumParts(parts.slice(1), SHORT_UNITS);
}

function sumParts(parts: readonly (string | undefined)[], units: readonly string[]): number | undefined {
  let total = 0;
  let partCount = 0;
  for (const [index, part] of parts.entries()) {
    if (part === undefined) continue;
    partCount++;
    const milliseconds = toExactMilliseconds(part, UNIT_MS[units[index]!]!);
    if (milliseconds === undefined) return undefined;
    total += milliseconds;
  }
  return partCount === 0 ? undefined : toValidDuration(total);
}

// 1.001 * 1000 is 1000.9999999999999 in floating point, so the fraction is counted in whole numbers. A fraction of more than
// eight digits is refused, since it would be inexact.
function toExactMilliseconds(text: string, unit: number): number | undefined {
  const [whole = "", fraction = ""] = text.replace(",", ".").split(".");
  const trimmed = fraction.replace(/0+$/, "");
  if (trimmed.length > 8) return undefined;
  const part = (Number(trimmed || "0") * unit) / 10 ** trimmed.length;
  const total = Number(whole) * unit + part;
  return Number.isSafeInteger(total) ? total : undefined;
}

function toValidDuration(milliseconds: number): number | undefined {
  if (!Number.isSafeInteger(milliseconds) || milliseconds < 0 || milliseconds > MAX_DURATION_MS)
    return undefined;
  // Not -0.
  return milliseconds === 0 ? 0 : milliseconds;
}

/** A setting in seconds as whole milliseconds. */
export function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000);
}
