import { concatBytes } from "../../bytes.ts";
import { parseDuration } from "../../contract/duration.ts";
import { Duration } from "../../contract/schema.ts";
import { sleep } from "../../platform.ts";
import type { Wire } from "../../sandbox/fault-types.ts";
import { whenAborted } from "../../state/concurrency.ts";
import { checkDelay } from "./delay.ts";
import type { WireEffect } from "./effect.ts";

export const DRIP_MS = 2_000;
const MIN_PIECES = 3;
const MAX_PIECES = 20;
const PIECE_INTERVAL_MS = 250;

/** Sends the whole answer, in pieces that are spread over the time `over`. */
export const dripWire = {
  name: "drip",
  shows_status: true,
  keys: { over: Duration(undefined, { description: "How long the answer takes; 2s unless given" }) },
  check({ over, wire }, report) {
    if (over === undefined) return;
    if (checkDelay(over, ["over"], report) && parseDuration(over)! < 10)
      report(["over"], "must be at least 10ms, for pieces to arrive apart");
    if (wire !== "drip") report(["over"], "goes with `wire: drip` only");
  },
  async perform(wire) {
    await wire.drain();
    const { over_ms, clientLeft } = wire;
    const clientHasLeft = whenAborted(clientLeft);
    const pieces = splitResponse(wire, over_ms);
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await Promise.race([clientHasLeft, sleep(over_ms / (pieces.length - 1))]);
      if (clientLeft.aborted) return wire.destroy();
      wire.write(piece);
    }
    await wire.finish();
  },
  // A delivery is answered completely in the end.
  delivery: { getDelay: (over_ms) => over_ms, failure: undefined },
} as const satisfies WireEffect;

function splitResponse({ head, body }: Pick<Wire, "head" | "body">, over_ms: number): Uint8Array[] {
  const count = Math.min(MAX_PIECES, Math.max(MIN_PIECES, Math.ceil(over_ms / PIECE_INTERVAL_MS) + 1));
  // Headers come at once, as from a server that works on its body; a short answer is cut anywhere.
  const splitsHead = body.length < count;
  const parts = splitEvenly(splitsHead ? concatBytes([head, body]) : body, count);
  return splitsHead ? parts : [concatBytes([head, parts[0]!]), ...parts.slice(1)];
}

function splitEvenly(bytes: Uint8Array, count: number): Uint8Array[] {
  const getOffset = (index: number) => Math.floor((index * bytes.length) / count);
  return Array.from({ length: count }, (_, index) => bytes.subarray(getOffset(index), getOffset(index + 1)));
}
