import { EMPTY_BYTES } from "../../engine/bytes.ts";
import type { OutboundAnswer, OutboundClient } from "../../engine/contract/services.ts";
import type { SendToSelf, WireRequest } from "../../engine/pipeline/plain-http.ts";
import { platform, sleep } from "../../engine/platform.ts";
import type { JournalEntry } from "../../engine/sandbox/journal-entry.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import type { RecordedAttempt } from "./bundle.ts";

/** A fault may delay an answer by minutes; a later answer counts as lost. */
const MAX_ANSWER_MS = 10 * 60_000;
/** How long to wait for the end of a connection once the journal has the answer, since a fault may never close it. */
const LINGER_MS = 500;

/**
 * Sends one request over HTTP and waits for its entry in the journal, which contains the sent answer. Undefined if
 * there is none. `matchesEntry` recognizes the entry, if other requests may come meanwhile.
 */
export async function sendAndAwaitEntry(
  sandbox: Sandbox,
  sendToSelf: SendToSelf,
  {
    matchesEntry = () => true,
    ...wireRequest
  }: WireRequest & { matchesEntry?: (entry: JournalEntry) => boolean },
): Promise<JournalEntry | undefined> {
  const abort = new AbortController();
  const pendingEntry = waitForEntry(sandbox, matchesEntry, abort.signal);
  const answerEnd = sendToSelf(wireRequest, abort.signal).catch(() => undefined);
  const entry = await Promise.race([
    pendingEntry,
    // A request that was refused before it reached the sandbox has an answer and no entry.
    answerEnd.then(() => Promise.race([pendingEntry, waitFor(LINGER_MS)])),
  ]);
  const timeoutMs = entry?.streamed === undefined ? LINGER_MS : MAX_ANSWER_MS;
  if (entry !== undefined && !isEndless(entry)) await Promise.race([answerEnd, waitFor(timeoutMs)]);
  abort.abort();
  while (entry?.streamed === "under way") await platform().nextTurn();
  return entry;
}

function isEndless(entry: JournalEntry): boolean {
  // The list has names and values in turn.
  return entry.response_headers.some((value) => value.startsWith("text/event-stream"));
}

function waitForEntry(
  sandbox: Sandbox,
  matchesEntry: (entry: JournalEntry) => boolean,
  signal: AbortSignal,
): Promise<JournalEntry | undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => finish(undefined), MAX_ANSWER_MS);
    const finish = (entry: JournalEntry | undefined) => {
      clearTimeout(timer);
      stop();
      resolve(entry);
    };
    const stop = sandbox.journal.subscribe((entry) => {
      // The request's deliveries have earlier entries. Undefined: the journal was cleared, or the sandbox deleted.
      if (entry === undefined || (entry.delivery === undefined && matchesEntry(entry))) finish(entry);
    });
    signal.addEventListener("abort", () => finish(undefined), { once: true });
  });
}

function waitFor(milliseconds: number): Promise<undefined> {
  return sleep(milliseconds).then(() => undefined);
}

/** The replay that sends deliveries. */
interface SendingReplay {
  /** The status for requests that are not deliveries. */
  otherwise: () => number;
  /** The number of restores so far. */
  countRestores: () => number;
  /** Waits for the recorded instant at which an attempt ended. */
  waitForEnd: (at: string, signal: AbortSignal | undefined) => Promise<void>;
  waitForCancel: (signal: AbortSignal | undefined) => Promise<void>;
  /** Whether the current request waits for an attempt, as a redelivery does. */
  isAwaited: () => boolean;
}

/** Replaces the receivers of a bundle: each attempt of a delivery gets its recorded answer, and no receiver is called. */
export function createRecordedOutbound(
  deliveries: Readonly<Record<string, readonly RecordedAttempt[]>>,
  { otherwise, countRestores, waitForEnd, waitForCancel, isAwaited }: SendingReplay,
): OutboundClient {
  const attempts = new Map<string, number>();
  return {
    async send({ headers, signal }) {
      const id = headers["X-Service-Delivery"];
      if (id === undefined) return toResult(otherwise());
      const attempt = attempts.get(id) ?? 0;
      const recorded = deliveries[id]?.[attempt];
      // An attempt that was never recorded had not ended, but a request that waits for it needs an answer.
      const isUnfinished = recorded === undefined && !isAwaited();
      // The next recorded attempt came after a restore that is still to come: that restore cancelled this one.
      const isCancelled = recorded !== undefined && (recorded.restores ?? 0) > countRestores();
      if (isUnfinished || isCancelled) {
        await waitForCancel(signal);
        return toResult(0);
      }
      attempts.set(id, attempt + 1);
      if (recorded?.ended_at !== undefined) await waitForEnd(recorded.ended_at, signal);
      return toResult(recorded?.response_code ?? 200);
    },
  };
}

function toResult(response_code: number): OutboundAnswer {
  const result = { response_code, headers: {}, body: EMPTY_BYTES, duration_ms: 0 };
  if (response_code !== 0) return result;
  return { ...result, error: { kind: "refused", message: "no answer, as it was recorded" } };
}
