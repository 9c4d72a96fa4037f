import type { InjectedEffect } from "../sandbox/fault-gate.ts";
import type { Exchange } from "./exchange.ts";

/** So many requests of a sandbox may wait because they asked to, or hang: anybody may ask, without a credential. */
export const MAX_HELD_REQUESTS = 500;

/**
 * Counts a request that is held up: one that hangs until its client leaves, one that waits until the function
 * returned is called. Undefined where too many are held already.
 */
export function holdRequest(
  { sandbox, response }: Exchange,
  until: "released" | "closed",
): (() => void) | undefined {
  if (sandbox.held >= MAX_HELD_REQUESTS) return undefined;
  sandbox.held += 1;
  const release = () => {
    sandbox.held -= 1;
  };
  if (until === "released") return release;
  response.once("close", release);
  return () => {};
}

/** Whether the effect keeps a connection for as long as its client likes. */
export function holdsOn(effect: InjectedEffect | undefined): boolean {
  return effect?.kind === "wire" && effect.wire.holds === true;
}
