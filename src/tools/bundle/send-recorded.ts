import { type IncomingMessage, request } from "node:http";
import { type JournalEntry, responseHeaders } from "../../engine/sandbox/journal-entry.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";

export interface RecordedRequest {
  method: string;
  target: string;
  headers: readonly (readonly string[])[];
  body: Uint8Array | undefined;
}

interface Sending extends RecordedRequest {
  /** Default 127.0.0.1. */
  host?: string;
  port: number;
  /** Which entry of the journal is the request's, where others may come meanwhile. */
  isIts?: (entry: JournalEntry) => boolean;
}

/** A fault may delay an answer by minutes; what takes longer is taken for lost. */
const PATIENCE_MS = 10 * 60_000;
/** So long a connection may still be open after the journal has the answer: a fault may hold it for ever. */
const LINGER_MS = 500;

/**
 * Sends one request over HTTP and waits for its entry in the journal, which holds the answer as it went out.
 * Undefined when none comes.
 */
export async function sendRecorded(
  sandbox: Sandbox,
  { isIts = () => true, ...sent }: Sending,
): Promise<JournalEntry | undefined> {
  const gone = new AbortController();
  const entry = nextEntry(sandbox, isIts, gone.signal);
  const answered = exchange(sent, gone.signal);
  const found = await Promise.race([
    entry,
    // A request that was refused before it reached the sandbox has an answer and no entry.
    Promise.race([answered.failed, answered.ended]).then(() => Promise.race([entry, after(LINGER_MS)])),
  ]);
  const ends = found?.streamed === undefined ? LINGER_MS : PATIENCE_MS;
  if (found !== undefined && !isEndless(found)) await Promise.race([answered.ended, after(ends)]);
  gone.abort();
  while (found?.streamed === "under way") await new Promise((resolve) => setImmediate(resolve));
  return found;
}

function isEndless(entry: JournalEntry): boolean {
  return responseHeaders(entry).some((value) => value.startsWith("text/event-stream"));
}

function nextEntry(
  sandbox: Sandbox,
  isIts: (entry: JournalEntry) => boolean,
  signal: AbortSignal,
): Promise<JournalEntry | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => finish(undefined), PATIENCE_MS);
    const finish = (entry: JournalEntry | undefined) => {
      clearTimeout(timer);
      stop();
      resolve(entry);
    };
    const stop = sandbox.journal.subscribe((entry) => {
      // Its effects come before it in the journal.
      if (entry === undefined || (entry.delivery === undefined && isIts(entry))) finish(entry);
    });
    signal.addEventListener("abort", () => finish(undefined), { once: true });
  });
}

function exchange({ host = "127.0.0.1", port, method, target, headers, body }: Sending, signal: AbortSignal) {
  let end = () => {};
  let fail = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const failed = new Promise<void>((resolve) => {
    fail = resolve;
  });
  const flat = headers.flatMap(([name, value]) => [name!, value!]);
  // One of HTTP/1.0 may have had none; this one is of 1.1, which has to.
  if (!headers.some(([name]) => name!.toLowerCase() === "host")) flat.push("Host", `127.0.0.1:${port}`);
  if (body !== undefined) flat.push("Content-Length", String(body.length));
  const outgoing = request({
    host,
    port,
    method,
    path: target,
    headers: flat as never,
    setHost: false,
    agent: false,
    signal,
  });
  const broken = () => {
    fail();
    end();
  };
  outgoing.on("error", broken);
  outgoing.on("response", (response: IncomingMessage) => {
    response.resume();
    response.on("error", broken);
    response.on("close", end);
  });
  outgoing.end(body);
  return { ended, failed };
}

function after(milliseconds: number): Promise<undefined> {
  return new Promise((resolve) => void setTimeout(() => resolve(undefined), milliseconds).unref());
}
