import { drained, finish } from "./connection.ts";
import type { WireEffect } from "./effect.ts";

/** Status line and headers, then half of the announced body. */
export const truncateWire = {
  name: "truncate",
  shows_status: true,
  async perform(wire) {
    await drained(wire);
    await finish(wire, Buffer.concat([wire.head, wire.body.subarray(0, Math.floor(wire.body.length / 2))]));
  },
  delivery: { holds_ms: () => 0, breaks: "the connection was closed in the middle of the answer" },
} as const satisfies WireEffect;
