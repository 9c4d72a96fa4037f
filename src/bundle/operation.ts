import { type AnyControlOperation, controlOperation, S } from "../control/operation.ts";
import { conflict } from "../control/problem.ts";

const takeBundle = controlOperation({
  id: "bundle.make",
  method: "POST",
  path: `${S}/bundle`,
  summary: "Put what happened to the sandbox into one file, for `understudy replay`",
  changes: false,
  async handle({ sandbox, server }) {
    const recording = server.recordings?.of(sandbox);
    if (recording === undefined) {
      throw conflict(
        "not-replayable",
        "This server keeps no record of control calls",
        "start it with `understudy start`",
      );
    }
    // Deliveries that are under way would be told by half; what has not ended after a while is left out.
    await Promise.race([sandbox.world.settled(), patience()]);
    const { makeBundle } = await import("./make-bundle.ts");
    return makeBundle(sandbox, recording, server);
  },
});

const PATIENCE_MS = 5000;

function patience(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, PATIENCE_MS).unref());
}

export const BUNDLE_OPERATIONS: readonly AnyControlOperation[] = [takeBundle];
