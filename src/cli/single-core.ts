import { availableParallelism } from "node:os";
import { setFlagsFromString } from "node:v8";

/**
 * V8 collects with threads of its own, however many cores a process may use. Where it has one (a container, a
 * pinned server), they only take turns with the requests: the young generation is then collected by the thread that
 * serves, and oftener, since how long requests wait for it grows with what has gathered.
 */
export function collectOnSingleCore(): void {
  if (availableParallelism() > 1) return;
  setFlagsFromString("--no-parallel-scavenge");
  // In percent of the young generation.
  setFlagsFromString("--minor-gc-task-trigger=40");
}
