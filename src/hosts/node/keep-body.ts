import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";

/** Uploads beyond this would push everything else out of the journal. */
const MAX_KEPT_BYTES = 64 * 1024;

/** A body that streams past, as the journal keeps it. */
export interface KeptBody {
  /** All of it so far; undefined once it was too long to keep. */
  bytes(): Buffer | undefined;
  /** How much has gone by. */
  size(): number;
}

/** Takes notes while somebody else reads the body, at that reader's pace. */
export function keepBody(request: IncomingMessage): KeptBody {
  let chunks: Buffer[] = [];
  let size = 0;
  // The stream's own `on` would start the flow, and with it outrun the one who reads.
  EventEmitter.prototype.on.call(request, "data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_KEPT_BYTES) chunks.push(chunk);
    else chunks = [];
  });
  return { bytes: () => (size > MAX_KEPT_BYTES ? undefined : Buffer.concat(chunks)), size: () => size };
}
