import type { ClockChange } from "../client/types.ts";
import { readClock } from "./start-options.ts";

/** `--clock` as the control API takes it. @throws UsageError */
export function clockChange(text: string | undefined): ClockChange | undefined {
  if (text === undefined) return undefined;
  const { mode, now, rate } = readClock(text);
  return { mode, rate, now: now === undefined ? undefined : new Date(now).toISOString() };
}
