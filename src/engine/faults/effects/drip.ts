import { setTimeout as sleep } from "node:timers/promises";
import { parseDuration } from "../../contract/duration.ts";
import { drained, finish } from "./connection.ts";
import { DurationText, delayProblem } from "./delay-range.ts";
import type { WireEffect } from "./effect.ts";

export const DRIP_MS = 2_000;
const MIN_PIECES = 3;
const MAX_PIECES = 20;
const PIECE_EVERY_MS = 250;

/** The whole answer, in pieces that are spread over `over`. */
export const dripWire = {
  name: "drip",
  shows_status: true,
  keys: { over: { ...DurationText, description: "How long the answer takes; 2s unless given" } as never },
  check({ over, wire }, report) {
    if (over === undefined) return;
    const problem = delayProblem(over);
    if (problem !== undefined) report(["over"], problem.message, problem.hint);
    else if (parseDuration(over)! < 10) report(["over"], "must be at least 10ms, for pieces to arrive apart");
    if (wire !== "drip") report(["over"], "goes with `wire: drip` only");
  },
  async perform(wire) {
    await drained(wire);
    const { socket, over_ms, gone } = wire;
    const pieces = piecesOf(wire, over_ms);
    for (const [index, piece] of pieces.entries()) {
      // Unreferenced: a client that waits keeps the server alive by its connection, nothing else should.
      if (index > 0)
        await sleep(over_ms / (pieces.length - 1), undefined, { ref: false, signal: gone }).catch(() => {});
      if (gone.aborted) return void socket.destroy();
      socket.write(piece);
    }
    await finish(wire);
  },
  // It is whole in the end.
  delivery: { holds_ms: (over_ms) => over_ms, breaks: undefined },
} as const satisfies WireEffect;

function piecesOf({ head, body }: { head: Buffer; body: Buffer }, over_ms: number): Buffer[] {
  const count = Math.min(MAX_PIECES, Math.max(MIN_PIECES, Math.ceil(over_ms / PIECE_EVERY_MS) + 1));
  // Headers come at once, as from a server that works on its body; a short answer is cut anywhere.
  const whole = body.length < count;
  const parts = cut(whole ? Buffer.concat([head, body]) : body, count);
  return whole ? parts : [Buffer.concat([head, parts[0]!]), ...parts.slice(1)];
}

function cut(bytes: Buffer, count: number): Buffer[] {
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(
      Math.floor((index * bytes.length) / count),
      Math.floor(((index + 1) * bytes.length) / count),
    ),
  );
}
