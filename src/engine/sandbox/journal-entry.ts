import { fromUtf8 } from "../bytes.ts";
import { tryParseJson } from "../contract/text.ts";

/** A request that was answered, or an attempt to deliver an event: what the pipeline and the sender report. */
export interface ExchangeDetails {
  /** `req_…`, also the x-request-id; of an attempt, the delivery's id and the attempt's number. */
  readonly id: string;
  /** The number of earlier requests of the sandbox, from which the id is drawn (not `seq`); undefined for an attempt. */
  readonly request_number: number | undefined;
  /** Milliseconds since 1970 on the sandbox's clock. */
  readonly at: number;
  /** The sandbox's clock at the state change; undefined if there was none. */
  readonly committed_at: number | undefined;
  readonly operation: string | null;
  readonly method: string;
  /** Without sandbox prefix and query. */
  readonly path: string;
  readonly query: string;
  /** The base of the URLs in its answer; undefined if it has none. */
  readonly base_url?: string | undefined;
  /** 0 if the client received none. */
  readonly status: number;
  /** Catalogue code of an error answer. */
  readonly code: string | null;
  readonly duration_ms: number;
  readonly principal: string | null;
  readonly api_key: string | null;
  readonly decision: string;
  /** Undefined if no fault affected it. */
  readonly fault?: AppliedFault | undefined;
  /** Why: the rule that triggered, its draw, the nearest rule that did not match. */
  readonly reasons: readonly string[];
  /** The stages of scenarios during which it arrived, as `scenario/stage`. */
  readonly stages?: readonly string[] | undefined;
  readonly warnings: readonly string[];
  /** Name, value, name, value … as received. */
  readonly request_headers: readonly string[];
  /** Undefined also for an upload that was too long to store; `request_bytes` is its length. */
  readonly request_body: Uint8Array | undefined;
  readonly request_bytes: number;
  /** Name, value, name, value … as sent. */
  readonly response_headers: readonly string[];
  readonly response_body: Uint8Array | string | undefined;
  /** For a streamed answer: `under way`, then its size and digest, or `cut` if the client left before its end. */
  readonly streamed: StreamOutcome | undefined;
  /** Absent for a received request. */
  readonly delivery?: AttemptDetails | undefined;
}

/** The effect of a fault on a request, or on an attempt to deliver. */
export interface AppliedFault {
  /** `<scenario | header | inline>/<rule id or code>`. */
  readonly by: string;
  /** Wall milliseconds by which it delayed the answer. */
  readonly delay_ms: number;
  /** `nothing`: the answer is the operation's own, or the receiver's. */
  readonly replaced: "nothing" | "response" | "connection";
}

type StreamOutcome = { bytes: number; sha256: string } | "under way" | "cut";

/** The part of an entry that describes an attempt to deliver an event (interfaces.md 14). */
interface AttemptDetails {
  event: string;
  webhook_id: string;
  delivery_id: string;
  /** From 1. */
  attempt: number;
  kind: "first" | "retry" | "redelivery";
  /** Scheme and host, before the entry's path. */
  origin: string;
  /** Why there was no answer; undefined if there was one. */
  error: string | undefined;
}

/** An entry of the timeline, as journal and history see it. */
export interface TimelineEntry {
  /** Its number in the timeline (`seq` in answers): grows, and is never reused, not even after a rewind or a reset. */
  readonly number: number;
  /** The request or delivery, which the journal lists; undefined after the journal has evicted it. */
  exchange: JournalEntry | undefined;
  /** The change (a HistoryEntry), which the history lists; undefined after the history has evicted it. */
  readonly change: object | undefined;
  /** Whether a rewind has undone the change. */
  isUndone: boolean;
}

/** The request or delivery part of a timeline's entry, as the journal lists it. */
export interface JournalEntry extends ExchangeDetails {
  readonly timelineEntry: TimelineEntry;
  /** Position among the journal's entries, in the order of the answers; `seq` is the number of its timeline entry. */
  readonly sequence: number;
  /** Id of its entry in the history, if it changed something. */
  readonly history: string | null;
  /** The timeline's revision when it was added. */
  readonly revision: number;
  /** Its estimated size. */
  bytes: number;
  streamed: StreamOutcome | undefined;
  response_body: Uint8Array | string | undefined;
}

/** Rough size of an entry without its texts, so that a million tiny entries still count. */
const ENTRY_BYTES = 512;
/** Rough size of a text in a list, without its characters. */
const TEXT_BYTES = 32;

export function estimateBytes(entry: JournalEntry): number {
  const { request_body, response_body, response_headers, path, query } = entry;
  const bodies = (request_body?.length ?? 0) + (response_body?.length ?? 0);
  const lists =
    countListBytes(entry.request_headers) +
    countListBytes(response_headers) +
    countListBytes(entry.reasons) +
    countListBytes(entry.warnings);
  const { id, method, decision, principal, api_key, code } = entry;
  const names =
    id.length + method.length + decision.length + (principal?.length ?? 0) + (api_key?.length ?? 0);
  const texts = names + (code?.length ?? 0) + path.length + query.length;
  return ENTRY_BYTES + bodies + lists + texts;
}

function countListBytes(texts: readonly string[]): number {
  let bytes = texts.length * TEXT_BYTES;
  for (const text of texts) bytes += text.length;
  return bytes;
}

/** A body as text; invalid UTF-8 becomes U+FFFD. */
export function toBodyText(body: Uint8Array | string | undefined): string {
  return typeof body === "object" ? fromUtf8(body) : (body ?? "");
}

/** The code in an error answer, which an operation may spell in its own way; else the catalogue code. */
export function readSentCode({
  code,
  response_body,
}: Pick<ExchangeDetails, "code" | "response_body">): string | null {
  if (code === null) return null;
  const body = tryParseJson(toBodyText(response_body)) as { error?: { code?: unknown } } | null | undefined;
  const sentCode = body?.error?.code;
  return typeof sentCode === "string" ? sentCode : code;
}
