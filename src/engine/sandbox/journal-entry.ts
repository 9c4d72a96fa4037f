import { DAY_MS, dayOf } from "../state/day.ts";
import { drawRequestId, type RequestDraw } from "../state/random.ts";
import { headersIn } from "./head-lines.ts";
import { type EntryName, idOf } from "./history-entry.ts";
import type { JournalBlock, JournalBytes } from "./journal-bytes.ts";

/** What is known of a request when it has been answered. */
export interface AnsweredRequest {
  /** `req_…`, also the x-request-id. */
  id: string;
  /** What `id` is drawn from; absent where it is not. */
  draw?: RequestDraw | undefined;
  /** Milliseconds since 1970 on the sandbox's clock. */
  at: number;
  /** The same at the moment of the state change; undefined where there was none. */
  committed_at: number | undefined;
  operation: string | null;
  method: string;
  /** Without sandbox prefix and query. */
  path: string;
  query: string;
  status: number;
  /** Catalogue code of an error answer. */
  code: string | null;
  duration_ms: number;
  principal: string | null;
  api_key: string | null;
  decision: string;
  /** Why: the rule that struck, its draw, the nearest rule that did not match. */
  reasons: readonly string[];
  warnings: readonly string[];
  /** Name, value, name, value … as received. */
  request_headers: readonly string[];
  /** Undefined also for an upload that was too long to keep; `request_bytes` tells. */
  request_body: Uint8Array | undefined;
  request_bytes: number;
  /** `Name: value` with a CRLF each, as sent. */
  response_head: string;
  response_body: Uint8Array | string | undefined;
  /** Of an answer that was made while it was sent: how it came out, unless the client left. */
  streamed: { bytes: number; sha256: string } | "under way" | "cut" | undefined;
  /** Its entry in the history, where it changed something (interfaces 10). */
  history: EntryName | null;
  /** That entry's number in the timeline; by default the next one. */
  seq?: number | undefined;
  /** Absent for a request that came in. */
  delivery?: JournaledAttempt | undefined;
}

/** Of an attempt to deliver an event, which stands in the journal beside the requests (interfaces 14). */
export interface JournaledAttempt {
  event: string;
  webhook_id: string;
  delivery_id: string;
  /** From 1. */
  attempt: number;
  kind: "first" | "retry" | "redelivery";
  /** Scheme and host, before the entry's path. */
  origin: string;
  /** Why there was no answer; undefined where there was one. */
  error: string | undefined;
}

/** A line feed, which no header, path or query of HTTP can hold. */
const BREAK = 10;
/** What an entry costs besides its texts; measured roughly, so that a million tiny entries still count. */
const ENTRY_OVERHEAD_BYTES = 512;
/** What a text costs besides its characters where it is kept as a string, with its place in a list. */
const TEXT_OVERHEAD_BYTES = 32;

/**
 * One request of the journal. Its texts stand in a block of bytes and are read from there when somebody asks
 * for them, as copies: the block may be written anew once the entry is gone, and so may the entry itself.
 */
export class JournalEntry implements Omit<AnsweredRequest, "history" | "draw" | "seq"> {
  /** Number in the sandbox's timeline, which the history shows too; never given twice. */
  seq!: number;
  /** Position since the sandbox began; grows by one. */
  sequence!: number;
  operation!: string | null;
  method!: string;
  status!: number;
  code!: string | null;
  duration_ms!: number;
  principal!: string | null;
  api_key!: string | null;
  decision!: string;
  reasons!: readonly string[];
  warnings!: readonly string[];
  request_bytes!: number;
  delivery!: JournaledAttempt | undefined;
  streamed!: AnsweredRequest["streamed"];
  /** Where the texts stand; undefined where they are too long for a block and are kept as they came. */
  block!: JournalBlock | undefined;
  private start = 0;
  /** Undefined where it can be drawn again. */
  private givenId: string | undefined;
  private idSeed!: number;
  private idNumber!: number;
  private day!: number;
  private time!: number;
  private prefix: string | undefined;
  private number!: number;
  /** Of the texts before the bodies (Latin-1, as HTTP has them), then of each body; -1 where there is none. */
  private headBytes = 0;
  private requestBytes = -1;
  private responseBytes = -1;
  private whole: AnsweredRequest | undefined;
  private lateBody: Buffer | undefined = undefined;
  /** A small number where the instant itself would be an object beside the entry. */
  private committedAfter: number | undefined;

