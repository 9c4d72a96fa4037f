import type { AnyOperation, Identity } from "../contract/operation.ts";
import { type RequestDetails, toRequestTitle, type WorldChange } from "../sandbox/history-entry.ts";
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

export type RequestChange = WorldChange & RequestDetails;

/** A request as a change of the world. */
export function toRequestChange(exchange: DescribedExchange): RequestChange {
  const { idSeed, number, at, rate, identity, operation, params: pathIds, uploads } = exchange;
  const key_id = rate && identity?.principal.key_id;
  return {
    kind: "request",
    subject: undefined,
    ...{ idSeed, number, uploads, pathIds },
    counted: key_id === undefined ? undefined : { key_id, minute: toMinute(at) },
    summary: operation!.summary,
    principal: identity?.principal.user_id,
    entry: undefined,
    get request() {
      return this;
    },
    get title() {
      return toRequestTitle(this);
    },
  };
}
