import { setTimeout as sleep } from "node:timers/promises";
import type { DeliveryStrike, WireFault } from "../sandbox/fault-gate.ts";

/** What came of an attempt that a fault decided in the receiver's place. */
export interface Endured {
  response_code: number;
  duration_ms: number;
  error?: string;
}

/** A dripping answer is whole in the end; it only takes this long where no delay says otherwise. */
const DRIP_MS = 2000;

const BROKEN: Readonly<Partial<Record<WireFault, string>>> = {
  reset: "the connection was reset before an answer",
  empty: "the connection was closed without an answer",
  truncate: "the connection was closed in the middle of the answer",
  garbage: "the answer is no HTTP",
};

/** How long the fault holds the attempt up, in wall milliseconds. */
export function faultDelay({ delay_ms, wire }: DeliveryStrike): number {
  if (wire === "hang") return Number.POSITIVE_INFINITY;
  return wire === "drip" ? Math.max(delay_ms, DRIP_MS) : delay_ms;
}

/**
 * interfaces 6: status, delay or wire as if the receiver had answered so. Undefined when, after the delay, the
 * receiver itself is to be called. Never rejects; an abort only ends the wait.
 */
export async function endureFault(
  strike: DeliveryStrike,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Endured | undefined> {
  const delay = faultDelay(strike);
  const wait = Math.min(delay, timeoutMs);
  if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => {});
  const duration_ms = Math.round(wait);
  if (delay >= timeoutMs) {
    return {
      response_code: 0,
      duration_ms,
      error: `no answer in time: a fault held it beyond ${timeoutMs} ms`,
    };
  }
  const broken = strike.wire && BROKEN[strike.wire];
  if (broken !== undefined) return { response_code: 0, duration_ms, error: `${broken}, as a fault asked` };
  return strike.status === undefined ? undefined : { response_code: strike.status, duration_ms };
}
