import { whenAborted } from "../../state/concurrency.ts";
import type { WireEffect } from "./effect.ts";

/** Stays open and silent until the client leaves. */
export const hangWire = {
  name: "hang",
  shows_status: false,
  staysOpen: true,
  async perform(wire) {
    await whenAborted(wire.clientLeft);
    wire.destroy();
  },
  delivery: { getDelay: () => Number.POSITIVE_INFINITY, failure: undefined },
} as const satisfies WireEffect;
