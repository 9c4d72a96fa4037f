import { setTimeout as sleep } from "node:timers/promises";
import type { DeliveryFault } from "../sandbox/fault-gate.ts";

/** What came of an attempt that a fault decided in the receiver's place. */
export interface SimulatedAnswer {
  response_code: number;
  duration_ms: number;
  error?: string;
}

/**
 * interfaces 6: status, delay or wire as if the receiver had answered so. Undefined when, after the wait, the
 * receiver itself is to be called. Never rejects; an abort only ends the wait.
 */
export async function simulateReceiver(
  { holds_ms, answer }: DeliveryFault,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<SimulatedAnswer | undefined> {
  const wait = Math.min(holds_ms, timeoutMs);
  if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => {});
  const duration_ms = Math.round(wait);
  if (holds_ms >= timeoutMs) {
    const error = `no answer in time: a fault held it beyond ${timeoutMs} ms`;
    return { response_code: 0, duration_ms, error };
  }
  return answer && { ...answer, duration_ms };
}
