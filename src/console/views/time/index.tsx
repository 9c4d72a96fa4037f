import { useMemo } from "react";
import type { HistoryEntry } from "../../../../types/control-api.ts";
import { useGo } from "../../address.ts";
import { useSandboxQuery, useWhileRunning } from "../../api/queries.ts";
import { Badge } from "../../components/mark.tsx";
import { EmptyState, LoadError } from "../../components/notice.tsx";
import { RelativeTime } from "../../components/time.tsx";
import { type Column, VirtualTable } from "../../components/virtual-table.tsx";
import { shortTitle } from "../timeline/words.ts";
import { ClockPanel } from "./clock-panel.tsx";
import { PendingPanel } from "./pending-panel.tsx";
import "./time.css";

const MAX_RAN = 500;

function useHistory(kind: "timer" | "delivery") {
  return useSandboxQuery(
    ["history", kind],
    (calls) => calls.history({ kind, limit: MAX_RAN }),
    useWhileRunning(),
  );
}

/** Clock, pending timers, recent timers. */
export default function Time() {
  const clock = useSandboxQuery(["clock"], (calls) => calls.clock());
  const pending = useSandboxQuery(["pending"], (calls) => calls.pending(), useWhileRunning());
  const timers = useHistory("timer");
  const attempts = useHistory("delivery");
  return (
    <div className="page time-page">
      <div className="page-head">
        <h1>Time</h1>
      </div>
      <LoadError error={clock.error ?? pending.error ?? timers.error ?? attempts.error} />
      {clock.data && <ClockPanel clock={clock.data} nothingPending={pending.data?.length === 0} />}
      <div className="time-lists">
        {pending.data && <PendingPanel pending={pending.data} />}
        {timers.data && attempts.data && (
          <RecentTable timers={timers.data.entries} attempts={attempts.data.entries} />
        )}
      </div>
    </div>
  );
}

const COLUMNS: readonly Column<HistoryEntry>[] = [
  {
    id: "title",
    title: "Event",
    show: ({ title, undone }) =>
      undone ? <Badge outcome="other">undone: {shortTitle(title)}</Badge> : shortTitle(title),
    width: "minmax(0, 1fr)",
  },
  { id: "sequence", title: "Time", show: ({ at }) => <RelativeTime at={at} />, width: "6.5rem" },
];

interface RecentProps {
  timers: readonly HistoryEntry[];
  attempts: readonly HistoryEntry[];
}

/** Timers and delivery attempts, newest first; each opens its timeline entry. */
function RecentTable({ timers, attempts }: RecentProps) {
  const go = useGo();
  const rows = useMemo(
    () => [...timers, ...attempts].sort((a, b) => b.sequence - a.sequence),
    [timers, attempts],
  );
  return (
    <section className="time-list stack" aria-label="Recent">
      <h2>Recent</h2>
      <VirtualTable
        label="Recent"
        columns={COLUMNS}
        rows={rows}
        getKey={({ id }) => id}
        onSelect={({ seq }) => go("timeline", { entry: String(seq) })}
        empty={<EmptyState title="No recent timers">Timers appear here after they run.</EmptyState>}
      />
    </section>
  );
}
