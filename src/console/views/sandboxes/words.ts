import type { SandboxState } from "../../api/types.ts";

export function recordsIn({ counts }: SandboxState): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
