import { executionAsyncResource } from "node:async_hooks";

let held: object | undefined;

/**
 * Keeps `process.nextTick`, which Node calls some ten times for an answer, as fast as it is at first. What it queues are
 * objects of one hidden class, which V8 lets go of when a collection finds none of them, as it does in a server that
 * nobody has called for some twenty seconds; from then on each is made by a slow path, for as long as the process runs:
 * 4 us a request. One that is held keeps the class.
 */
export function holdTick(): void {
  if (held !== undefined) return;
  process.nextTick(() => {
    held = executionAsyncResource();
  });
}

/** The one that is held. */
export function heldTick(): object | undefined {
  return held;
}
