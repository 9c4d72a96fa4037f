import type { WireEffect } from "./effect.ts";

/** RST without a byte. */
export const resetWire: WireEffect = {
  name: "reset",
  shows_status: false,
  async perform({ socket }) {
    socket.resetAndDestroy();
  },
};
