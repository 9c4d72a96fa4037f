import { expect, it } from "vitest";
import type { JournalEntry } from "../../../../types/control-api.ts";
import type { ClientRun } from "../client-check.ts";
import { RETRY_CHECKS } from "./retries.ts";

/** Reads a check from a run whose attempts at one request have these pauses. */
function readPauses(
  id: string,
  pauses: readonly number[],
  headers: JournalEntry["response"]["headers"] = [],
) {
  let at = Date.parse("2026-03-15T12:00:00Z");
  const times = [at, ...pauses.map((pause) => (at += pause))];
  const requests = times.map(
    (time, sequence) =>
      ({
        ...{ sequence, method: "GET", path: "/v1/models", duration_ms: 0, request: { query: "" } },
        ...{ at: new Date(time).toISOString(), decision: "fault:inline/fault_1", status: 503 },
        response: { headers },
      }) as JournalEntry,
  );
  const run: ClientRun = { requests, end: { how: "ok", detail: "" }, isHit: () => true };
  const context = { run, baseline: run, cleanRequests: [], isMixed: false, collected: undefined };
  return RETRY_CHECKS.find((one) => one.id === id)!.read(context).outcome;
}

it.each([
  [[200, 400, 800], "failed"],
  [[1000, 1000, 1000, 1000], "failed"],
  [[205, 398, 803, 1601], "failed"],
  [[0, 0, 0], "failed"],
  [[1, 3, 2, 1], "failed"],
  [[160, 520, 480, 1760], "passed"],
  [[330, 570, 985, 1700], "passed"],
  [[900, 2100, 3100], "passed"],
  [[200, 400], "not-observable"],
])("after retries with the pauses %j the check for jitter is %s [interfaces 21]", (pauses, outcome) => {
  expect(readPauses("jittered-pauses", pauses)).toBe(outcome);
});

it.each([
  ["1", "failed"],
  ["0", "passed"],
  ["Sun, 15 Mar 2026 12:00:01 GMT", "failed"],
  ["0.5", "not-observable"],
  ["soon", "not-observable"],
])("after Retry-After: %s and a pause of 100 ms the check for it is %s [interfaces 21]", (value, outcome) => {
  expect(readPauses("honours-retry-after", [100], [{ name: "Retry-After", value }])).toBe(outcome);
});
