import type { WireEffect } from "./effect.ts";

/** Sends RST without a byte. */
export const resetWire = {
  name: "reset",
  shows_status: false,
  async perform(wire) {
    wire.reset();
  },
  delivery: { getDelay: () => 0, failure: "the connection was reset before an answer" },
} as const satisfies WireEffect;
