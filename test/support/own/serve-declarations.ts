import type { Understudy } from "../../../src/control/understudy-options.ts";
import { readDeclarations } from "../../../src/engine/own/join.ts";
import { assemble } from "../../../src/understudy.ts";
import { type ServedDocument, sendTo } from "./serve-document.ts";

/** Starts a server without a socket that answers declared operations. */
export async function serveDeclarations(exports: object): Promise<ServedDocument> {
  const understudy: Understudy = assemble({
    seed: 7,
    clock: { mode: "frozen", now: Date.parse("2026-03-15T12:00:00Z") },
    operations: [await readDeclarations(exports, { source: "operations.ts" })],
  });
  return { understudy, send: sendTo(understudy) };
}
