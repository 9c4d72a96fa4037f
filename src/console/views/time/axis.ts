import type { Pending } from "../../../../types/control-api.ts";

interface Tick {
  /** 0 to 1, from now to the end of the axis. */
  position: number;
  word: string;
}

/** Timers that are due at about the same time. */
export interface Cluster {
  position: number;
  items: Pending[];
}

const ROUND_DURATIONS: readonly [word: string, ms: number][] = [
  ["1 s", 1000],
  ["10 s", 10_000],
  ["1 min", 60_000],
  ["5 min", 300_000],
  ["15 min", 900_000],
  ["1 h", 3_600_000],
  ["6 h", 21_600_000],
  ["1 d", 86_400_000],
  ["7 d", 604_800_000],
  ["30 d", 2_592_000_000],
  ["1 y", 31_536_000_000],
  ["10 y", 315_360_000_000],
];

/** Width of a mark in pixels, the smallest that is easy to hit; timers that are closer than this share a mark. */
const MARK_PX = 24;
/** Width of a tick's label in pixels, with a gap. */
const TICK_PX = 48;

/**
 * A logarithmic axis from `now` to the first round duration after the last timer: a retry is due in a minute, an expiry
 * in a month.
 * @param pending earliest first
 * @param width in pixels
 */
export function buildAxis(
  pending: readonly Pending[],
  now: number,
  width: number,
): { ticks: Tick[]; clusters: Cluster[] } {
  const delays = pending.map(({ due_at }) => Math.max(0, Date.parse(due_at) - now));
  const last = Math.max(60_000, ...delays.slice(-1));
  const end = ROUND_DURATIONS.find(([, ms]) => ms >= last)?.[1] ?? last;
  const toPosition = (delay: number) => Math.min(1, Math.log1p(delay / 1000) / Math.log1p(end / 1000));
  const ticks: Tick[] = [];
  for (const [word, ms] of ROUND_DURATIONS) {
    const position = toPosition(ms);
    const overlaps = (other: number) => (position - other) * width < TICK_PX;
    if (ms === end && ticks.length > 0 && overlaps(ticks.at(-1)!.position)) ticks.pop();
    if (ms === end || (ms < end && !overlaps(ticks.at(-1)?.position ?? 0))) ticks.push({ position, word });
  }
  const clusters: Cluster[] = [];
  for (const [index, item] of pending.entries()) {
    const position = toPosition(delays[index]!);
    const cluster = clusters.at(-1);
    if (cluster !== undefined && (position - cluster.position) * width < MARK_PX) cluster.items.push(item);
    else clusters.push({ position, items: [item] });
  }
  return { ticks, clusters };
}
