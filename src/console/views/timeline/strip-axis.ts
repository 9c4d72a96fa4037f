/** A pause is cut if it takes at least this share of the axis and is MIN_RATIO times as long as the average of the others. */
const MAX_SHARE = 0.25;
const MIN_RATIO = 8;
const MAX_CUTS = 8;
/** Share of the axis that a cut pause takes. */
const CUT_SHARE = 0.04;
/** Greatest width of a character of a tick label, and the free space after the label, in pixels. */
export const CHARACTER_PX = 6.8;
const LABEL_GAP_PX = 14;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((step) => step * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((step) => step * MINUTE),
  ...[1, 2, 3, 6, 12].map((step) => step * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365, 3650].map((step) => step * DAY),
];

/** Entries that follow each other without a cut. */
interface Stretch {
  /** Positions of the first and last entry. */
  begin: number;
  end: number;
  /** Their times in milliseconds since 1970; equal if the clock was frozen. */
  from: number;
  to: number;
}

interface Tick {
  position: number;
  word: string;
}

/** A linear time axis of entries, with long pauses cut out. */
interface StripAxis {
  /** Position of each entry; the unit is the average distance of two entries. */
  positions: readonly number[];
  cuts: readonly number[];
  /** Ticks for an axis of this width in pixels. */
  makeTicks: (pixels: number) => Tick[];
}

/**
 * Places entries by the sandbox clock. If the clock is mostly frozen, entries of one instant are placed side by side,
 * and each instant has one tick.
 */
export function createStripAxis(times: readonly number[]): StripAxis {
  const isCut = findCuts(times);
  const bounds = [0, ...isCut.flatMap((cut, index) => (cut ? [index] : [])), times.length];
  const groups = bounds.slice(1).map((end, at) => [bounds[at]!, end - 1] as const);
  // A frozen clock does not count.
  const moving = groups.filter(([first, last]) => times[last]! > times[first]!);
  const movingCount = moving.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const movingMs = moving.reduce((sum, [first, last]) => sum + times[last]! - times[first]!, 0);
  const unitsPerMs = movingCount / movingMs;
  const cutWidth = groups.length > MAX_CUTS + 1 ? 1 : Math.max(1, times.length * CUT_SHARE);
  const positions: number[] = [];
  const cuts: number[] = [];
  const stretches: Stretch[] = [];
  let begin = 0;
  for (const [first, last] of times.length === 0 ? [] : groups) {
    const [from, to] = [times[first]!, times[last]!];
    for (let at = first; at <= last; at += 1)
      positions.push(begin + (to > from ? (times[at]! - from) * unitsPerMs : at - first));
    const end = positions.at(-1)!;
    stretches.push({ begin, end, from, to });
    if (last < times.length - 1) cuts.push(end + cutWidth / 2);
    begin = end + cutWidth;
  }
  return { positions, cuts, makeTicks: (pixels) => placeTicks(stretches, unitsPerMs, pixels) };
}

function findCuts(times: readonly number[]): boolean[] {
  const gaps = times.map((time, at) => (at === 0 ? 0 : time - times[at - 1]!));
  const zeroGapCount = gaps.filter((gap, at) => at > 0 && gap === 0).length;
  const isMostlyFrozen = zeroGapCount > (gaps.length - 1) / 2;
  if (isMostlyFrozen) return gaps.map((gap) => gap !== 0);
  // The clock goes back after a rewind.
  const isCut = gaps.map((gap) => gap < 0);
  const forward = gaps.map((gap, at) => ({ gap, at })).filter(({ gap }) => gap > 0);
  forward.sort((a, b) => b.gap - a.gap);
  let totalGap = forward.reduce((total, { gap }) => total + gap, 0);
  for (const [cutCount, { gap, at }] of forward.slice(0, MAX_CUTS).entries()) {
    // Others: neither this gap nor a cut one, nor that of the first entry, which has none.
    const averageOfOthers = (totalGap - gap) / Math.max(1, gaps.length - 2 - cutCount);
    if (gap < totalGap * MAX_SHARE || gap < averageOfOthers * MIN_RATIO) break;
    isCut[at] = true;
    totalGap -= gap;
  }
  return isCut;
}

/**
 * Ticks at round times; a stretch without one has a tick at its start. Where labels would overlap, those of starts are
 * kept, then those further left. A label is not repeated.
 */
function placeTicks(stretches: readonly Stretch[], unitsPerMs: number, pixels: number): Tick[] {
  const width = Math.max(1, stretches.at(-1)?.end ?? 1);
  const pixelsPerUnit = pixels / width;
  const step =
    STEPS.find((ms) => ms * unitsPerMs * pixelsPerUnit >= getTickWidth(formatTick(0, ms))) ?? STEPS.at(-1)!;
  const ticks: (Tick & { isStart: boolean })[] = [];
  for (const { begin, from, to } of stretches) {
    const firstTime = Math.ceil(from / step) * step;
    if (to === from || firstTime > to)
      ticks.push({ position: begin, word: formatTick(from, SECOND), isStart: true });
    else
      for (let time = firstTime; time <= to; time += step)
        ticks.push({
          position: begin + (time - from) * unitsPerMs,
          word: formatTick(time, step),
          isStart: false,
        });
  }
  let freeFrom = Number.NEGATIVE_INFINITY;
  let lastWord = "";
  return ticks.flatMap(({ position, word, isStart }, index) => {
    const left = position * pixelsPerUnit;
    const right = left + getTickWidth(word);
    const next = ticks[index + 1];
    const givesWay = !isStart && next?.isStart && right > next.position * pixelsPerUnit;
    // The last label needs no free space after it, and may reach into the margin.
    if (word !== lastWord && left >= freeFrom && right <= pixels + 2 * LABEL_GAP_PX && !givesWay) {
      freeFrom = right;
      lastWord = word;
      return { position, word };
    }
    return isStart ? [] : { position, word: "" };
  });
}

const getTickWidth = (word: string) => word.length * CHARACTER_PX + LABEL_GAP_PX;

function formatTick(time: number, step: number): string {
  const iso = new Date(time).toISOString();
  if (step >= DAY) return iso.slice(0, 10);
  if (step >= MINUTE) return iso.slice(11, 16);
  if (step >= SECOND) return iso.slice(11, 19);
  return iso.slice(11, step >= 100 ? 21 : step >= 10 ? 22 : 23);
}

/** The size of a mark, in pixels. */
export const MARK = 9;
/** Top and bottom of the marks; the times are below. In pixels. */
export const TOP = MARK;
export const BOTTOM = 82;
/** Powers of ten of a logarithmic scale: 0 ms is just above the bottom, 10 s and more at the top. */
const LOWEST = -0.35;
const HIGHEST = 4;

export function toY(durationMs: number): number {
  const height = (Math.log10(1 + durationMs) - LOWEST) / (HIGHEST - LOWEST);
  return BOTTOM - Math.min(1, height) * (BOTTOM - TOP);
}
