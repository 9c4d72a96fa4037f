import { Button, Tooltip, TooltipTrigger } from "react-aria-components";
import type { ClockState } from "../../../types/control-api.ts";
import { useSandbox } from "../api/queries.ts";
import { createStore } from "../api/store.ts";

/** Each unit with its milliseconds, and how many of it make the next one. */
const UNITS: readonly [string, number, number][] = [
  ["s", 1000, 60],
  ["min", 60_000, 60],
  ["h", 3_600_000, 24],
  ["d", 86_400_000, Number.POSITIVE_INFINITY],
];

/** "3 min ago", "in 2 h", "now". Both arguments in milliseconds. */
export function formatRelative(at: number, now: number): string {
  const distance = Math.abs(at - now);
  if (distance < 1000) return "now";
  const [unit, ms] = UNITS.find(([, size, most]) => Math.round(distance / size) < most)!;
  const count = Math.round(distance / ms);
  return at > now ? `in ${count} ${unit}` : `${count} ${unit} ago`;
}

/** "12:00:05.120", the time of day in UTC. */
export function formatTimeOfDay(iso: string): string {
  return iso.slice(11, 23);
}

/** "2026-03-15 12:00:05 UTC". */
export function formatAbsolute(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/** "real time", "frozen", "running", "running ×60". */
export function formatClock({ mode, rate }: ClockState): string {
  if (mode === "scaled") return rate === 1 ? "running" : `running ×${rate}`;
  return mode === "frozen" ? "frozen" : "real time";
}

const TICK_MS = 1000;
const wallClock = createStore(Date.now());
setInterval(() => wallClock.set(Date.now()), TICK_MS);

export const useWallClock = wallClock.use;

/** The sandbox's time in milliseconds, extrapolated between two queries. */
export function useSandboxNow(): number {
  const { data, dataUpdatedAt } = useSandbox();
  const wall = useWallClock();
  if (data === undefined) return wall;
  return Date.parse(data.clock.now) + Math.max(0, wall - dataUpdatedAt) * data.clock.rate;
}

/** Like RelativeTime, but without a button that shows the tooltip: for long lists, or inside a button. */
export function RelativeTimeText({ at }: { at: string }) {
  const now = useSandboxNow();
  return (
    <time className="quiet" dateTime={at} title={formatAbsolute(at)}>
      {formatRelative(Date.parse(at), now)}
    </time>
  );
}

/** A relative time with the absolute time as a tooltip; `now` is the sandbox's time unless it is given. */
export function RelativeTime({ at, now }: { at: string; now?: number }) {
  const sandboxNow = useSandboxNow();
  return (
    <TooltipTrigger delay={300}>
      <Button className="bare time">
        <time dateTime={at}>{formatRelative(Date.parse(at), now ?? sandboxNow)}</time>
      </Button>
      <Tooltip className="tooltip">{formatAbsolute(at)}</Tooltip>
    </TooltipTrigger>
  );
}
