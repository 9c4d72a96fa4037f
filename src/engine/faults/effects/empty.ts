import type { WireEffect } from "./effect.ts";

/** Closes the connection without a byte of an answer. */
export const emptyWire = {
  name: "empty",
  shows_status: false,
  async perform(wire) {
    await wire.drain();
    await wire.finish();
  },
  delivery: { getDelay: () => 0, failure: "the connection was closed without an answer" },
} as const satisfies WireEffect;
