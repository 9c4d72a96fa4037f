import type { IncomingMessage } from "node:http";

const MAX_DRAIN_MS = 5_000;
const MAX_DRAINED_BYTES = 64 * 1024 * 1024;

/**
 * Reads on for a while after a refusal was sent before the body's end. A connection that is closed with
 * bytes unread is reset, and the client would lose the very answer that tells it why.
 */
export function drainRequest(request: IncomingMessage): void {
  let bytes = 0;
  const cut = () => request.destroy();
  const timer = setTimeout(cut, MAX_DRAIN_MS);
  timer.unref();
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_DRAINED_BYTES) cut();
  });
  request.once("close", () => clearTimeout(timer));
  request.once("end", () => clearTimeout(timer));
  request.on("error", () => {});
  request.resume();
}
