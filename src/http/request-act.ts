import type { AnyOperation, Identity } from "../contract/operation.ts";
import type { ActingRequest, Counted } from "../sandbox/entry-states.ts";
import type { Act, HistoryEntry } from "../sandbox/history-entry.ts";
import type { JournalEntry } from "../sandbox/journal.ts";
import { minuteOf, type RateState } from "../sandbox/rate-windows.ts";
import { type AskedRequest, requestTitle } from "../sandbox/request-title.ts";
import type { RequestDraw } from "../state/random.ts";

/** What its exchange knows when the request is about to change something. */
interface Changing extends RequestDraw {
  id: string;
  at: number;
  rate: RateState | undefined;
  identity: Identity | undefined;
  operation: AnyOperation | undefined;
  params: Record<string, string>;
  uploads: ActingRequest["uploads"];
}

/** A request as the history tells of it, until it was answered. */
export class RequestAct implements Act, ActingRequest, AskedRequest, RequestDraw {
  readonly id: string;
  readonly idSeed: number;
  readonly number: number;
  readonly uploads: ActingRequest["uploads"];
  entry: HistoryEntry | undefined = undefined;
  private readonly minute: number;
  private readonly key_id: string | undefined;
  readonly principal: string | undefined;
  refusal: string | undefined = undefined;
  private readonly operation: AnyOperation;
  private readonly params: Record<string, string>;

  constructor({ id, idSeed, number, at, rate, identity, operation, params, uploads }: Changing) {
    this.id = id;
    this.idSeed = idSeed;
    this.number = number;
    this.uploads = uploads;
    this.minute = minuteOf(at);
    this.key_id = rate && identity?.principal.key_id;
    this.principal = identity?.principal.user_id;
    this.operation = operation!;
    this.params = params;
  }

  get kind(): "request" {
    return "request";
  }

  get subject(): undefined {
    return undefined;
  }

  get request(): ActingRequest {
    return this;
  }

  get draw(): RequestDraw {
    return this;
  }

  get counted(): Counted | undefined {
    return this.key_id === undefined ? undefined : { key_id: this.key_id, minute: this.minute };
  }

  get named(): readonly string[] {
    return Object.values(this.params);
  }

  get summary(): string {
    return this.operation.summary;
  }

  get title(): string {
    return requestTitle(this);
  }

  /** It has been answered; a fault may have said otherwise than what was done. */
  answered({ status, code, sequence, streamed }: JournalEntry): void {
    const { entry } = this;
    if (entry === undefined) return;
    if (status === 0) this.refusal = "by a broken connection";
    else if (status >= 400) this.refusal = code === null ? String(status) : `${status} ${code}`;
    // What is sent while it is made may still change something.
    if (streamed !== undefined) {
      entry.journaled = sequence;
      return;
    }
    entry.answered(this, sequence);
    // It may be written anew for another's.
    this.entry = undefined;
  }
}
