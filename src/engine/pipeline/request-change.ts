import type { AnyOperation, Identity } from "../contract/operation.ts";
import {
  type CountedRequest,
  type HistoryEntry,
  type RequestDetails,
  toRequestTitle,
  type WorldChange,
} from "../sandbox/history-entry.ts";
import { type RateState, toMinute } from "../sandbox/rate-windows.ts";
import type { RequestIdSource } from "../state/random.ts";

/** The parts of an exchange that the history describes. */
interface DescribedExchange extends RequestIdSource {
  readonly at: number;
  readonly rate: RateState | undefined;
  readonly identity: Identity | undefined;
  readonly operation: AnyOperation | undefined;
  readonly params: Record<string, string>;
  readonly uploads: RequestDetails["uploads"];
}

export class RequestChange implements WorldChange, RequestDetails {
  readonly kind = "request";
  readonly subject = undefined;
  readonly idSeed: number;
  readonly number: number;
  readonly uploads: RequestDetails["uploads"];
  readonly counted: CountedRequest | undefined;
  readonly summary: string;
  readonly principal: string | undefined;
  readonly pathIds: Readonly<Record<string, string>>;
  entry: HistoryEntry | undefined = undefined;

  constructor({ idSeed, number, at, rate, identity, operation, params, uploads }: DescribedExchange) {
    const key_id = rate && identity?.principal.key_id;
    this.idSeed = idSeed;
    this.number = number;
    this.uploads = uploads;
    this.counted = key_id === undefined ? undefined : { key_id, minute: toMinute(at) };
    this.summary = operation!.summary;
    this.principal = identity?.principal.user_id;
    this.pathIds = params;
  }

  get request(): RequestDetails {
    return this;
  }

  get title(): string {
    return toRequestTitle(this);
  }
}
