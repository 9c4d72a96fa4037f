import type { Pending } from "../../api/types.ts";

export interface Tick {
  /** 0 to 1, from now to the end of the axis. */
  at: number;
  word: string;
}

/** What is due about the same time. */
export interface Heap {
  at: number;
  items: Pending[];
}

const UNITS: readonly [string, number][] = [
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

/** Marks that are nearer to each other than this share one. */
const NEAR = 0.02;
/** Words of ticks need this much room. */
const ROOM = 0.07;

/**
 * The time from `now` on, logarithmic, since a retry in a minute and an expiry in a month stand on one axis; it ends
 * at the first round duration behind the last thing due.
 */
export function axisOf(pending: readonly Pending[], now: number): { ticks: Tick[]; heaps: Heap[] } {
  const aheads = pending.map(({ due_at }) => Math.max(0, Date.parse(due_at) - now));
  const last = Math.max(60_000, ...aheads.slice(-1));
  const end = UNITS.find(([, ms]) => ms >= last)?.[1] ?? last;
  const place = (ahead: number) => Math.min(1, Math.log1p(ahead / 1000) / Math.log1p(end / 1000));
  const ticks: Tick[] = [];
  for (const [word, ms] of UNITS) {
    const at = place(ms);
    if (ms <= end && at - (ticks.at(-1)?.at ?? 0) >= ROOM) ticks.push({ at, word });
  }
  const heaps: Heap[] = [];
  for (const [index, item] of pending.entries()) {
    const at = place(aheads[index]!);
    const heap = heaps.at(-1);
    if (heap !== undefined && at - heap.at < NEAR) heap.items.push(item);
    else heaps.push({ at, items: [item] });
  }
  return { ticks, heaps };
}
