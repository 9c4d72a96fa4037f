import { useSandboxQuery } from "../../api/queries.ts";
import { ReadProblem } from "../../parts/notice.tsx";
import { ClockPanel } from "./clock-panel.tsx";
import { PendingPanel } from "./pending-panel.tsx";
import { RanTable } from "./ran-table.tsx";
import "./time.css";

/** A running clock makes things due without a request that would tell of it. */
const RUNNING_MS = 2000;
const MAX_RAN = 500;

/** The sandbox's clock, what it will bring, and what it brought. */
export default function Time() {
  const clock = useSandboxQuery(["clock"], (calls) => calls.clock());
  const everyMs = clock.data && clock.data.mode !== "frozen" ? { everyMs: RUNNING_MS } : {};
  const pending = useSandboxQuery(["pending"], (calls) => calls.pending(), everyMs);
  const timers = useSandboxQuery(
    ["history", "timer"],
    (calls) => calls.history({ kind: "timer", limit: MAX_RAN }),
    everyMs,
  );
  const attempts = useSandboxQuery(
    ["history", "delivery"],
    (calls) => calls.history({ kind: "delivery", limit: MAX_RAN }),
    everyMs,
  );
  const error = clock.error ?? pending.error ?? timers.error ?? attempts.error;
  return (
    <div className="page time-page">
      <div className="page-head">
        <h1>Time</h1>
      </div>
      <ReadProblem error={error} />
      {clock.data && <ClockPanel clock={clock.data} nothingPending={pending.data?.length === 0} />}
      <div className="time-lists">
        {pending.data && <PendingPanel pending={pending.data} />}
        {timers.data && attempts.data && (
          <RanTable timers={timers.data.entries} attempts={attempts.data.entries} />
        )}
      </div>
    </div>
  );
}
