import type { AnyOperation, Identity } from "../contract/operation.ts";
import type { ActingRequest, Counted } from "../sandbox/entry-states.ts";
import type { Act, HistoryEntry } from "../sandbox/history-entry.ts";
import { minuteOf, type RateState } from "../sandbox/rate-windows.ts";

/** What its exchange knows when the request is about to change something. */
interface Changing {
  id: string;
  number: number;
  at: number;
  rate: RateState | undefined;
  identity: Identity | undefined;
  operation: AnyOperation | undefined;
  params: Record<string, string>;
  uploads: ActingRequest["uploads"];
}

/** A request as the history tells of it: what outlives its exchange, a thousand times. */
export class RequestAct implements Act, ActingRequest {
  readonly id: string;
  readonly number: number;
  readonly uploads: ActingRequest["uploads"];
  entry: HistoryEntry | undefined = undefined;
  private readonly minute: number;
  private readonly key_id: string | undefined;
  private readonly operation: AnyOperation;
  private readonly principal: string | undefined;
  /** Until it was answered; its entry knows by then whom it is about. */
  private params: Record<string, string> | undefined;
  /** What the client was told, where that was a refusal all the same. */
  private refusal: string | undefined = undefined;

  constructor({ id, number, at, rate, identity, operation, params, uploads }: Changing) {
    this.id = id;
    this.number = number;
    this.uploads = uploads;
    this.minute = minuteOf(at);
    this.key_id = rate && identity?.principal.key_id;
    this.operation = operation!;
    this.principal = identity?.principal.user_id;
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

  get counted(): Counted | undefined {
    return this.key_id === undefined ? undefined : { key_id: this.key_id, minute: this.minute };
  }

  get named(): readonly string[] {
    if (this.params !== undefined) return Object.values(this.params);
    const subject = this.entry?.subject;
    return typeof subject === "string" ? [subject] : [];
  }

  get title(): string {
    const { summary } = this.operation;
    const asked = `${this.principal ?? "Somebody"} asked to ${summary[0]!.toLowerCase()}${summary.slice(1)}`;
    return this.refusal === undefined ? `${asked}.` : `${asked}; it was done, but answered ${this.refusal}.`;
  }

  /** It has been answered; a fault may have said otherwise than what was done. */
  answered({ status, code, sequence }: { status: number; code: string | null; sequence: number }): void {
    if (this.entry !== undefined) {
      this.entry.journaled = sequence;
      // They hold the address that they were read from.
      this.params = undefined;
    }
    if (status === 0) this.refusal = "by a broken connection";
    else if (status >= 400) this.refusal = code === null ? String(status) : `${status} ${code}`;
  }
}
