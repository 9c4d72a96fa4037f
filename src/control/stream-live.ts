import { type Static, Type } from "typebox";
import { ClosedObject, Nullable } from "../engine/contract/schema.ts";
import { getOrAdd } from "../engine/maps.ts";
import { randomHex } from "../engine/platform.ts";
import type { HistoryEntry } from "../engine/sandbox/history-entry.ts";
import type { Journal } from "../engine/sandbox/journal.ts";
import { type JournalEntry, readSentCode } from "../engine/sandbox/journal-entry.ts";
import type { Sandbox } from "../engine/sandbox/sandbox.ts";
import type { Timeline } from "../engine/sandbox/timeline.ts";
import { redactQuery, redactText } from "../tools/redact.ts";
import { HistoryEntryBody, renderHistoryEntry } from "./history/render-history-entry.ts";
import { HeldBody, renderHeld } from "./journal/render-held.ts";
import { JournalEntryBody } from "./journal/render-journal-entry.ts";
import { OptionalText } from "./operation.ts";
import { waitForChange } from "./stream-entries.ts";

const { id, seq, sequence, at, operation, method, path } = JournalEntryBody.properties;
const { status, code, duration_ms, principal, decision, fault, history, undone } =
  JournalEntryBody.properties;

/** A request without its messages, for lists: a tenth of the bytes. */
export const RequestLine = ClosedObject(
  {
    id,
    seq,
    sequence,
    at,
    operation,
    method,
    path,
    query: Type.String({ description: "Secrets masked" }),
    status,
    code,
    sent_code: OptionalText("The code that the client received, if the operation spells it in its own way"),
    duration_ms,
    principal,
    decision,
    fault,
    history,
    why: Nullable(Type.String({ description: "The first of the request's reasons" })),
    warnings: Type.Integer({ minimum: 0, description: "How many" }),
    undone,
  },
  {
    $id: "RequestLine",
    examples: [
      {
        id: "req_5e1f",
        seq: 1,
        sequence: 1,
        at: "2026-03-15T12:00:00.000Z",
        operation: "threads.delete",
        method: "DELETE",
        path: "/v1/threads/thread_ada",
        query: "",
        status: 403,
        code: "INSUFFICIENT_PERMISSIONS",
        duration_ms: 2,
        principal: "usr_cleo",
        decision: "access",
        history: null,
        why: null,
        warnings: 0,
      },
    ],
  },
);

/** A delivery attempt; its history entry has the rest. */
const AttemptLine = ClosedObject({
  history: Type.String({ description: "The id of its history entry" }),
  duration_ms,
  fault,
});

/** One message to a page that follows a sandbox. */
export const LiveBody = ClosedObject(
  {
    begins: Type.Boolean({
      description:
        "Earlier messages belong to another run of the server, or were cleared; the client drops them",
    }),
    requests: Type.Array(RequestLine, { description: "Oldest first" }),
    history: Type.Array(HistoryEntryBody, {
      description: "New entries, and changed ones, for example with `undone`",
    }),
    attempts: Type.Array(AttemptLine, {
      description: "For delivery attempts: how long each waited for its answer",
    }),
    held: Type.Optional(
      Type.Array(HeldBody, {
        description: "All held requests and deliveries, if the list has changed since the last message",
      }),
    ),
    dropped: Type.Integer({
      minimum: 0,
      description: "Entries that the journal has evicted",
    }),
  },
  { $id: "Live" },
);
export type LiveBody = Static<typeof LiveBody>;

/** Identifies the timeline, so that it is not confused with that of an earlier process or of a deleted sandbox of the same name. */
const tags = new WeakMap<Journal, string>();
/** Maximum number of entries in one message, so that a page with a busy sandbox stays responsive. */
const MAX_AT_ONCE = 250;

/**
 * Sends the whole timeline, then new and changed entries, in messages of many entries. The event's id names the
 * timeline and the last revision that the client has; with another timeline's id, or none, the stream begins with the
 * first entry. All changes are sent again to a client that connects, since they may have been undone meanwhile. Nothing
 * is queued for a slow reader.
 */
