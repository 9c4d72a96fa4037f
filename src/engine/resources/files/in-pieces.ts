import { setImmediate as nextTurn } from "node:timers/promises";

/** Characters that a slow reader takes some milliseconds for. */
const PIECE_LENGTH = 16 * 1024;

/**
 * A long text a piece at a time, with a turn for all other requests after each: to read four megabytes of a table in one
 * go keeps a server from answering for seconds. @throws the signal's reason
 */
export async function* inPieces(text: string, signal: AbortSignal): AsyncGenerator<string, void, void> {
  for (let at = 0; at < text.length; at += PIECE_LENGTH) {
    if (at > 0) await nextTurn();
    signal.throwIfAborted();
    yield text.slice(at, at + PIECE_LENGTH);
  }
}
