import { leaves } from "./connection.ts";
import type { WireEffect } from "./effect.ts";

/** Open and silent until the client leaves. */
export const hangWire = {
  name: "hang",
  shows_status: false,
  holds: true,
  async perform({ request, socket, gone }) {
    // Only a connection that is read tells when its client leaves.
    request.resume();
    await leaves(gone);
    socket.destroy();
  },
  delivery: { holds_ms: () => Number.POSITIVE_INFINITY, breaks: undefined },
} as const satisfies WireEffect;
