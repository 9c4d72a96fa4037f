import { drained, finish } from "./connection.ts";
import type { WireEffect } from "./effect.ts";

/** Closed in good order, without a byte. */
export const emptyWire: WireEffect = {
  name: "empty",
  shows_status: false,
  async perform(wire) {
    await drained(wire);
    await finish(wire);
  },
};
