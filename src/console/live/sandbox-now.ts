import { useSandbox } from "../api/queries.ts";
import { useWallClock } from "../parts/time.tsx";

/** The sandbox's clock, in milliseconds, going on between two looks at the server. */
export function useSandboxNow(): number {
  const { data, dataUpdatedAt } = useSandbox();
  const wall = useWallClock();
  if (data === undefined) return wall;
  return Date.parse(data.clock.now) + Math.max(0, wall - dataUpdatedAt) * data.clock.rate;
}
