import type { WireEffect } from "./effect.ts";

/** RST without a byte. */
export const resetWire = {
  name: "reset",
  shows_status: false,
  async perform({ socket }) {
    socket.resetAndDestroy();
  },
  delivery: { holds_ms: () => 0, breaks: "the connection was reset before an answer" },
} as const satisfies WireEffect;
