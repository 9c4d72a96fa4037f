import type { World } from "./world.ts";

/** Resolves at the world's next commit, clock change or end, or when nobody waits any more. */
export function nextChange(world: World, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (world.isClosed || signal.aborted) return resolve();
    const done = () => {
      stop();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const stop = world.subscribe(done);
    signal.addEventListener("abort", done, { once: true });
  });
}