export async function* streamLive(
  { journal, history, timeline, held }: Sandbox,
  after: string | undefined,
  signal: AbortSignal,
): AsyncIterable<string> {
  const [, sentId, revision] = /^(.+)\.(\d{1,15})$/.exec(after ?? "") ?? [];
  let timelineId = sentId;
  let begins = false;
  let sent: SentRevisions = { exchange: Math.min(Number(revision ?? 0), timeline.revision), change: 0 };
  let sentHeldRevision = 0;
  while (!signal.aborted && !journal.isClosed) {
    const currentId = `${getOrAdd(tags, journal, () => randomHex(6))}-${journal.clearCount}`;
    if (timelineId !== currentId) {
      timelineId = currentId;
      begins = true;
      sent = { exchange: 0, change: 0 };
      sentHeldRevision = 0;
    }
    const parts = listNewParts(timeline, sent);
    const isHeldNew = held.revision !== sentHeldRevision;
    if (parts.length > 0 || begins || isHeldNew) {
      for (const part of parts) sent[isExchange(part) ? "exchange" : "change"] = part.revision;
      sentHeldRevision = held.revision;
      const body: LiveBody = {
        begins,
        ...renderParts(parts),
        dropped: journal.dropped,
        ...(isHeldNew && { held: held.list().map(renderHeld) }),
      };
      begins = false;
      yield `id: ${timelineId}.${sent.exchange}\ndata: ${JSON.stringify(body)}\n\n`;
    } else {
      await waitForChange([journal, history, held], signal);
    }
  }
}

type Part = JournalEntry | HistoryEntry;

/** The revision of the newest request or delivery that was sent, and of the newest change. */
interface SentRevisions {
  exchange: number;
  change: number;
}

function isExchange(part: Part): part is JournalEntry {
  return "request_headers" in part;
}

/** Parts that are newer than those sent, ordered by revision; at most `MAX_AT_ONCE`. */
function listNewParts(timeline: Timeline, sent: SentRevisions): Part[] {
  const parts: Part[] = [];
  for (const { exchange, change } of timeline.entries) {
    if (exchange !== undefined && exchange.revision > sent.exchange) parts.push(exchange);
    if (change !== undefined && change.revision > sent.change) parts.push(change);
  }
  return parts.sort((a, b) => a.revision - b.revision).slice(0, MAX_AT_ONCE);
}

function renderParts(parts: readonly Part[]): Omit<LiveBody, "begins" | "dropped" | "held"> {
  const exchanges = parts.filter(isExchange);
  return {
    requests: exchanges.filter(({ delivery }) => delivery === undefined).map(renderLine),
    history: parts.filter((part): part is HistoryEntry => !isExchange(part)).map(renderHistoryEntry),
    attempts: exchanges.flatMap(({ delivery, history, duration_ms, fault }) =>
      delivery === undefined || history === null ? [] : [{ history, duration_ms, ...(fault && { fault }) }],
    ),
  };
}

function renderLine(entry: JournalEntry): Static<typeof RequestLine> {
  const { id, sequence, operation, method, status, code, duration_ms, principal, decision, history } = entry;
  const sent_code = readSentCode(entry);
  return {
    id,
    seq: entry.timelineEntry.number,
    sequence,
    at: new Date(entry.at).toISOString(),
    operation,
    method,
    path: redactText(entry.path),
    query: redactQuery(entry.query),
    status,
    code,
    ...(sent_code !== null && sent_code !== code && { sent_code }),
    duration_ms,
    principal,
    decision,
    history,
    ...(entry.fault && { fault: entry.fault }),
    why: entry.reasons[0] === undefined ? null : redactText(entry.reasons[0]),
    warnings: entry.warnings.length,
    ...(entry.timelineEntry.isUndone && { undone: true }),
  };
}
