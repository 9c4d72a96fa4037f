import type { AnyOperation, Identity } from "../contract/operation.ts";
import type { ActingRequest, Counted } from "../sandbox/entry-states.ts";
import type { Act, HistoryEntry } from "../sandbox/history-entry.ts";
import { minuteOf, type RateState } from "../sandbox/rate-windows.ts";
import { requestTitle } from "../sandbox/request-title.ts";
import type { RequestDraw } from "../state/random.ts";

/** What its exchange knows when the request is about to change something. */
interface Changing extends RequestDraw {
  at: number;
  rate: RateState | undefined;
  identity: Identity | undefined;
  operation: AnyOperation | undefined;
  params: Record<string, string>;
  uploads: ActingRequest["uploads"];
}

/** A request as the history tells of it. */
export class RequestAct implements Act, ActingRequest {
  readonly idSeed: number;
  readonly number: number;
  readonly uploads: ActingRequest["uploads"];
  entry: HistoryEntry | undefined = undefined;
  private readonly minute: number;
  private readonly key_id: string | undefined;
  readonly principal: string | undefined;
  private readonly operation: AnyOperation;
  /** Ids that its path names. */
  readonly named: Readonly<Record<string, string>>;

  constructor({ idSeed, number, at, rate, identity, operation, params, uploads }: Changing) {
    this.idSeed = idSeed;
    this.number = number;
    this.uploads = uploads;
    this.minute = minuteOf(at);
    this.key_id = rate && identity?.principal.key_id;
    this.principal = identity?.principal.user_id;
    this.operation = operation!;
    this.named = params;
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

  get summary(): string {
    return this.operation.summary;
  }

  get title(): string {
    return requestTitle(this);
  }
}
