import { concatBytes } from "../../bytes.ts";
import { isBodyless } from "../../contract/operation.ts";
import type { WireEffect } from "./effect.ts";

/** Sends status line and headers, then half of the announced body. */
export const truncateWire = {
  name: "truncate",
  shows_status: true,
  check({ wire, status, body }, report, target) {
    // The answer to a delivery gets lost as a whole, whatever its status.
    if (target === "deliveries") return;
    // A success without a `body` is empty. A status that has no body, such as 204, is allowed: no client expects one.
    const isEmpty = body === "" || (status !== undefined && status < 400 && body === undefined);
    if (wire === "truncate" && isEmpty && !isBodyless(status ?? 200))
      report(["wire"], "cannot truncate an answer that has no body");
  },
  async perform(wire) {
    const half = wire.body.subarray(0, Math.floor(wire.body.length / 2));
    // Reads the rest of the request.
    await wire.drain();
    await wire.finish(concatBytes([wire.head, half]));
  },
  delivery: { getDelay: () => 0, failure: "the connection was closed in the middle of the answer" },
} as const satisfies WireEffect;