  constructor(answered: AnsweredRequest, sequence: number, bytes: JournalBytes) {
    this.write(answered, sequence, bytes);
  }

  /** Becomes the entry of another request; for the journal alone, once nobody can hold it any more. */
  write(answered: AnsweredRequest, sequence: number, bytes: JournalBytes): void {
    const { draw } = answered;
    this.givenId = draw === undefined ? answered.id : undefined;
    this.idSeed = draw?.idSeed ?? 0;
    this.idNumber = draw?.number ?? 0;
    this.sequence = sequence;
    this.day = dayOf(answered.at);
    this.time = answered.at - this.day * DAY_MS;
    this.committedAfter =
      answered.committed_at === undefined ? undefined : answered.committed_at - answered.at;
    this.operation = answered.operation;
    this.method = answered.method;
    this.status = answered.status;
    this.code = answered.code;
    this.duration_ms = answered.duration_ms;
    this.principal = answered.principal;
    this.api_key = answered.api_key;
    this.decision = answered.decision;
    this.reasons = answered.reasons;
    this.warnings = answered.warnings;
    this.request_bytes = answered.request_bytes;
    this.streamed = answered.streamed;
    this.prefix = answered.history?.prefix;
    this.number = answered.history?.number ?? 0;
    this.delivery = answered.delivery;
    const { request_body, response_body } = answered;
    // A text takes at most three bytes for each of its UTF-16 units.
    const most = headLength(answered) + (request_body?.length ?? 0) + 3 * (response_body?.length ?? 0);
    this.block = bytes.room(most);
    // Without the entry of the history itself, which holds states, and the exchange that the id was drawn for.
    this.whole = this.block === undefined ? { ...answered, history: null, draw: undefined } : undefined;
    this.lateBody = undefined;
    this.headBytes = 0;
    this.requestBytes = -1;
    this.responseBytes = -1;
    if (this.block === undefined) return;
    const { bytes: into, used } = this.block;
    this.start = used;
    let end = writeHead(into, used, answered);
    this.headBytes = end - used;
    if (request_body !== undefined) {
      into.set(request_body, end);
      this.requestBytes = request_body.length;
      end += this.requestBytes;
    }
    if (response_body !== undefined) {
      if (typeof response_body === "string") this.responseBytes = into.write(response_body, end);
      else {
        into.set(response_body, end);
        this.responseBytes = response_body.length;
      }
      end += this.responseBytes;
    }
    this.block.used = end;
    this.block.entries += 1;
  }

  get id(): string {
    return this.givenId ?? drawRequestId(this.idSeed, this.idNumber);
  }

  /**
   * How many requests had come before it, where its id is drawn of this seed. Ids follow the order of arrival, the
   * journal that of the answers, and a request whose client left has an id and no entry.
   */
  numberUnder(idSeed: number): number | undefined {
    return this.givenId === undefined && this.idSeed === idSeed ? this.idNumber : undefined;
  }

  get at(): number {
    return this.day * DAY_MS + this.time;
  }

  get committed_at(): number | undefined {
    return this.committedAfter === undefined ? undefined : this.at + this.committedAfter;
  }

  /** Id of its entry in the history. */
  get history(): string | null {
    const { prefix, number } = this;
    return prefix === undefined ? null : idOf({ prefix, number });
  }

  get path(): string {
    return this.whole?.path ?? this.head()[0]!;
  }

