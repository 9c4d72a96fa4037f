import { useMemo } from "react";
import { useSandbox, useSandboxQuery } from "../../api/queries.ts";
import { durationMs } from "./duration.ts";

/** More are not asked for: a delivery brings its bytes along. */
export const MAX_DELIVERIES = 500;

/** A running clock delivers without a request that would tell of it. */
const RUNNING_MS = 2000;

/** Anybody may send to a receiver, and nothing else tells of it. */
export const SENT_MS = 2000;

function useWhileRunning() {
  const { data: sandbox } = useSandbox();
  return sandbox && sandbox.clock.mode !== "frozen" ? { everyMs: RUNNING_MS } : {};
}

export function useDeliveries(webhook: string | undefined) {
  const options = useWhileRunning();
  return useSandboxQuery(
    ["deliveries", webhook],
    (calls) =>
      calls.records("deliveries", {
        limit: MAX_DELIVERIES,
        ...(webhook === undefined ? {} : { webhook_id: webhook }),
      }),
    options,
  );
}

/** One delivery with what went over the wire at each attempt, as far as the journal still has it. */
export function useDelivery(id: string) {
  return useSandboxQuery(["delivery", id], (calls) => calls.delivery(id), useWhileRunning());
}

export function useWebhooks() {
  return useSandboxQuery(["webhooks"], (calls) => calls.records("webhooks"));
}

/** The retry schedule of the sandbox: milliseconds from the end of each attempt to the next. */
export function useDelays(): readonly number[] {
  const { data } = useSandbox();
  const schedule = data?.settings.retry_schedule;
  return useMemo(() => (schedule ?? []).map(durationMs), [schedule]);
}
