import { DAY_MS, dayOf } from "./day.ts";

const PLACES = 256;
const instants = new Float64Array(PLACES).fill(Number.NaN);
const texts = new Array<string>(PLACES).fill("");

/** ECMAScript knows no later one; it is the first of its day. */
const LAST_INSTANT = 8.64e15;
const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"));
const THREE_DIGITS = Array.from({ length: 1000 }, (_, number) => String(number).padStart(3, "0"));
/** The day asked for last, in days since 1970, and its text with the T. */
let day = Number.NaN;
let dayText = "";

/**
 * Milliseconds since 1970 as ISO 8601. The same records are shown again and again, so the latest text of each place
 * is kept; and those of one list are mostly of one day, whose date costs half a microsecond to find.
 * @throws RangeError where there is no such instant
 */
export function isoOf(instant: number): string {
  const place = instant & (PLACES - 1);
  if (instants[place] === instant) return texts[place]!;
  const text = textOf(instant);
  instants[place] = instant;
  texts[place] = text;
  return text;
}

function textOf(instant: number): string {
  const itsDay = dayOf(instant);
  if (itsDay !== day || instant > LAST_INSTANT || !Number.isInteger(instant)) {
    const text = new Date(instant).toISOString();
    day = itsDay;
    dayText = text.slice(0, text.indexOf("T") + 1);
    return text;
  }
  const inDay = instant - itsDay * DAY_MS;
  const seconds = Math.floor(inDay / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const time = `${TWO_DIGITS[hours]}:${TWO_DIGITS[minutes % 60]}:${TWO_DIGITS[seconds % 60]}`;
  return `${dayText}${time}.${THREE_DIGITS[inDay % 1000]}Z`;
}