  get query(): string {
    return this.whole?.query ?? this.head()[1]!;
  }

  get request_headers(): readonly string[] {
    if (this.whole !== undefined) return this.whole.request_headers;
    const [, , count, ...headers] = this.head();
    return headers.slice(0, Number(count));
  }

  get response_head(): string {
    if (this.whole !== undefined) return this.whole.response_head;
    const [, , count, ...texts] = this.head();
    return texts
      .slice(Number(count))
      .map((line) => `${line}\n`)
      .join("");
  }

  /** Name, value, name, value … as sent. */
  get response_headers(): readonly string[] {
    return headersIn(this.response_head);
  }

  get request_body(): Buffer | undefined {
    if (this.whole !== undefined) return this.whole.request_body && Buffer.from(this.whole.request_body);
    return this.body(this.start + this.headBytes, this.requestBytes);
  }

  get response_body(): Buffer | string | undefined {
    if (this.lateBody !== undefined || this.whole !== undefined)
      return this.lateBody ?? Buffer.from(this.whole!.response_body ?? "");
    return this.body(this.start + this.headBytes + Math.max(0, this.requestBytes), this.responseBytes);
  }

  /** Of an answer that was made while it was sent. */
  complete(streamed: AnsweredRequest["streamed"], body: Uint8Array | undefined): void {
    this.streamed = streamed;
    this.lateBody = body && Buffer.from(body);
  }

  /** Bytes that the entry holds, roughly. */
  cost(): number {
    let cost = ENTRY_OVERHEAD_BYTES + (this.lateBody?.length ?? 0);
    cost += this.headBytes + Math.max(0, this.requestBytes) + Math.max(0, this.responseBytes);
    cost += costOf(this.reasons) + costOf(this.warnings);
    cost += (this.givenId?.length ?? 0) + this.method.length + this.decision.length;
    cost += (this.principal?.length ?? 0) + (this.api_key?.length ?? 0) + (this.code?.length ?? 0);
    if (this.whole === undefined) return cost;
    const { path, query, request_headers, response_head, request_body, response_body } = this.whole;
    cost +=
      path.length +
      query.length +
      response_head.length +
      (request_body?.length ?? 0) +
      (response_body?.length ?? 0);
    return cost + costOf(request_headers);
  }

  private head(): string[] {
    // Without the last break, after which there would be one more text.
    return this.block!.bytes.toString("latin1", this.start, this.start + this.headBytes - 1).split("\n");
  }

  private body(start: number, length: number): Buffer | undefined {
    return length < 0 ? undefined : Buffer.from(this.block!.bytes.subarray(start, start + length));
  }
}

function costOf(texts: readonly string[]): number {
  let cost = texts.length * TEXT_OVERHEAD_BYTES;
  for (const text of texts) cost += text.length;
  return cost;
}

/**
 * Path, query, how many of the texts that follow are the request's, and its headers, a BREAK after each; then the
 * answer's head, whose lines end with one.
 */
function headLength({ path, query, request_headers, response_head }: AnsweredRequest): number {
  const count = String(request_headers.length).length;
  let length = path.length + query.length + count + 3 + response_head.length;
  for (const text of request_headers) length += text.length + 1;
  return length;
}

function writeHead(into: Buffer, start: number, answered: AnsweredRequest): number {
  const { path, query, request_headers, response_head } = answered;
  let end = writeLatin1(into, start, path);
  end = writeLatin1(into, end, query);
  end = writeLatin1(into, end, String(request_headers.length));
  for (const text of request_headers) end = writeLatin1(into, end, text);
  return end + into.write(response_head, end, "latin1");
}

/** A loop of our own: dozens of short texts cost a call into C++ each, or the garbage of joining them first. */
function writeLatin1(into: Buffer, start: number, text: string): number {
  const { length } = text;
  for (let i = 0; i < length; i++) into[start + i] = text.charCodeAt(i);
  into[start + length] = BREAK;
  return start + length + 1;
}
