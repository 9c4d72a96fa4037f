import { drained, finish } from "./connection.ts";
import type { WireEffect } from "./effect.ts";

/** Closed in good order, without a byte. */
export const emptyWire = {
  name: "empty",
  shows_status: false,
  async perform(wire) {
    await drained(wire);
    await finish(wire);
  },
  delivery: { holds_ms: () => 0, breaks: "the connection was closed without an answer" },
} as const satisfies WireEffect;
