import { concatBytes, EMPTY_BYTES, toUtf8 } from "../bytes.ts";
import { isBodyless } from "../contract/operation.ts";
import { sleep } from "../platform.ts";
import type { CompleteAnswer } from "./plain-http.ts";

/** A stream may be endless: a wire fault sends the beginning that arrives within these bounds. */
const MAX_STREAM_BYTES = 16 * 1024 * 1024;
const MAX_STREAM_MS = 1_000;

/** The body of an answer with a wire fault; undefined if a response to this method has none. */
export async function readWireBody(
  method: string,
  { status, body, stream }: CompleteAnswer,
  clientLeft: AbortSignal,
): Promise<Uint8Array | undefined> {
  if (method === "HEAD" || isBodyless(status)) return undefined;
  if (stream === undefined) return typeof body === "string" ? toUtf8(body) : (body ?? EMPTY_BYTES);
  const timeout = new AbortController();
  void sleep(MAX_STREAM_MS).then(() => timeout.abort());
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of stream(AbortSignal.any([clientLeft, timeout.signal]))) {
      const bytes = typeof piece === "string" ? toUtf8(piece) : piece;
      pieces.push(bytes);
      size += bytes.length;
      if (size > MAX_STREAM_BYTES || timeout.signal.aborted) break;
    }
  } catch {
    // The pieces so far are the body.
  }
  return concatBytes(pieces);
}
