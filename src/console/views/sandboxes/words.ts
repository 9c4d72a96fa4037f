import type { ClockState, SandboxState } from "../../api/types.ts";

/** "real time", "frozen", "runs ×60". */
export function clockWords({ mode, rate }: ClockState): string {
  if (mode === "scaled") return `runs ×${rate}`;
  return mode === "frozen" ? "frozen" : "real time";
}

export function recordsIn({ counts }: SandboxState): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
